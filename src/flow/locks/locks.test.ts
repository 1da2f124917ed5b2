import { spawnSync } from "node:child_process";
import { setMaxListeners } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import fc from "../../../test/support/property.ts";
import type { ActionPlan } from "../../core/contracts/index.ts";
import { ManualClock, silentLog } from "../../core/kit/index.ts";
import { openRecords } from "../../ground/records/index.ts";
import { openAmong } from "../turns/index.ts";
import { type LockHold, Locks } from "./index.ts";

const never = new AbortController().signal;
// Many calls of one test share it.
setMaxListeners(0, never);
const WAIT_S = 60;

async function world(home = newHome()) {
  const records = await openRecords(join(home, "lares.db"), (error) => {
    throw error;
  });
  onTestFinished(() => records.close());
  const clock = new ManualClock();
  const locks = await Locks.open({
    records,
    clock,
    config: () => ({ waitSeconds: WAIT_S }),
    log: silentLog,
    openAmong: (turns) => openAmong(records, turns),
  });
  let n = 0;
  const take = async (
    agent: string,
    paths: string[],
    more: Partial<Parameters<Locks["take"]>[0]> = {},
    signal = never,
  ) => {
    const holder = { turn: `t-${agent}`, call: `c${n++}`, agent, tool: "write" };
    const got = await locks.take({ holder, plan: writing(home, paths), workspace: home, ...more }, signal);
    if (got && !("busy" in got)) await records.write((tx) => got.intend(tx));
    return got;
  };
  return { home, records, clock, locks, take };
}

function newHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "lares-locks-")));
  mkdirSync(join(home, "repo", ".git"), { recursive: true });
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

function writing(home: string, paths: string[]): ActionPlan {
  return { tool: "write", risk: "write", targets: paths.map((path) => join(home, path)), shown: "", binding: {} };
}

function held(got: LockHold | { busy: string } | undefined): LockHold {
  if (!got || "busy" in got) throw new Error(`not held: ${got?.busy ?? "nothing to lock"}`);
  return got;
}

/** Begins to take and resolves with the promise and the sentence when it has to wait. */
async function queued(w: Awaited<ReturnType<typeof world>>, agent: string, paths: string[], signal = never) {
  let got: LockHold | { busy: string } | undefined;
  let done!: Promise<LockHold | { busy: string } | undefined>;
  const sentence = await new Promise<string>((onWait) => {
    done = w.take(agent, paths, { onWait }, signal);
    done.then(
      (one) => {
        got = one;
      },
      () => {},
    );
  });
  return { done, sentence, got: () => got };
}

test("a second agent waits, is told who works there since when, and goes on when the first is done", async () => {
  const w = await world();
  const first = held(await w.take("ada", ["repo/a"]));
  const second = await queued(w, "bob", ["repo/b"]);
  expect(second.sentence).toBe(
    `Waiting: ${w.home}/repo is in use by agent ada (write, turn t-ada) since 2025-06-15 15:06:40.`,
  );
  expect(w.locks.list()).toMatchObject([{ agent: "ada", paths: [`${w.home}/repo`], waiting: [{ agent: "bob" }] }]);
  expect(second.got()).toBeUndefined();
  first.release();
  expect(held(await second.done).fence).toBeGreaterThan(first.fence);
});

test("when the wait is too long the answer is busy, and nothing is held or waited for any more", async () => {
  const w = await world();
  const first = held(await w.take("ada", ["repo/a"]));
  const second = await queued(w, "bob", ["repo/b"]);
  w.clock.advance(WAIT_S * 1000 - 1);
  expect(w.locks.list()).toMatchObject([{ agent: "ada", waiting: [{ agent: "bob" }] }]);
  w.clock.advance(1);
  expect(await second.done).toEqual({
    busy: expect.stringMatching(/^Busy: .*repo is in use by agent ada .* Waited 60 s; nothing was done\./),
  });
  expect(w.locks.list()).toMatchObject([{ agent: "ada", waiting: [] }]);
  first.release();
  expect(w.locks.list()).toEqual([]);
});

test("a wait that is stopped leaves the way free for those behind it", async () => {
  const w = await world();
  const first = held(await w.take("ada", ["repo/a"]));
  const stop = new AbortController();
  const stopped = await queued(w, "bob", ["repo/b", "other"], stop.signal);
  const third = await queued(w, "cyd", ["other"]);
  expect(third.sentence).toContain("wanted by agent bob first");
  stop.abort(new Error("stopped"));
  await expect(stopped.done).rejects.toThrow("stopped");
  held(await third.done).release();
  first.release();
});

test("places that do not overlap are worked on at the same time, and reading locks nothing", async () => {
  const w = await world();
  held(await w.take("ada", ["repo/a"]));
  held(await w.take("bob", ["loose/a"]));
  held(await w.take("cyd", ["loose/b"]));
  const plan = { ...writing(w.home, ["repo/a"]), risk: "read" as const };
  expect(await w.take("dee", [], { plan })).toBeUndefined();
});

test("calls of one turn run side by side, also past another turn that waits, and each records for itself", async () => {
  const w = await world();
  const first = held(await w.take("ada", ["repo/a"]));
  const other = await queued(w, "bob", ["repo/b"]);
  const second = held(await w.take("ada", ["repo/c"]));
  await w.records.write((tx) => first.commit(tx));
  first.release();
  expect(w.locks.list()).toMatchObject([{ agent: "ada", waiting: [{ agent: "bob" }] }]);
  await w.records.write((tx) => second.commit(tx));
  second.release();
  held(await other.done);
});

test("a folder and what lies in it are one place", async () => {
  const w = await world();
  const file = held(await w.take("ada", ["loose/deep/a"]));
  const folder = await queued(w, "bob", ["loose"]);
  file.release();
  held(await folder.done);
});

test("calls that want the same places in another order all come to an end (LOCKS-2)", async () => {
  const w = await world();
  const order: string[] = [];
  await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const paths = i % 2 ? ["x", "y", "z"] : ["z", "x"];
      const hold = held(await w.take(`a${i}`, paths));
      order.push(`a${i}`);
      await new Promise(setImmediate);
      hold.release();
    }),
  );
  expect(order).toHaveLength(40);
});

test("two agents on one tree never interleave, in a hundred different orders (LOCKS-1)", async () => {
  const w = await world();
  const file = join(w.home, "repo", "count.txt");
  const call = fc.record({ agent: fc.constantFrom("ada", "bob"), before: fc.nat(4), inside: fc.nat(4) });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 8 }), async (calls) => {
      writeFileSync(file, "0");
      let inside = 0;
      let newest = 0;
      let turn = 0;
      await Promise.all(
        calls.map(async ({ agent, before, inside: yields }) => {
          for (let i = 0; i < before; i++) await new Promise(setImmediate);
          const holder = { turn: `t${turn++}`, call: "c", agent, tool: "write" };
          const path = agent === "ada" ? "repo/count.txt" : "repo/other.txt";
          const hold = held(await w.take(agent, [path], { holder }));
          expect(++inside).toBe(1);
          expect(hold.fence).toBeGreaterThan(newest);
          newest = hold.fence;
          const count = Number(readFileSync(file, "utf8"));
          for (let i = 0; i < yields; i++) await new Promise(setImmediate);
          writeFileSync(file, String(count + 1));
          inside--;
          if (yields % 2) await w.records.write((tx) => hold.commit(tx));
          hold.release();
        }),
      );
      expect(readFileSync(file, "utf8")).toBe(String(calls.length));
      expect(w.locks.list()).toEqual([]);
    }),
    { numRuns: 100 },
  );
  await w.records.write(() => {});
  expect(await w.records.all("SELECT path FROM resource_lock")).toEqual([]);
});

test("who lost a lock cannot record: the whole transaction is refused (LOCKS-3, I11)", async () => {
  const w = await world();
  const lost = held(await w.take("ada", ["repo/a"]));
  const waiting = await queued(w, "bob", ["repo/b"]);
  expect(w.locks.break(`${w.home}/repo`)).toBe(true);
  const next = held(await waiting.done);
  expect(lost.isHeld()).toBe(false);
  const record = w.records.write((tx) => {
    tx.run("INSERT INTO meta VALUES ('result', 'of the one who lost')");
    lost.commit(tx);
  });
  await expect(record).rejects.toThrow();
  expect(await w.records.get("SELECT value FROM meta WHERE key = 'result'")).toBeUndefined();
  lost.release();
  expect(next.isHeld()).toBe(true);
  await w.records.write((tx) => next.commit(tx));
  next.release();
});

/** A process takes the lock of the repository for this turn and is killed. */
async function killedWhileHolding(turnIsOpen: boolean, intended = true): Promise<{ home: string; fence: number }> {
  const home = newHome();
  const here = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const code = `
    const { openRecords } = await import(${here("../../ground/records/index.ts")});
    const { openAmong } = await import(${here("../turns/index.ts")});
    const { Locks } = await import(${here("./index.ts")});
    const { silentLog, systemClock: clock } = await import(${here("../../core/kit/index.ts")});
    const records = await openRecords(${JSON.stringify(join(home, "lares.db"))}, () => {});
    const locks = await Locks.open({ records, clock, config: () => ({ waitSeconds: 1 }), log: silentLog, openAmong: (turns) => openAmong(records, turns) });
    await records.write((tx) => tx.run(
      "INSERT INTO turn (id, session, agent, accept_id, route, lane, state, accepted_at, ended_at) VALUES ('t-dead', 's', 'ada', 'x', '{}', 'interactive', 'running', 1, ?)",
      ${turnIsOpen ? "null" : "2"}));
    const holder = { turn: "t-dead", call: "c", agent: "ada", tool: "exec" };
    const plan = ${JSON.stringify(writing(home, ["repo/a"]))};
    const hold = await locks.take({ holder, plan, workspace: ${JSON.stringify(home)} }, new AbortController().signal);
    ${intended ? "await records.write((tx) => hold.intend(tx));" : ""}
    process.stdout.write(String(hold.fence), () => process.kill(process.pid, "SIGKILL"));
    await new Promise(() => setTimeout(() => {}, 10_000));`;
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  const child = spawnSync(process.execPath, ["--import", tsx, "--input-type=module", "-e", code]);
  expect(child.signal, String(child.stderr)).toBe("SIGKILL");
  return { home, fence: Number(String(child.stdout)) };
}

test("after a crash the lock stays in force until its turn has dealt with it, then the next one is told (LOCKS-4)", async () => {
  const { home, fence } = await killedWhileHolding(true);
  const w = await world(home);
  expect(w.locks.list()).toMatchObject([{ agent: "ada", turn: "t-dead", cutOff: true }]);
  const waiting = await queued(w, "bob", ["repo/b"]);
  w.locks.settled("t-dead", "another call");
  expect(w.locks.list()).toMatchObject([{ turn: "t-dead", waiting: [{ agent: "bob" }] }]);
  w.locks.settled("t-dead", "c");
  const got = held(await waiting.done);
  expect(got.fence).toBeGreaterThan(fence);
  expect(got.leftover).toMatch(
    /^Earlier work here \(exec of agent ada in .*repo, started .*\) was interrupted by a restart/,
  );
  got.release();
  expect(held(await w.take("cyd", ["repo/c"])).leftover).toBeUndefined();
});

test("a call that died before it meant to act leaves no lock behind (LOCKS-3)", async () => {
  const { home } = await killedWhileHolding(true, false);
  const w = await world(home);
  expect(w.locks.list()).toEqual([]);
  expect(held(await w.take("bob", ["repo/b"])).leftover).toBeUndefined();
});

test("after a crash the same call takes its own lock again at once, with a larger number", async () => {
  const { home, fence } = await killedWhileHolding(true);
  const w = await world(home);
  const holder = { turn: "t-dead", call: "c", agent: "ada", tool: "exec" };
  const hold = held(await w.take("ada", ["repo/a"], { holder }));
  expect(hold.fence).toBeGreaterThan(fence);
  expect(hold.leftover).toBeUndefined();
  await w.records.write((tx) => hold.commit(tx));
});

test("the lock of a turn that is over holds nobody up after a crash", async () => {
  const { home } = await killedWhileHolding(false);
  const w = await world(home);
  expect(held(await w.take("bob", ["repo/b"])).leftover).toContain("interrupted");
});
