/** Deadlines and slots under a clock moved by hand, forward, far, and back. */

import { describe, expect, it } from "vitest";
import { asId, type Json, type ScheduleId } from "../../../src/core/domain/index.ts";
import { ManualClock } from "../../../src/core/kit/index.ts";
import { pretend } from "../../support/pretend.ts";
import { Child } from "./child.ts";
import { TestInstance } from "./instance.ts";
import { type EngineFactory, type Op, type Script, session, until, World } from "./world.ts";

const START = 1_750_000_000_000;
const DAY = 86_400_000;

export function timeContract(factory: EngineFactory): void {
  const withClock = async () => {
    const clock = new ManualClock(START);
    return { clock, instance: await TestInstance.open(factory, { clock }) };
  };
  const untilDue = (deadline: number): Op[] => [
    { step: "before" },
    { park: { on: ["answer"], deadline } },
    { step: "after" },
  ];
  const slot = (instance: TestInstance, id: string, due: number, script: Partial<Script> & { name: string }) =>
    instance.engine.schedule(asId<ScheduleId>(id), {
      due,
      session: session(`cron-${id}`),
      body: pretend<Json>({ ops: [{ effect: "fire" }], ...script }),
    });

  describe("deadlines", () => {
    it("wakes a parked turn at its deadline, not before, and once (I8)", async () => {
      const { clock, instance } = await withClock();
      const { turn } = await instance.accept("a", untilDue(START + 1000));
      await instance.parked("a");
      clock.advance(999);
      await instance.meanwhile();
      expect(instance.world.of("a", "begin")).toHaveLength(1);
      clock.advance(1);
      const { seen } = await instance.ended("a");
      expect(seen[1]).toBe("deadline");
      expect(await instance.send(turn, "answer", "e1")).toBe("late");
      clock.advance(DAY);
      await instance.meanwhile();
      expect(instance.world.of("a", "begin")).toHaveLength(2);
    });

    it("lets the event win when it comes first", async () => {
      const { clock, instance } = await withClock();
      const { turn } = await instance.accept("a", untilDue(START + 1000));
      await instance.parked("a");
      expect(await instance.send(turn, "answer", "e1")).toBe("taken");
      clock.advance(DAY);
      const { seen } = await instance.ended("a");
      expect(seen).toHaveLength(3);
      expect(seen[1]).toMatchObject({ event: "answer" });
    });

    it("notices a clock that jumps thirty days forward", async () => {
      const { clock, instance } = await withClock();
      await instance.accept("a", untilDue(START + 29 * DAY));
      await instance.parked("a");
      clock.advance(30 * DAY);
      expect((await instance.ended("a")).seen[1]).toBe("deadline");
    });

    it("waits on when the clock jumps back, and fires when the time has come again", async () => {
      const { clock, instance } = await withClock();
      await instance.accept("a", untilDue(START + 1000));
      await instance.parked("a");
      clock.advance(-DAY);
      clock.advance(2000);
      await instance.meanwhile();
      expect(instance.world.of("a", "begin")).toHaveLength(1);
      clock.advance(DAY);
      expect((await instance.ended("a")).seen[1]).toBe("deadline");
    });

    it("fires at once what became due while nobody ran, and what is already due when it parks", async () => {
      const { clock, instance } = await withClock();
      await instance.accept("a", untilDue(START + 1000));
      await instance.parked("a");
      instance.kill();
      clock.advance(DAY);
      await instance.begin();
      expect((await instance.ended("a")).seen[1]).toBe("deadline");
      await instance.accept("b", untilDue(START - 1));
      expect((await instance.ended("b")).seen[1]).toBe("deadline");
    });

    it("serves many deadlines with one waiting, each once", async () => {
      const { clock, instance } = await withClock();
      const names = Array.from({ length: 20 }, (_, i) => `t${i}`);
      for (const [i, name] of names.entries())
        await instance.accept(name, untilDue(START + 100 * (i + 1)), { session: name });
      await until("all are parked", () => instance.world.lines.filter((l) => l.what === "parked").length === 20);
      clock.advance(1000);
      await instance.ended(...names.slice(0, 10));
      await instance.meanwhile();
      expect((await instance.ends()).filter((e) => e.end.startsWith("t"))).toHaveLength(10);
      clock.advance(1000);
      await instance.ended(...names);
      expect(instance.world.lines.filter((l) => l.what === "begin" && l.name.startsWith("t"))).toHaveLength(40);
    });
  });

  describe("slots", () => {
    it("accepts a due slot as one turn, with an id made of schedule and due time", async () => {
      const { clock, instance } = await withClock();
      await slot(instance, "job", START + 1000, { name: "fired" });
      clock.advance(999);
      await instance.meanwhile();
      expect(instance.world.of("fired")).toEqual([]);
      clock.advance(1);
      await instance.ended("fired");
      const { turn } = instance.world.of("fired", "begin")[0]!;
      expect(await instance.accept("x", [], { id: `schedule:job:${START + 1000}` })).toEqual({ turn, duplicate: true });
      clock.advance(DAY);
      await instance.crash();
      await instance.meanwhile();
      expect(instance.world.of("fired", "act")).toHaveLength(1);
    });

    it("has one slot per schedule: setting it again replaces it, null removes it", async () => {
      const { clock, instance } = await withClock();
      await slot(instance, "job", START + 1000, { name: "first" });
      await slot(instance, "job", START + 5000, { name: "second" });
      await slot(instance, "gone", START + 1000, { name: "gone" });
      await instance.engine.schedule(asId<ScheduleId>("gone"), null);
      await instance.engine.schedule(asId<ScheduleId>("never-set"), null);
      clock.advance(2000);
      await instance.meanwhile();
      expect(instance.world.of("first")).toEqual([]);
      clock.advance(3000);
      await instance.ended("second");
      await instance.meanwhile();
      expect(instance.world.of("first")).toEqual([]);
      expect(instance.world.of("gone")).toEqual([]);
    });

    it("fires an overdue slot at start, once, and one that is set in the past at once", async () => {
      const { clock, instance } = await withClock();
      await slot(instance, "job", START + 1000, { name: "overdue" });
      instance.kill();
      clock.advance(DAY);
      await instance.begin();
      await instance.ended("overdue");
      await slot(instance, "late", START, { name: "past" });
      await instance.ended("past");
      await instance.crash();
      await instance.meanwhile();
      expect(instance.world.of("overdue", "act")).toHaveLength(1);
      expect(instance.world.of("past", "act")).toHaveLength(1);
    });

    it("does not run the same slot again when it is set a second time after it fired (I2)", async () => {
      const { clock, instance } = await withClock();
      await slot(instance, "job", START + 1000, { name: "once" });
      clock.advance(1000);
      await instance.ended("once");
      await slot(instance, "job", START + 1000, { name: "once" });
      await instance.meanwhile();
      expect(instance.world.of("once", "act")).toHaveLength(1);
    });

    const plan = (name: string) => ({
      clock: START,
      acts: [
        {
          schedule: "job",
          due: START + 1000,
          session: "cron-job",
          script: { name, ops: [{ effect: "fire" as const }] },
        },
        { advance: 1000 },
      ],
    });
    it("fires once when the process is killed in the tick that fires it", async () => {
      const instance = new TestInstance(factory, { clock: new ManualClock(START + 2000) });
      const { acts, clock } = plan("fired");
      await Child.engine(factory, instance.home, { clock, acts: [...acts, { kill: true }] }).wasKilled();
      await instance.begin();
      await instance.ended("fired");
      await instance.crash();
      await instance.meanwhile();
      expect(instance.world.of("fired", "act")).toHaveLength(1);
      instance.kill();
    });

    it("fires once when the process is killed as the fired turn begins", async () => {
      const instance = new TestInstance(factory, { clock: new ManualClock(START + 2000) });
      await Child.engine(factory, instance.home, plan("fired"), "segment.started:1").wasKilled();
      await instance.begin();
      await instance.ended("fired");
      await instance.crash();
      await instance.meanwhile();
      const outside = new World(`${instance.home}/witness`);
      expect([...outside.of("fired", "act"), ...instance.world.of("fired", "act")]).toHaveLength(1);
      instance.kill();
    });
  });
}
