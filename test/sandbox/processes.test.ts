/** Background processes with real commands and real records; a second instance is what a restart is. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/core/domain/index.ts";
import { randomIds, silentLog, systemClock } from "../../src/core/kit/index.ts";
import { createExec, createProcess, type ProcessExit, Processes } from "../../src/edges/tools/index.ts";
import { createBubblewrap } from "../../src/edges/tools/sandbox/index.ts";
import { openRecords } from "../../src/ground/records/index.ts";
import { needs, until } from "../support/index.ts";
import { alive, confinement, never, newKey, type World, world } from "./support.ts";

async function openInstance(at: World, options: { limit?: number; sandbox?: object | false } = {}) {
  const told: (ProcessExit & { text: string })[] = [];
  const records = await openRecords(join(at.home, "processes.db"), () => {});
  const processes = new Processes({
    records,
    clock: systemClock,
    ids: randomIds(),
    log: silentLog,
    dir: join(at.home, "processes"),
    tell: async (exit) => void told.push({ ...exit, text: `[${exit.label}]\n${exit.body}` }),
    ...(options.limit ? { limit: options.limit } : {}),
  });
  await processes.settle();
  const sandbox =
    options.sandbox === false ? {} : { sandbox: confinement(at, { backend: "auto", ...options.sandbox }) };
  const exec = createExec({ processes, ...sandbox });
  const tool = createProcess(processes);
  let closed = false;
  const close = () => {
    if (closed) return;
    closed = true;
    processes.stop();
    records.close();
  };
  onTestFinished(close);
  return {
    told,
    processes,
    exec,
    tool,
    close,
    start: async (command: string, key = newKey()) => {
      const { meta } = await exec.run({ command, background: true }, at, key, never);
      const id = String(meta!.id);
      onTestFinished(() => {
        for (const pid of alive(id)) process.kill(pid, "SIGKILL");
      });
      return id;
    },
    process: async (input: JsonObject) => (await tool.run(input, at, newKey(), never)).text,
  };
}

test("a command in the background returns at once, and its end comes as one message with its last words", async () => {
  const at = world();
  const h = await openInstance(at);
  const { text } = await h.exec.run(
    { command: "echo hello; sleep 0.2; exit 3", background: true },
    at,
    newKey(),
    never,
  );
  expect(text).toMatch(/^Started in the background as p_\w+\./);
  await until("the end to be told", () => h.told.length > 0);
  expect(h.told).toHaveLength(1);
  expect(h.told[0]).toMatchObject({ session: "s", agent: "main", route: at.caller.route });
  expect(h.told[0]!.text).toMatch(
    /^\[Background process p_\w+ \("echo hello; sleep 0.2; exit 3"\) ended: exit 3, \d+ s\]\nCommand: echo hello; sleep 0.2; exit 3\n\n.*:\nhello$/s,
  );
  expect(await h.process({ action: "list" })).toMatch(/^p_\w+ ended: exit 3, \d+ s — echo hello; sleep 0.2; exit 3$/);
  await h.processes.settle();
  expect(h.told).toHaveLength(1);
});

test("it is polled, read, written to and killed; killing tells no second time", async () => {
  const at = world();
  const h = await openInstance(at);
  const id = await h.start("read a; echo got $a; sleep 300 & setsid -f sleep 300; sleep 300");
  expect(await h.process({ action: "poll", id })).toMatch(/is running \(pid \d+\)\]$/);
  expect(await h.process({ action: "write", id, text: "apples\n" })).toBe(`Written to ${id}.`);
  await until("the answer", async () => (await h.process({ action: "log", id })).startsWith("got apples\n"));
  expect(await h.process({ action: "log", id, from: 4 })).toMatch(/^apples\n\[.*bytes 4 to 11 of 11\]$/);
  await until("its children", () => alive(id).length > 2);
  expect(await h.process({ action: "kill", id })).toMatch(
    /^Stopped, with all its processes\. .* ended: killed, \d+ s$/,
  );
  expect(alive(id)).toEqual([]);
  expect(await h.process({ action: "kill", id })).toMatch(/^It had already ended/);
  await expect(h.process({ action: "write", id, text: "x" })).rejects.toThrow(/has ended/);
  expect(h.told).toEqual([]);
});

test("without a sandbox killing ends what left the group and what it left behind, too", async () => {
  const at = world();
  const h = await openInstance(at, { sandbox: false });
  const id = await h.start(
    "setsid -f sleep 300; nohup sleep 300 & trap '' TERM; touch begun; while :; do sleep 0.1; done",
  );
  await until("begun", () => existsSync(join(at.workspace, "begun")));
  await h.process({ action: "kill", id });
  expect(alive(id)).toEqual([]);
  const left = await h.start("setsid -f sleep 300; echo bye");
  await until("the end to be told", () => h.told.length > 0);
  expect(alive(left)).toEqual([]);
});

test("a session sees its own processes and no others (SB-03)", async () => {
  const at = world();
  const h = await openInstance(at);
  const id = await h.start("sleep 300");
  const other = { ...at, caller: { ...at.caller, session: "sub:s:1" } };
  for (const action of ["poll", "log", "kill"]) {
    await expect(h.tool.run({ action, id }, other, newKey(), never)).rejects.toThrow(/You have no background command/);
  }
  await expect(h.tool.plan({ action: "write", id, text: "x" }, other)).rejects.toThrow(
    /You have no background command/,
  );
  expect((await h.tool.run({ action: "list" }, other, newKey(), never)).text).toBe("There are no background commands.");
  await h.process({ action: "kill", id });
});

test("the same call is the same process, and a probe knows it (PROCESS-3)", async () => {
  const at = world();
  const h = await openInstance(at);
  const key = newKey();
  const id = await h.start("echo once >> count; sleep 300", key);
  expect(await h.start("echo once >> count; sleep 300", key)).toBe(id);
  const probe = (of: string) =>
    h.exec.probe!({ command: "x", background: true }, at, of, { sameBoot: true, signal: never });
  expect(await probe(key)).toMatchObject({ ok: { meta: { id } } });
  expect(await probe(newKey())).toEqual({ never: true });
  // The shell makes the file before it writes to it.
  const counted = () => readFileSync(join(at.workspace, "count"), "utf8");
  await until("it to count", () => existsSync(join(at.workspace, "count")) && counted() !== "");
  expect(counted()).toBe("once\n");
  await h.process({ action: "kill", id });
});

test("one that was meant and did not start is known as such, and runs when it is called again", async () => {
  const at = world();
  const key = newKey();
  // What a kill leaves between the row and the start.
  const records = await openRecords(join(at.home, "processes.db"), () => {});
  await records.write((tx) =>
    tx.run(
      "INSERT INTO process (id, key, session, agent, route, command, state, told, made_at) VALUES ('p_cut', ?, 's', 'main', '{}', 'x', 'starting', 0, 1)",
      key,
    ),
  );
  records.close();
  const h = await openInstance(at, { sandbox: false });
  const probe = (sameBoot: boolean) =>
    h.exec.probe!({ command: "touch ran", background: true }, at, key, { sameBoot, signal: never });
  expect(await probe(false)).toBeUndefined();
  expect(await probe(true)).toEqual({ never: true });
  await h.start("touch ran", key);
  await until("it to run", () => existsSync(join(at.workspace, "ran")));
});

test("after a restart it still runs, is found, and its end is told", async () => {
  const at = world();
  const first = await openInstance(at);
  const id = await first.start("echo before; until [ -e go ]; do sleep 0.02; done; echo after; exit 5");
  first.close();
  const second = await openInstance(at);
  expect(await second.process({ action: "poll", id })).toContain("is running");
  writeFileSync(join(at.workspace, "go"), "");
  await until("the end to be told", () => second.told.length > 0);
  expect(second.told[0]!.text).toMatch(/exit 5.*before\nafter$/s);
  expect(first.told).toEqual([]);
});

test("one whose supervisor was killed, or whose machine was restarted, is told as ended in a way nobody knows", async () => {
  const at = world();
  const first = await openInstance(at, { sandbox: false });
  const id = await first.start("sleep 300");
  const { pid } = await first.processes.look(id, "s");
  first.close();
  process.kill(-pid!, "SIGKILL");
  rmSync(join(at.home, "processes", id, "status"), { force: true });
  const second = await openInstance(at, { sandbox: false });
  await until("the end to be told", () => second.told.length > 0);
  expect(second.told[0]!.text).toContain("nobody knows how");
  expect(alive(id)).toEqual([]);
});

test("output stays within its bounds, and says that something is missing (PROCESS-2)", async () => {
  const at = world();
  const limit = 64 * 1024;
  const h = await openInstance(at, { limit });
  const id = await h.start("yes 0123456789abcdef | head -c 1000000; echo the end");
  await until("the end to be told", () => h.told.length > 0, { withinMs: 10_000 });
  const dir = join(at.home, "processes", id);
  expect(statSync(join(dir, "log")).size).toBeLessThanOrEqual(limit + 200);
  expect(statSync(join(dir, "log.1")).size).toBeLessThanOrEqual(limit + 200);
  expect(readFileSync(join(dir, "log"), "utf8")).toMatch(/^\[older output was moved/);
  expect(h.told[0]!.text).toContain("the end");
});

const bubblewrap = await createBubblewrap().available();
test.skipIf(!needs("bwrap", "what a sandbox hides from a background process", bubblewrap.ok))(
  "what it cannot see it cannot forge: its own status and log are hidden from it",
  async () => {
    const at = world();
    const h = await openInstance(at, { sandbox: {} });
    const dir = join(at.home, "processes");
    await h.start(`ls ${dir}; echo '0 1' > ${dir}/status; touch done`);
    await until("the end to be told", () => h.told.length > 0);
    expect(h.told[0]!.text).toMatch(/No such file/);
  },
);

test("writing to a process asks with the text and the command; looking and ending do not", async () => {
  const at = world();
  const h = await openInstance(at);
  const id = await h.start("cat > /dev/null");
  const plan = await h.tool.plan({ action: "write", id, text: "rm -rf x\u202e\n" }, at);
  expect(plan).toMatchObject({ risk: "exec", shown: expect.stringMatching(/cat > \/dev\/null.*rm -rf x\\u\{202e\}/s) });
  for (const action of ["list", "poll", "log", "kill"]) {
    expect((await h.tool.plan({ action, id }, at)).risk).toBe("read");
  }
  expect((await h.exec.plan({ command: "ls", background: true }, at)).shown).toContain("in the background");
  await h.process({ action: "kill", id });
});

test("the spec is small, and wrong input is named", async () => {
  const at = world();
  const h = await openInstance(at);
  expect(JSON.stringify(h.tool.spec).length).toBeLessThan(600);
  await expect(h.process({ action: "poll" })).rejects.toThrow(/needs an id/);
  await expect(h.process({ action: "write", id: "p" })).rejects.toThrow(/needs a text/);
  const both = { command: "ls", background: true, pty: true };
  await expect(h.exec.run(both, at, newKey(), never)).rejects.toThrow(/combined with pty/);
  await expect(createExec().run({ command: "ls", background: true }, at, newKey(), never)).rejects.toThrow(
    /background/,
  );
});

test.skipIf(process.platform !== "linux")(
  "one that an earlier life started is watched by the next, and its end names the limit",
  async () => {
    const at = world();
    const first = await openInstance(at, { sandbox: { limits: { memoryMb: 200 } } });
    const hold = "(head -c 120000000 /dev/zero | tail | sleep 60)";
    const id = await first.start(`until [ -e go ]; do sleep 0.02; done; ${hold} & ${hold} & ${hold} & wait`);
    first.close();
    const next = await openInstance(at);
    writeFileSync(join(at.workspace, "go"), "");
    await until("its end to be told", () => next.told.length > 0, { withinMs: 30_000 });
    const why = /Lares ended it with all its processes: it used \d+ MB, and sandbox\.limits\.memoryMb allows 200/;
    expect(next.told[0]!.text).toMatch(why);
    expect(await next.process({ action: "list" })).toMatch(why);
    expect(alive(id)).toEqual([]);
  },
);
