/** ENGINE-5, I8, I9: parked turns, the events that wake them, and stopping. */

import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { asId } from "../../../src/core/domain/index.ts";
import { House } from "./house.ts";
import { type EngineFactory, type Op, until } from "./world.ts";

const ask = (holds: boolean, on = ["answer"]): Op[] => [
  { step: "before" },
  { park: { on, holds } },
  { step: "after" },
  { effect: "act" },
];

export function parkContract(factory: EngineFactory): void {
  describe("park and resume", () => {
    it("wakes a parked turn with the event and the state it kept, as the next segment (ENGINE-5)", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", ask(false));
      await house.parked("a");
      expect(await house.send(turn, "answer", "e1", { yes: true })).toBe("taken");
      const { seen } = await house.ended("a");
      expect(seen).toEqual([
        expect.stringMatching(/^before#/),
        { event: "answer", id: "e1", value: { yes: true } },
        expect.stringMatching(/^after#/),
        { ok: "act!" },
      ]);
      expect(house.world.of("a", "begin").map((l) => l.segment)).toEqual([0, 1]);
      expect((await house.history({ turn })).map((e) => [e.segment, e.index, e.name])).toEqual([
        [0, 0, "before"],
        [1, 0, "after"],
        [1, 1, "act"],
      ]);
    });

    it("leaves the session usable while a turn that does not hold it waits (I8)", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", ask(false));
      await house.parked("a");
      await house.accept("b", [{ step: "x" }]);
      await house.ended("b");
      await house.send(turn, "answer", "e1");
      await house.ended("a");
      expect((await house.ends()).map((e) => e.end)).toEqual(["b", "a"]);
    });

    it("keeps everybody else out while a turn that holds its session waits, also over a kill (EMBEDDED-4)", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", ask(true));
      await house.parked("a");
      await house.accept("b", [{ step: "x" }]);
      await house.meanwhile();
      expect(house.world.of("b")).toEqual([]);
      await house.crash();
      await house.meanwhile();
      expect(house.world.of("b")).toEqual([]);
      await house.send(turn, "answer", "e1");
      await house.ended("a", "b");
      expect((await house.ends()).filter((e) => /^[ab]$/.test(e.end)).map((e) => e.end)).toEqual(["a", "b"]);
    });

    it("keeps holding the session when it is killed between the answer and the next segment (EMBEDDED-4)", async () => {
      const house = await House.open(factory, {
        crash: {
          at(point) {
            if (house.world.gen > 0 || point !== "resume.committed") return;
            house.kill();
            throw new Error("killed");
          },
        },
      });
      const { turn } = await house.accept("a", ask(true));
      await house.parked("a");
      await house.accept("b", [{ step: "x" }]);
      await house.send(turn, "answer", "e1").catch(() => {});
      expect(house.world.gen).toBe(1);
      await house.begin();
      await house.ended("a", "b");
      expect((await house.ends()).map((e) => e.end)).toEqual(["a", "b"]);
    });

    it("keeps holding the session when the segment after the answer throws (EMBEDDED-4)", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", [{ park: { on: ["answer"], holds: true } }, { fail: "boom" }]);
      await house.parked("a");
      await house.accept("b", [{ step: "x" }]);
      await house.send(turn, "answer", "e1");
      await house.ended("a", "b");
      expect((await house.ends()).map((e) => e.end)).toEqual(["a", "b"]);
    });

    for (const holds of [true, false]) {
      it(`does not lose an event that came while the turn still ran (${holds ? "holding" : "not holding"})`, async () => {
        const house = await House.open(factory);
        const { turn } = await house.accept("a", [{ gate: "go" }, ...ask(holds, ["two", "one"])]);
        await house.began("a");
        expect(await house.send(turn, "two", "e2", 2)).toBe("taken");
        expect(await house.send(turn, "one", "e1", 1)).toBe("taken");
        house.world.open("go");
        const { seen } = await house.ended("a");
        // In order of arrival, not of name.
        expect(seen.slice(1, 3)).toEqual([
          { event: "two", id: "e2", value: 2 },
          { event: "one", id: "e1", value: 1 },
        ]);
      });
    }

    it("does not lose an event that came before the turn began (I8)", async () => {
      const house = await House.open(factory);
      await house.accept("first", [{ gate: "go" }]);
      const { turn } = await house.accept("a", ask(false));
      expect(await house.send(turn, "answer", "e1")).toBe("taken");
      await house.crash();
      house.world.open("go");
      const { seen } = await house.ended("a");
      expect(seen[1]).toEqual({ event: "answer", id: "e1", value: null });
    });

    it("takes the first of two events, also in the same tick; the other is late, the same again is taken (I9)", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", ask(false));
      await house.parked("a");
      const said = await Promise.all([
        house.send(turn, "answer", "e1", "yes"),
        house.send(turn, "answer", "e2", "no"),
        house.send(turn, "answer", "e1", "yes"),
      ]);
      expect(said).toEqual(["taken", "late", "taken"]);
      const { seen } = await house.ended("a");
      expect(seen[1]).toEqual({ event: "answer", id: "e1", value: "yes" });
      expect(await house.send(turn, "answer", "e2", "no")).toBe("late");
      await house.crash();
      expect(await house.send(turn, "answer", "e1", "yes")).toBe("taken");
      expect(await house.send(turn, "answer", "e3", "no")).toBe("late");
      await house.meanwhile();
      expect(house.world.of("a", "act")).toHaveLength(1);
    });

    it("writes the record of an event only when it is taken", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", ask(false));
      await house.parked("a");
      const answer = (id: string) =>
        house.engine.resume(turn, { id, name: "answer", value: null }, (tx) => house.opened.note(tx, `{"by":"${id}"}`));
      expect(await answer("e1")).toBe("taken");
      expect((await house.opened.notes()).filter((n) => n.includes('"by"'))).toEqual(['{"by":"e1"}']);
      expect(await answer("e2")).toBe("late");
      expect(await answer("e1")).toBe("taken");
      expect((await house.opened.notes()).filter((n) => n.includes('"by"'))).toEqual(['{"by":"e1"}']);
    });

    it("says late to what a parked turn does not wait for, and to what comes after the end; unknown to no turn", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", ask(false));
      await house.parked("a");
      expect(await house.send(turn, "other", "o1")).toBe("late");
      await house.meanwhile();
      expect(house.world.of("a", "begin")).toHaveLength(1);
      await house.send(turn, "answer", "e1");
      await house.ended("a");
      expect(await house.send(turn, "fresh", "f1")).toBe("late");
      expect(await house.cancel(turn)).toBe("late");
      expect(await house.send(asId("t_nobody"), "answer", "e1")).toBe("unknown");
      await house.meanwhile();
      expect(house.world.of("a", "begin")).toHaveLength(2);
    });

    it("keeps a parked turn parked over restart and kill, and runs none of its code (I8)", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", ask(false));
      await house.parked("a");
      await house.restart();
      await house.crash();
      await house.meanwhile();
      expect(house.world.of("a", "begin")).toHaveLength(1);
      expect((await house.history({ open: true })).map((e) => e.turn)).toEqual([turn]);
      await house.send(turn, "answer", "e1");
      const { seen } = await house.ended("a");
      expect(seen).toHaveLength(4);
      expect(house.world.of("a", "step")).toHaveLength(2);
    });

    it("parks as often as it likes", async () => {
      const house = await House.open(factory);
      const names = ["one", "two", "three"];
      const { turn } = await house.accept(
        "a",
        names.flatMap((name): Op[] => [{ step: name }, { park: { on: [name], holds: name === "two" } }]),
      );
      for (const [i, name] of names.entries()) {
        await house.parked("a", i + 1);
        await house.crash();
        expect(await house.send(turn, name, name)).toBe("taken");
      }
      const { seen } = await house.ended("a");
      expect(seen.filter((s) => typeof s === "object")).toHaveLength(3);
      expect(house.world.of("a", "step").map((l) => l.of)).toEqual(names);
    });
  });

  describe("cancel", () => {
    it("stops a queued turn before it does anything, in its place in the queue", async () => {
      const house = await House.open(factory);
      await house.accept("first", [{ gate: "go" }]);
      const { turn } = await house.accept("a", [{ step: "x" }, { effect: "y" }]);
      expect(await house.cancel(turn)).toBe("taken");
      house.world.open("go");
      expect(await house.ended("a")).toMatchObject({ how: "stopped", seen: [] });
      expect(house.world.of("a", "act")).toEqual([]);
      expect(house.world.of("a", "step")).toEqual([]);
    });

    it("stops a running turn at the next step, keeps what was done, and the session goes on", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", [{ step: "x" }, { gate: "go" }, { effect: "y" }]);
      await house.accept("b", [{ step: "x" }]);
      await until("x ran", () => house.world.of("a", "step").length === 1);
      expect(await house.cancel(turn, "c1")).toBe("taken");
      expect(await house.cancel(turn, "c2")).toBe("late");
      house.world.open("go");
      expect(await house.ended("a")).toMatchObject({ how: "stopped", seen: [expect.stringMatching(/^x#/)] });
      expect(house.world.of("a", "act")).toEqual([]);
      await house.ended("b");
    });

    it("tells the running code at once through the stopping signal, not through the fence", async () => {
      const house = await House.open(factory);
      house.kill();
      await house.look();
      const heard: string[] = [];
      let fence: AbortSignal | undefined;
      await house.engine.start({
        version: "v",
        async segment(ctx) {
          fence = ctx.signal;
          ctx.signal.addEventListener("abort", () => heard.push("signal"));
          ctx.halt.addEventListener("abort", () => heard.push("halt"));
          await new Promise<void>((resolve) =>
            ctx.stopping.addEventListener("abort", () => {
              heard.push("stopping");
              resolve();
            }),
          );
          return { end: null };
        },
      });
      const { turn } = await house.engine.accept({ id: "a", session: asId("s"), lane: "interactive", body: null });
      await until("it runs", () => house.engine.running(asId("s")) === turn);
      await house.cancel(turn);
      await until("it was told", () => heard.length === 2);
      expect(heard.sort()).toEqual(["halt", "stopping"]);
      // What lives as long as the process keeps nothing of a turn that is over, but for this test's own listener.
      await until("it is over", () => house.engine.running(asId("s")) === undefined);
      expect(getEventListeners(fence!, "abort")).toHaveLength(1);
    });

    for (const holds of [true, false]) {
      it(`wakes a parked turn to stop (${holds ? "holding" : "not holding"}), also when nobody waits for it by name`, async () => {
        const house = await House.open(factory);
        const { turn } = await house.accept("a", ask(holds));
        await house.parked("a");
        await house.accept("b", [{ step: "x" }]);
        expect(await house.cancel(turn)).toBe("taken");
        expect(await house.ended("a")).toMatchObject({ how: "stopped" });
        expect(house.world.of("a", "act")).toEqual([]);
        await house.ended("b");
        expect(await house.send(turn, "answer", "e1")).toBe("late");
      });
    }

    it("still stops the turn after a kill between the request and its effect", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", [{ step: "x" }, { gate: "go" }, { effect: "y" }]);
      await until("x ran", () => house.world.of("a", "step").length === 1);
      await house.cancel(turn);
      await house.crash();
      house.world.open("go");
      // What was recorded is replayed, nothing new is begun.
      expect(await house.ended("a")).toMatchObject({ how: "stopped", seen: [expect.stringMatching(/^x#/)] });
      expect(house.world.of("a", "act")).toEqual([]);
    });

    it("stops a turn that parks after the request", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", [
        { gate: "go" },
        { park: { on: ["answer"], holds: true } },
        { step: "y" },
      ]);
      await house.began("a");
      await house.cancel(turn);
      house.world.open("go");
      expect(await house.ended("a")).toMatchObject({ how: "stopped" });
    });

    it("lets go of the session when the app does not handle the stop", async () => {
      const house = await House.open(factory);
      await house.accept("first", [{ gate: "go" }]);
      const { turn } = await house.accept("a", [{ step: "x" }], { deaf: true, onBroken: "throw" });
      await house.accept("b", [{ step: "x" }]);
      await house.cancel(turn);
      house.world.open("go");
      await house.ended("b");
      expect(await house.send(turn, "x", "e")).toBe("late");
    });
  });
}
