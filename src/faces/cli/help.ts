/** The first page of help: one screen, five groups, an example each. A test compares it with the table of words. */
export const HELP = `Lares keeps AI agents alive.

Talk    lares chat                        a conversation; -m TEXT for one answer
        lares sessions list               conversations; get, export, delete …
        lares agents list                 who can be talked to; get, create
        lares memory search TEXT          what it knows; list, add, index …
Answer  lares approvals list              what waits for your yes or no
        lares approve ID                  allow it; --always from now on
        lares deny ID --reason TEXT       refuse it
        lares policy explain COMMAND      would it be allowed? rules, forget
        lares undo TURN                   put back the files it changed
Look    lares status                      is it running, does it need you
        lares turns get TURN              what it did, step by step; list
        lares schedule list               what is planned; add, run, history …
        lares usage --days 7              tokens and cost
        lares logs -f                     what it says about itself
        lares channels list               where people reach it; status
Run     lares gateway run                 start it here; Ctrl-C stops it
        lares dashboard                   a link that signs a browser in
        lares doctor                      what is wrong, and the fix
        lares security audit              what is open
Set up  lares onboard                     first run: model, channel
        lares models list                 who can answer, and why
        lares config set KEY VALUE        settings; get, check, explain
        lares tokens create NAME          keys to this door; list, revoke
        lares secrets set NAME            what commands need; list, grant
Also    attention, context, goals, heartbeat, import, skills, token,
        wake, wakes, watch
Everywhere: --home DIR, --url URL, --token TOKEN, --json, -q, --no-input, --yes
More on one: lares sessions --help. All of it, with exit codes: docs/CLI.md
`;
