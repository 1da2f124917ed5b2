import { execFile, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";
import { scratch, until } from "../../../test/support/index.ts";
import { Branches, type Doing, guarded, noCrash, silentLog, systemClock, type WorkKey } from "../../core/kit/index.ts";
import { readPast } from "./ledger.ts";
import { Watchdog } from "./watchdog.ts";

const open: Watchdog[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** Another life on this home. The one before is not closed: that is how a death looks from here. */
function life(home: string): Watchdog {
  const made = new Watchdog({ home, clock: systemClock, crash: noCrash, log: silentLog });
  open.push(made);
  return made;
}

const file = (home: string) => join(home, "in-flight");
const ran = (home: string) => readPast(file(home))!.running.map(({ key }) => key);

function markStalled(home: string): void {
  const text = readFileSync(file(home), "utf8");
  writeFileSync(file(home), text.replace('"died"', '"stalled"'));
}

it("W: what runs is in the file, what ended is not, and an orderly end leaves nothing", () => {
  const home = scratch("watchdog");
  const dog = life(home);
  const a = dog.begin("turn:a");
  const b = dog.begin("turn:b");
  expect(ran(home)).toEqual(["turn:a", "turn:b"]);
  a.end(true);
  expect(ran(home)).toEqual(["turn:b"]);
  dog.begin("turn:c");
  b.progressed();
  expect(readPast(file(home))!.running).toEqual([
    { key: "turn:c", began: 3, progressed: false, doing: "works" },
    { key: "turn:b", began: 2, progressed: true, doing: "works" },
  ]);
  dog.close();
  expect(readPast(file(home))).toBeUndefined();
});

it("WATCHDOG-1: after a stall suspects run one at a time; the second stall convicts only the one that ran", async () => {
  const home = scratch("watchdog");
  const first = life(home);
  for (const key of ["turn:a", "turn:b", "turn:c"] as const) first.begin(key);
  markStalled(home);
  const second = life(home);
  const started: string[] = [];
  const run = (key: WorkKey) => void second.turn(key).then(() => started.push(key));
  for (const key of ["turn:a", "turn:b", "turn:c"] as const) {
    expect(second.suspicion(key)).toBe("suspect");
    run(key);
  }
  await turnOfTheLoop();
  expect(started).toEqual([]);
  second.ready();
  await until("the first suspect", () => started.length > 0);
  const a = second.begin("turn:a");
  await turnOfTheLoop();
  expect(started).toEqual(["turn:a"]);
  a.end(true);
  expect(second.suspicion("turn:a")).toBe("none");
  await until("the second suspect", () => started.length === 2);
  second.begin("turn:b");
  second.begin("turn:new");
  markStalled(home);
  const third = life(home);
  const now = (["turn:a", "turn:b", "turn:c", "turn:new"] as const).map((key) => third.suspicion(key));
  expect(now).toEqual(["none", "convicted", "suspect", "suspect"]);
});

it("an innocent suspect that got further is not convicted by the stall of one that began after it", () => {
  const home = scratch("watchdog");
  const first = life(home);
  for (const key of ["turn:innocent", "turn:guilty"] as const) first.begin(key);
  markStalled(home);
  const second = life(home);
  second.begin("turn:innocent").progressed();
  second.begin("turn:guilty");
  markStalled(home);
  const third = life(home);
  expect(third.suspicion("turn:innocent")).toBe("suspect");
  expect(third.suspicion("turn:guilty")).toBe("convicted");
});

it.each([
  ["got further than last time", "progressed"],
  ["waits for one behind it", "waits"],
] as const)("a suspect that %s doesn't hold up the others", async (_, how) => {
  const home = scratch("watchdog");
  const first = life(home);
  for (const key of ["turn:a", "turn:b"] as const) first.begin(key);
  markStalled(home);
  const second = life(home);
  second.ready();
  await second.turn("turn:a");
  const a = second.begin("turn:a");
  const b = second.turn("turn:b");
  a[how]();
  await b;
});

it("WATCHDOG-2: a storm of kills doesn't starve what was running at the first of them", () => {
  const home = scratch("watchdog");
  for (let i = 0; i < 2; i++) life(home).begin("turn:a");
  const third = life(home);
  expect(third.suspicion("turn:a")).toBe("suspect");
  // The third life dies before it started the suspect, with nothing running at all.
  expect(life(home).suspicion("turn:a")).toBe("none");
});

it("WATCHDOG-2: of those that run at a plain death only the one that is alone at work is held to account", () => {
  const home = scratch("watchdog");
  const suspicions = () => {
    const dog = life(home);
    const now = (["turn:waits", "turn:asks", "turn:works"] as const).map((key) => dog.suspicion(key));
    dog.begin("turn:waits").doing("waits");
    dog.begin("turn:asks").doing("asks");
    dog.begin("turn:works");
    return now.join(" ");
  };
  expect(suspicions()).toBe("none none none");
  expect(suspicions()).toBe("none none none");
  expect(suspicions()).toBe("none suspect suspect");
  expect(suspicions()).toBe("none suspect suspect");
  expect(suspicions()).toBe("none suspect convicted");
});

it("WATCHDOG-4: those that are at work together are held back, and none is convicted", async () => {
  const home = scratch("watchdog");
  for (let i = 0; i < 6; i++) {
    const dog = life(home);
    for (const key of ["turn:a", "turn:b"] as const) expect(dog.suspicion(key)).not.toBe("convicted");
    for (const key of ["turn:a", "turn:b"] as const) dog.begin(key);
  }
  const dog = life(home);
  dog.ready();
  await dog.turn("turn:a");
  const a = dog.begin("turn:a");
  const b = dog.turn("turn:b");
  // Nothing would be learned from holding up the others until its answer is there.
  a.doing("asks");
  await b;
});

it("WATCHDOG-1: a stall is no strike for what waits, and one for what asks", () => {
  const home = scratch("watchdog");
  const first = life(home);
  first.begin("turn:waits").doing("waits");
  first.begin("turn:asks").doing("asks");
  markStalled(home);
  const second = life(home);
  expect(second.suspicion("turn:waits")).toBe("none");
  expect(second.suspicion("turn:asks")).toBe("suspect");
});

it("work with several things in hand works as long as one of them does", async () => {
  const told: Doing[] = [];
  const branches = new Branches((now) => told.push(now));
  const ends: (() => void)[] = [];
  const open = () => new Promise<void>((resolve) => ends.push(resolve));
  const first = branches.branch(() => branches.apart("waits", open));
  expect(told).toEqual(["waits"]);
  const second = branches.branch(() => branches.apart("asks", open));
  const third = branches.branch(open);
  expect(told).toEqual(["waits", "works", "asks", "works"]);
  ends[2]!();
  await third;
  expect(told.at(-1)).toBe("asks");
  ends[1]!();
  await second;
  expect(told.at(-1)).toBe("waits");
  ends[0]!();
  await first;
  expect(told.at(-1)).toBe("works");
  await expect(branches.apart("asks", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(told.slice(-2)).toEqual(["asks", "works"]);
});

it("WATCHDOG-3: work that ended unfinished keeps what is held against it", () => {
  const home = scratch("watchdog");
  life(home).begin("turn:a");
  markStalled(home);
  const second = life(home);
  second.begin("turn:a").end(false);
  second.close();
  expect(life(home).suspicion("turn:a")).toBe("suspect");
});

it("a death is counted once, however often the next start dies before its own ledger", () => {
  const home = scratch("watchdog");
  life(home).begin("turn:a");
  markStalled(home);
  const left = readFileSync(file(home), "utf8");
  life(home);
  writeFileSync(file(home), left);
  expect(life(home).suspicion("turn:a")).toBe("suspect");
});

it("keys of any length and letters fit, and files that can't be read count as nothing", () => {
  const home = scratch("watchdog");
  const key: WorkKey = `watch:${"ü\n".repeat(300)}`;
  life(home).begin(key);
  markStalled(home);
  const second = life(home);
  expect(second.suspicion(key)).toBe("suspect");
  writeFileSync(join(home, "strikes.json"), "{");
  writeFileSync(file(home), "garbage\n");
  expect(life(home).suspicion(key)).toBe("none");
});

it("guarded work runs, is forgiven when it throws, and is replaced when it was convicted", async () => {
  const home = scratch("watchdog");
  for (let i = 0; i < 2; i++) {
    life(home).begin("import:x");
    markStalled(home);
  }
  const dog = life(home);
  const no = async () => "no";
  expect(await guarded(dog, "import:x", async () => "yes", no)).toBe("no");
  expect(await guarded(dog, "import:y", async () => "yes", no)).toBe("yes");
  await expect(guarded(dog, "import:z", () => Promise.reject(new Error("bad")), no)).rejects.toThrow("bad");
  expect(ran(home)).toEqual([]);
});

it("a blocked loop is noted, and the note is withdrawn when it goes on", async () => {
  const home = scratch("watchdog");
  const dog = life(home);
  dog.begin("turn:slow");
  dog.watch();
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  // A thread that gets no CPU counts no time: on a busy machine it takes longer than the second it needs.
  const blockedTill = performance.now() + 40_000;
  while (readPast(file(home))?.how !== "stalled" && performance.now() < blockedTill) Atomics.wait(nothing, 0, 0, 50);
  expect(readPast(file(home))).toMatchObject({ how: "stalled", running: [{ key: "turn:slow" }] });
  await until("the note to be withdrawn", () => readPast(file(home))?.how === "died");
});

it("waiting for the disk is no stall", async () => {
  const home = scratch("watchdog");
  const dog = life(home);
  dog.watch();
  dog.storing(true);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
  expect(readPast(file(home))?.how).toBe("died");
  dog.storing(false);
});

/** Blocks its event loop for this much of its own processor time, while everything else comes before it. */
const STARVED = (ms: number) => `
import { setPriority } from "node:os";
import { Watchdog } from ${JSON.stringify(new URL("./watchdog.ts", import.meta.url).href)};
const nothing = { at() {}, warn() {}, now: Date.now, after: () => () => {} };
new Watchdog({ home: process.argv[1], clock: nothing, crash: nothing, log: nothing }).watch();
// Long enough for the thread to see the loop beat. Only this thread becomes less important.
await new Promise((resolve) => setTimeout(resolve, 1500));
setPriority(12);
const from = process.cpuUsage().user;
const began = performance.now();
while (process.cpuUsage().user - from < ${ms * 1000});
console.log(Math.round(performance.now() - began));
process.exit(0);
`;

it.skipIf(process.platform !== "linux")(
  "time in which the loop waited for a processor is no stall",
  async () => {
    // They end by themselves, so that a run that is killed leaves nobody who takes all processors.
    const busy = `const end = Date.now() + ${60_000}; while (Date.now() < end);`;
    const others = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ["-e", busy]));
    try {
      // A fifteenth of a processor each: 0.5 s of work take more than the 5 s that a stall may.
      const args = ["--import", "tsx", "--input-type=module", "-e", STARVED(500), scratch("watchdog")];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      expect(Number(stdout)).toBeGreaterThan(5500);
    } finally {
      for (const other of others) other.kill("SIGKILL");
    }
  },
  90_000,
);
