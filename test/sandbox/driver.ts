/**
 * A Lares to be killed. `app`: the whole program. `processes`: background processes alone, which can be made to die inside the
 * telling: `before` it, or `after` it is durable and before that is recorded. `exec`: one command in the foreground, from a line of
 * JSON with its place, its input and its key.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { randomIds, silentLog, systemClock } from "../../src/core/kit/index.ts";
import { Processes } from "../../src/edges/tools/process/index.ts";
import { openRecords } from "../../src/ground/records/index.ts";

const [mode, home, die] = process.argv.slice(2) as [string, string, string | undefined];
const say = (line: string) => process.stdout.write(`${line}\n`);
const dieNow = () => {
  process.kill(process.pid, "SIGKILL");
  for (;;);
};

if (mode === "app") {
  const { startApp } = await import("../../src/app/index.ts");
  const { readEnvironment } = await import("../../src/ground/config/index.ts");
  const { createLog } = await import("../../src/ground/observe/index.ts");
  const log = createLog({ level: "error", stream: { write: () => {} } });
  const app = await startApp({ env: readEnvironment(process.env), home, port: 0, version: "0.0.0-test", log });
  say(`ready ${app.url}`);
} else if (mode === "exec") {
  const { createExec, CommandRuns } = await import("../../src/edges/tools/index.ts");
  const { confinement } = await import("./support.ts");
  const { at, input, key, backend, limits } = JSON.parse(die!);
  const sandbox = confinement(at, { backend, ...(limits ? { limits } : {}) });
  const exec = createExec({ runs: new CommandRuns(join(home, "runs")), sandbox });
  const { text } = await exec.run(input, at, key, new AbortController().signal);
  say(`over ${text}`);
} else {
  const book = join(home, "told");
  const processes = new Processes({
    records: await openRecords(join(home, "processes.db"), dieNow),
    clock: systemClock,
    ids: randomIds(),
    log: silentLog,
    dir: join(home, "processes"),
    tell: async ({ id }) => {
      if (die === "before") dieNow();
      // What the inbox promises: the same id again changes nothing.
      if (!known().includes(id)) appendFileSync(book, `${id}\n`);
      if (die === "after") dieNow();
      say(`told ${id}`);
    },
  });
  await processes.settle();
  say("ready");
  process.stdin.on("data", (chunk) => {
    const command = chunk.toString().trim();
    const caller = { agent: "main", session: "s", turn: "t", route: { channel: "http", account: "a", chat: "c" } };
    const env = { PATH: "/usr/bin:/bin" };
    void processes
      .start(processes.name(), { key: command, command, argv: ["/bin/sh", "-c", command], env, cwd: home, caller })
      .then(({ id }) => say(`started ${id}`));
  });

  function known(): string {
    try {
      return readFileSync(book, "utf8");
    } catch {
      return "";
    }
  }
}
