/** Real processes, really killed: one owner per home, recovery, and `kill -9` at every crash point the engine passes. */

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asId } from "../../../src/core/domain/index.ts";
import { CRASH_POINTS, type CrashPoint } from "../../../src/core/kit/index.ts";
import { Child } from "./child.ts";
import type { Act, Plan } from "./driver.ts";
import { TestInstance } from "./instance.ts";
import { overlaps } from "./order.ts";
import { type EngineFactory, type Script, until, World } from "./world.ts";

export function killContract(factory: EngineFactory): void {
  describe("one owner", () => {
    it("refuses a second process on the same home, naming the first, until it is gone (I11)", async () => {
      const instance = new TestInstance(factory);
      const child = Child.engine(factory, instance.home, { acts: [{ tell: "up" }] });
      await child.says("up");
      const refused = await factory.open(instance.home).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "HOME_LOCKED", details: { pid: child.process.pid } });
      expect((refused as Error).message).toContain(`pid ${child.process.pid}`);
      await child.kill();
      await instance.begin();
      await instance.meanwhile();
      await expect(factory.open(instance.home)).rejects.toMatchObject({ details: { pid: process.pid } });
      await instance.meanwhile();
      instance.kill();
    });

    it("cannot write once another took the home over, and tells the code that runs (I11)", async () => {
      const instance = await TestInstance.open(factory);
      const parked = await instance.accept("parked", [{ park: { on: ["x"] } }], { session: "p" });
      await instance.parked("parked");
      await instance.accept("a", [{ step: "x" }, { gate: "go" }, { effect: "y" }]);
      await until("a is inside", () => instance.world.of("a", "step").length === 1);
      await instance.meanwhile();
      const before = await instance.history({});
      const letGo = await factory.takeOver(instance.home);
      await expect(instance.accept("b", [], { session: "b" })).rejects.toMatchObject({ code: "HOME_FENCED" });
      await expect(instance.send(parked.turn, "x", "e1")).rejects.toMatchObject({ code: "HOME_FENCED" });
      await expect(instance.engine.schedule(asId("s"), null)).rejects.toMatchObject({ code: "HOME_FENCED" });
      // The running segment meets the fence before it touches the world.
      instance.world.open("go");
      await until("a is thrown out", () => instance.world.of("a", "leave").length === 1);
      expect(instance.world.of("a", "act")).toEqual([]);
      letGo();
      instance.kill();
      await instance.look();
      expect(await instance.history({})).toEqual(before);
      await instance.start();
      expect(await instance.accept("b", [], { session: "b" })).toMatchObject({ duplicate: false });
      await instance.ended("a", "b");
    });
  });

  describe("recovery", () => {
    it("has a hundred open turns running again, all before any of them ends, and leaves the parked ones parked (I8)", async () => {
      const instance = new TestInstance(factory);
      const names = Array.from({ length: 100 }, (_, i) => `t${i}`);
      const acts: Act[] = names.map((name) => ({
        accept: { name, ops: [{ step: "x" }, { effect: "y" }, { gate: "all" }, { effect: "z" }] } satisfies Script,
        session: name,
      }));
      const sleeper: Script = { name: "sleeper", ops: [{ step: "x" }, { park: { on: ["e"] } }, { step: "y" }] };
      const child = Child.engine(factory, instance.home, {
        acts: [{ accept: sleeper, session: "sleeper" }, { parked: "sleeper" }, ...acts, { tell: "accepted" }],
      });
      await child.says("accepted");
      const seen = () => new World(join(instance.home, "witness"));
      await until("all stand at the gate", () => seen().lines.filter((l) => l.what === "act").length === 100, 20);
      await child.kill();

      instance.world.lines.push(...seen().lines);
      instance.world.gen = 1;
      await instance.begin();
      const again = (what: "begin" | "leave") =>
        instance.world.lines.filter((l) => l.gen === 1 && l.what === what && l.name.startsWith("t"));
      await until("all run again", () => again("begin").length === 100);
      expect(again("leave")).toEqual([]);
      expect(again("begin").every((l) => l.recovered)).toBe(true);
      instance.world.open("all");
      await instance.ended(...names);
      const acted = instance.world.lines.filter((l) => l.what === "act");
      expect(new Set(acted.map((l) => l.key)).size).toBe(acted.length);
      expect(acted.filter((l) => l.of === "z")).toHaveLength(100);
      expect(instance.world.of("sleeper", "begin")).toHaveLength(1);
      const { turn } = instance.world.of("sleeper", "ack")[0]!;
      expect(await instance.send(asId(turn), "e", "e1")).toBe("taken");
      await instance.ended("sleeper");
      instance.kill();
    });
  });

  describe("kill -9 at", () => {
    it("passes crash points that the catalogue knows", () => {
      expect(factory.crashPoints.filter((p) => !(p in CRASH_POINTS))).toEqual([]);
    });
    for (const point of factory.crashPoints) {
      // The first time something passes the point, and once in the middle of everything.
      for (const n of [1, /^(park|resume)/.test(point) ? 2 : 3]) {
        it(`${point}, passed ${n === 1 ? "first" : `for the ${n}. time`}: nothing lost, nothing twice (I1–I5)`, async () => {
          await killedAt(factory, point, n);
        });
      }
    }

    it("any moment, from outside, in the middle of a crowd: nothing lost, nothing twice (I1–I5)", async () => {
      const instance = new TestInstance(factory);
      const acts: Act[] = [];
      for (let i = 0; i < 60; i++) {
        const name = `t${i}`;
        acts.push({
          accept: { name, ops: [{ step: "x" }, { effect: "y" }, { loop: 3 }, { effect: "z" }] },
          session: `s${i % 6}`,
        });
      }
      const child = Child.engine(factory, instance.home, { acts });
      const seen = () => new World(join(instance.home, "witness"));
      await until("a part of the crowd is through", () => seen().firsts("ended").length >= 12, 1);
      await child.kill();
      await recovered(instance, acts);
    });
  });
}

const going: Script = {
  name: "going",
  ops: [
    { step: "a" },
    { effect: "b" },
    { park: { on: ["go"], holds: true } },
    { step: "c" },
    { together: [{ effect: "d" }, { effect: "e" }] },
    { park: { on: ["on"], holds: false } },
    { step: "f" },
    { effect: "g" },
  ],
};
const ACTS: Act[] = [
  { accept: going, session: "one" },
  { accept: { name: "behind", ops: [{ step: "a" }, { effect: "b" }, { step: "c" }] }, session: "one" },
  { accept: { name: "beside", ops: [{ effect: "a" }, { loop: 1 }, { effect: "b" }] }, session: "two" },
  { parked: "going" },
  { resume: "going", event: { id: "e-go", name: "go", value: 1 } },
  { resume: "going", event: { id: "e-on", name: "on", value: 2 } },
  { ended: ["going", "behind", "beside"] },
  { tell: "through" },
];

async function killedAt(factory: EngineFactory, point: CrashPoint, n: number): Promise<void> {
  const instance = new TestInstance(factory);
  const plan: Plan = { acts: ACTS };
  const child = Child.engine(factory, instance.home, plan, `${point}:${n}`);
  const through = child.says("through").then(
    () => "through",
    () => "killed",
  );
  // Saying "through" would mean that the point was never passed n times.
  expect(await through).toBe("killed");
  await child.wasKilled();
  await recovered(instance, ACTS);
}

/** What must hold when somebody starts the instance again: looks at what was durable, redelivers, and lets it run out. */
async function recovered(instance: TestInstance, acts: Act[]): Promise<void> {
  const before = new World(join(instance.home, "witness"));
  instance.world.lines.push(...before.lines);
  instance.world.gen = before.gen;
  await instance.look();
  const found = await instance.history({});
  const endedBefore = new Set((await instance.ends()).map((e) => e.end));
  await instance.start();

  const names: string[] = [];
  const events = acts.flatMap((act) => ("resume" in act ? [act] : []));
  for (const act of acts) {
    if (!("accept" in act)) continue;
    const { name, ops } = act.accept;
    names.push(name);
    // The platform delivers again what it is not sure of. What was acknowledged is known (I1, I2).
    const again = await instance.accept(name, ops, { session: act.session });
    const ack = before.of(name, "ack")[0];
    if (ack) expect(again).toEqual({ turn: ack.turn, duplicate: true });
  }
  for (const { resume: name, event } of events) {
    const { turn } = await instance.accept(name, []);
    // The person presses the button again: it is the same answer, whether or not the first press was durable.
    expect(await instance.engine.resume(turn, event)).toBe("taken");
  }
  await instance.ended(...names);

  // Exactly one end per turn, and those that had ended were left alone.
  expect((await instance.ends()).map((e) => e.end).sort()).toEqual([...names].sort());
  const after = instance.world.lines.filter((l) => l.gen === instance.world.gen);
  expect(after.filter((l) => l.what === "begin" && endedBefore.has(l.name))).toEqual([]);

  // No effect twice; unknown exactly where there was an intent without a result (I4).
  const acted = instance.world.lines.filter((l) => l.what === "act").map((l) => l.key!);
  expect(acted.length).toBe(new Set(acted).size);
  const at = (e: { turn: string; segment: number; name: string }) => `${e.turn}/${e.segment}/${e.name}`;
  const unsure = found.filter((e) => e.kind === "effect" && e.state === "intent").map(at);
  const now = await instance.history({});
  expect(
    now
      .filter((e) => e.state === "unknown")
      .map(at)
      .sort(),
  ).toEqual(unsure.sort());
  expect(now.filter((e) => e.state === "intent")).toEqual([]);
  // What is recorded as done was done, once: the witness has a line for each.
  const doneEffects = now.filter((e) => e.kind === "effect" && e.state === "done");
  const lines = instance.world.lines.filter((l) => l.what === "act");
  for (const e of doneEffects) {
    expect(lines.filter((l) => l.turn === e.turn && l.segment === e.segment && l.of === e.name)).toHaveLength(1);
  }

  // A finished step did not run again (ENGINE-3).
  const finished = new Set(found.filter((e) => e.state === "done").map(at));
  const reran = after.filter((l) => (l.what === "step" || l.what === "act") && l.of);
  expect(reran.filter((l) => finished.has(at({ turn: l.turn, segment: l.segment!, name: l.of! })))).toEqual([]);

  // Nobody overlapped, and nothing is left over for the next start.
  expect(overlaps(instance.world.lines)).toEqual([]);
  await instance.crash();
  await instance.meanwhile();
  const third = instance.world.lines.filter((l) => l.gen === instance.world.gen && !l.name.startsWith("meanwhile"));
  expect(third).toEqual([]);
  instance.kill();
}
