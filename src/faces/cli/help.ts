/** The first page of help: one screen, grouped, an example each. */
export const HELP = `Lares keeps AI agents alive.

Talk
  lares chat                      a conversation in the terminal
  lares chat -m TEXT              one message; the answer on stdout
Answer
  lares approvals list            what waits for your yes or no
  lares approve ID [--always]     allow it; ID is the short code shown
  lares deny ID [--reason TEXT]   refuse it
Look
  lares status                    is it running, does it need you
  lares turns list | get TURN     what it did, step by step
  lares sessions list | get | export | import | reset | delete | prune
  lares models list               who can answer, and why
Run
  lares gateway run [--port N]    start Lares here; Ctrl-C stops it
  lares token                     the token for programs
Set up
  lares config get | set | check | explain | schema
  lares debug crash-points        where a test can end the process

Everywhere: --home DIR, --url URL, --token TOKEN, --json, -q, --no-input, --yes
More on one: lares sessions --help
`;
