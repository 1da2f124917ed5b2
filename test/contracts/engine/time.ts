/** Deadlines and slots under a clock moved by hand, forward, far, and back. */
import { describe, expect, it } from "vitest";
import { asId, type Json, type ScheduleId } from "../../../src/core/domain/index.ts";
import { ManualClock } from "../../../src/core/kit/index.ts";
import { Child } from "./child.ts";
import { House } from "./house.ts";
import { type EngineFactory, type Op, type Script, session, until, World } from "./world.ts";

const START = 1_750_000_000_000;
const DAY = 86_400_000;

export function timeContract(factory: EngineFactory): void {
  const withClock = async () => {
    const clock = new ManualClock(START);
    return { clock, house: await House.open(factory, { clock }) };
  };
  const untilDue = (deadline: number): Op[] => [
    { step: "before" },
    { park: { on: ["answer"], deadline } },
    { step: "after" },
  ];
  const slot = (house: House, id: string, due: number, script: Partial<Script> & { name: string }) =>
    house.engine.schedule(asId<ScheduleId>(id), {
      due,
      session: session(`cron-${id}`),
      body: { ops: [{ effect: "fire" }], ...script } as unknown as Json,
    });

  describe("deadlines", () => {
    it("wakes a parked turn at its deadline, not before, and once (I8)", async () => {
      const { clock, house } = await withClock();
      const { turn } = await house.accept("a", untilDue(START + 1000));
      await house.parked("a");
      clock.advance(999);
      await house.meanwhile();
      expect(house.world.of("a", "begin")).toHaveLength(1);
      clock.advance(1);
      const { seen } = await house.ended("a");
      expect(seen[1]).toBe("deadline");
      expect(await house.send(turn, "answer", "e1")).toBe("late");
      clock.advance(DAY);
      await house.meanwhile();
      expect(house.world.of("a", "begin")).toHaveLength(2);
    });

    it("lets the event win when it comes first", async () => {
      const { clock, house } = await withClock();
      const { turn } = await house.accept("a", untilDue(START + 1000));
      await house.parked("a");
      expect(await house.send(turn, "answer", "e1")).toBe("taken");
      clock.advance(DAY);
      const { seen } = await house.ended("a");
      expect(seen).toHaveLength(3);
      expect(seen[1]).toMatchObject({ event: "answer" });
    });

    it("notices a clock that jumps thirty days forward", async () => {
      const { clock, house } = await withClock();
      await house.accept("a", untilDue(START + 29 * DAY));
      await house.parked("a");
      clock.advance(30 * DAY);
      expect((await house.ended("a")).seen[1]).toBe("deadline");
    });

    it("waits on when the clock jumps back, and fires when the time has come again", async () => {
      const { clock, house } = await withClock();
      await house.accept("a", untilDue(START + 1000));
      await house.parked("a");
      clock.advance(-DAY);
      clock.advance(2000);
      await house.meanwhile();
      expect(house.world.of("a", "begin")).toHaveLength(1);
      clock.advance(DAY);
      expect((await house.ended("a")).seen[1]).toBe("deadline");
    });

    it("fires at once what became due while nobody ran, and what is already due when it parks", async () => {
      const { clock, house } = await withClock();
      await house.accept("a", untilDue(START + 1000));
      await house.parked("a");
      house.kill();
      clock.advance(DAY);
      await house.begin();
      expect((await house.ended("a")).seen[1]).toBe("deadline");
      await house.accept("b", untilDue(START - 1));
      expect((await house.ended("b")).seen[1]).toBe("deadline");
    });

    it("serves many deadlines with one waiting, each once", async () => {
      const { clock, house } = await withClock();
      const names = Array.from({ length: 20 }, (_, i) => `t${i}`);
      for (const [i, name] of names.entries())
        await house.accept(name, untilDue(START + 100 * (i + 1)), { session: name });
      await until("all are parked", () => house.world.lines.filter((l) => l.what === "parked").length === 20);
      clock.advance(1000);
      await house.ended(...names.slice(0, 10));
      await house.meanwhile();
      expect((await house.ends()).filter((e) => e.end.startsWith("t"))).toHaveLength(10);
      clock.advance(1000);
      await house.ended(...names);
      expect(house.world.lines.filter((l) => l.what === "begin" && l.name.startsWith("t"))).toHaveLength(40);
    });
  });

  describe("slots", () => {
    it("accepts a due slot as one turn, with an id made of schedule and due time", async () => {
      const { clock, house } = await withClock();
      await slot(house, "job", START + 1000, { name: "fired" });
      clock.advance(999);
      await house.meanwhile();
      expect(house.world.of("fired")).toEqual([]);
      clock.advance(1);
      await house.ended("fired");
      const { turn } = house.world.of("fired", "begin")[0]!;
      expect(await house.accept("x", [], { id: `schedule:job:${START + 1000}` })).toEqual({ turn, duplicate: true });
      clock.advance(DAY);
      await house.crash();
      await house.meanwhile();
      expect(house.world.of("fired", "act")).toHaveLength(1);
    });

    it("has one slot per schedule: setting it again replaces it, null removes it", async () => {
      const { clock, house } = await withClock();
      await slot(house, "job", START + 1000, { name: "first" });
      await slot(house, "job", START + 5000, { name: "second" });
      await slot(house, "gone", START + 1000, { name: "gone" });
      await house.engine.schedule(asId<ScheduleId>("gone"), null);
      await house.engine.schedule(asId<ScheduleId>("never-set"), null);
      clock.advance(2000);
      await house.meanwhile();
      expect(house.world.of("first")).toEqual([]);
      clock.advance(3000);
      await house.ended("second");
      await house.meanwhile();
      expect(house.world.of("first")).toEqual([]);
      expect(house.world.of("gone")).toEqual([]);
    });

    it("fires an overdue slot at start, once, and one that is set in the past at once", async () => {
      const { clock, house } = await withClock();
      await slot(house, "job", START + 1000, { name: "overdue" });
      house.kill();
      clock.advance(DAY);
      await house.begin();
      await house.ended("overdue");
      await slot(house, "late", START, { name: "past" });
      await house.ended("past");
      await house.crash();
      await house.meanwhile();
      expect(house.world.of("overdue", "act")).toHaveLength(1);
      expect(house.world.of("past", "act")).toHaveLength(1);
    });

    it("does not run the same slot again when it is set a second time after it fired (I2)", async () => {
      const { clock, house } = await withClock();
      await slot(house, "job", START + 1000, { name: "once" });
      clock.advance(1000);
      await house.ended("once");
      await slot(house, "job", START + 1000, { name: "once" });
      await house.meanwhile();
      expect(house.world.of("once", "act")).toHaveLength(1);
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
      const house = new House(factory, { clock: new ManualClock(START + 2000) });
      const { acts, clock } = plan("fired");
      await Child.engine(factory, house.home, { clock, acts: [...acts, { kill: true }] }).wasKilled();
      await house.begin();
      await house.ended("fired");
      await house.crash();
      await house.meanwhile();
      expect(house.world.of("fired", "act")).toHaveLength(1);
      house.kill();
    });

    it("fires once when the process is killed as the fired turn begins", async () => {
      const house = new House(factory, { clock: new ManualClock(START + 2000) });
      await Child.engine(factory, house.home, plan("fired"), "segment.started:1").wasKilled();
      await house.begin();
      await house.ended("fired");
      await house.crash();
      await house.meanwhile();
      const outside = new World(`${house.home}/witness`);
      expect([...outside.of("fired", "act"), ...house.world.of("fired", "act")]).toHaveLength(1);
      house.kill();
    });
  });
}
