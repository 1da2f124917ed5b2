/** The first page of help: one screen, five groups, an example each. A test compares it with the table of commands. */

/** As it can be typed here. A long name in every row would not fit a terminal, so the page gives it once. */
export function helpPage(name: string): string {
  if (name === "lares") return HELP;
  return HELP.split("\n")
    .map((row) => (row.startsWith("lares ", 8) ? row.slice(0, 8) + row.slice(14) : row))
    .join("\n")
    .replace("alive.\n", `alive. Type ${name} before each command.\n`)
    .replace(": lares sessions --help", `: ${name} sessions --help`);
}

export const HELP = `Lares keeps AI agents alive.

Talk    lares chat                        a conversation; -m TEXT for one answer
        lares sessions list               conversations; get, export, delete …
        lares agents list                 agents you can talk to; get, create
        lares memory search TEXT          search memory; list, add, index …
Answer  lares approvals list              what needs your yes or no
        lares approve ID                  allow it; --always to stop asking
        lares deny ID --reason TEXT       deny it
        lares policy explain COMMAND      would it be allowed? rules, forget
        lares undo TURN                   restore the files it changed
Look    lares status                      is it running, does it need you
        lares turns get TURN              what it did, step by step; list
        lares schedule list               schedules; add, run, history …
        lares usage --days 7              tokens and cost
        lares logs -f                     the log, live
        lares channels list               connected channels; add, status …
Run     lares gateway run                 start Lares; Ctrl-C stops it
        lares dashboard                   a link that signs a browser in
        lares doctor                      find problems and fixes
        lares security audit              what is exposed
Set up  lares onboard                     set up a model and a channel
        lares models list                 available models
        lares config set KEY VALUE        settings; get, unset, check, explain
        lares tokens create NAME          access tokens; list, revoke
        lares secrets set NAME            secrets for commands; list, grant
Also    a2a, acp, answer, attention, backup, board, context, goals, heartbeat,
        hooks, import, mcp, plugins, runtimes, skills, teams, token, wake,
        wakes, watch
Everywhere: --home DIR, --url URL, --token TOKEN, --json, -q, --no-input, --yes
More about a command: lares sessions --help. Everything: docs/CLI.md
`;
