/** ENGINE-5, I8, I9: parked turns, the events that wake them, and stopping. */

import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { asId } from "../../../src/core/domain/index.ts";
import { TestInstance } from "./instance.ts";
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
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", ask(false));
      await instance.parked("a");
      expect(await instance.send(turn, "answer", "e1", { yes: true })).toBe("taken");
      const { seen } = await instance.ended("a");
      expect(seen).toEqual([
        expect.stringMatching(/^before#/),
        { event: "answer", id: "e1", value: { yes: true } },
        expect.stringMatching(/^after#/),
        { ok: "act!" },
      ]);
      expect(instance.world.of("a", "begin").map((l) => l.segment)).toEqual([0, 1]);
      expect((await instance.history({ turn })).map((e) => [e.segment, e.index, e.name])).toEqual([
        [0, 0, "before"],
        [1, 0, "after"],
        [1, 1, "act"],
      ]);
    });

    it("leaves the session usable while a turn that does not hold it waits (I8)", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", ask(false));
      await instance.parked("a");
      await instance.accept("b", [{ step: "x" }]);
      await instance.ended("b");
      await instance.send(turn, "answer", "e1");
      await instance.ended("a");
      expect((await instance.ends()).map((e) => e.end)).toEqual(["b", "a"]);
    });

    it("keeps everybody else out while a turn that holds its session waits, also over a kill (EMBEDDED-4)", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", ask(true));
      await instance.parked("a");
      await instance.accept("b", [{ step: "x" }]);
      await instance.meanwhile();
      expect(instance.world.of("b")).toEqual([]);
      await instance.crash();
      await instance.meanwhile();
      expect(instance.world.of("b")).toEqual([]);
      await instance.send(turn, "answer", "e1");
      await instance.ended("a", "b");
      expect((await instance.ends()).filter((e) => /^[ab]$/.test(e.end)).map((e) => e.end)).toEqual(["a", "b"]);
    });

    it("keeps holding the session when it is killed between the answer and the next segment (EMBEDDED-4)", async () => {
      const instance = await TestInstance.open(factory, {
        crash: {
          at(point) {
            if (instance.world.gen > 0 || point !== "resume.committed") return;
            instance.kill();
            throw new Error("killed");
          },
        },
      });
      const { turn } = await instance.accept("a", ask(true));
      await instance.parked("a");
      await instance.accept("b", [{ step: "x" }]);
      await instance.send(turn, "answer", "e1").catch(() => {});
      expect(instance.world.gen).toBe(1);
      await instance.begin();
      await instance.ended("a", "b");
      expect((await instance.ends()).map((e) => e.end)).toEqual(["a", "b"]);
    });

    it("keeps holding the session when the segment after the answer throws (EMBEDDED-4)", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", [{ park: { on: ["answer"], holds: true } }, { fail: "boom" }]);
      await instance.parked("a");
      await instance.accept("b", [{ step: "x" }]);
      await instance.send(turn, "answer", "e1");
      await instance.ended("a", "b");
      expect((await instance.ends()).map((e) => e.end)).toEqual(["a", "b"]);
    });

    for (const holds of [true, false]) {
      it(`does not lose an event that came while the turn still ran (${holds ? "holding" : "not holding"})`, async () => {
        const instance = await TestInstance.open(factory);
        const { turn } = await instance.accept("a", [{ gate: "go" }, ...ask(holds, ["two", "one"])]);
        await instance.began("a");
        expect(await instance.send(turn, "two", "e2", 2)).toBe("taken");
        expect(await instance.send(turn, "one", "e1", 1)).toBe("taken");
        instance.world.open("go");
        const { seen } = await instance.ended("a");
        // In order of arrival, not of name.
        expect(seen.slice(1, 3)).toEqual([
          { event: "two", id: "e2", value: 2 },
          { event: "one", id: "e1", value: 1 },
        ]);
      });
    }

    it("does not lose an event that came before the turn began (I8)", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("first", [{ gate: "go" }]);
      const { turn } = await instance.accept("a", ask(false));
      expect(await instance.send(turn, "answer", "e1")).toBe("taken");
      await instance.crash();
      instance.world.open("go");
      const { seen } = await instance.ended("a");
      expect(seen[1]).toEqual({ event: "answer", id: "e1", value: null });
    });

    it("takes the first of two events, also in the same tick; the other is late, the same again is taken (I9)", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", ask(false));
      await instance.parked("a");
      const said = await Promise.all([
        instance.send(turn, "answer", "e1", "yes"),
        instance.send(turn, "answer", "e2", "no"),
        instance.send(turn, "answer", "e1", "yes"),
      ]);
      expect(said).toEqual(["taken", "late", "taken"]);
      const { seen } = await instance.ended("a");
      expect(seen[1]).toEqual({ event: "answer", id: "e1", value: "yes" });
      expect(await instance.send(turn, "answer", "e2", "no")).toBe("late");
      await instance.crash();
      expect(await instance.send(turn, "answer", "e1", "yes")).toBe("taken");
      expect(await instance.send(turn, "answer", "e3", "no")).toBe("late");
      await instance.meanwhile();
      expect(instance.world.of("a", "act")).toHaveLength(1);
    });

    it("writes the record of an event only when it is taken", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", ask(false));
      await instance.parked("a");
      const answer = (id: string) =>
        instance.engine.resume(turn, { id, name: "answer", value: null }, (tx) =>
          instance.opened.note(tx, `{"by":"${id}"}`),
        );
      expect(await answer("e1")).toBe("taken");
      expect((await instance.opened.notes()).filter((n) => n.includes('"by"'))).toEqual(['{"by":"e1"}']);
      expect(await answer("e2")).toBe("late");
      expect(await answer("e1")).toBe("taken");
      expect((await instance.opened.notes()).filter((n) => n.includes('"by"'))).toEqual(['{"by":"e1"}']);
    });

    it("says late to what a parked turn does not wait for, and to what comes after the end; unknown to no turn", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", ask(false));
      await instance.parked("a");
      expect(await instance.send(turn, "other", "o1")).toBe("late");
      await instance.meanwhile();
      expect(instance.world.of("a", "begin")).toHaveLength(1);
      await instance.send(turn, "answer", "e1");
      await instance.ended("a");
      expect(await instance.send(turn, "fresh", "f1")).toBe("late");
      expect(await instance.cancel(turn)).toBe("late");
      expect(await instance.send(asId("t_nobody"), "answer", "e1")).toBe("unknown");
      await instance.meanwhile();
      expect(instance.world.of("a", "begin")).toHaveLength(2);
    });

    it("keeps a parked turn parked over restart and kill, and runs none of its code (I8)", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", ask(false));
      await instance.parked("a");
      await instance.restart();
      await instance.crash();
      await instance.meanwhile();
      expect(instance.world.of("a", "begin")).toHaveLength(1);
      expect((await instance.history({ open: true })).map((e) => e.turn)).toEqual([turn]);
      await instance.send(turn, "answer", "e1");
      const { seen } = await instance.ended("a");
      expect(seen).toHaveLength(4);
      expect(instance.world.of("a", "step")).toHaveLength(2);
    });

    it("parks as often as it likes", async () => {
      const instance = await TestInstance.open(factory);
      const names = ["one", "two", "three"];
      const { turn } = await instance.accept(
        "a",
        names.flatMap((name): Op[] => [{ step: name }, { park: { on: [name], holds: name === "two" } }]),
      );
      for (const [i, name] of names.entries()) {
        await instance.parked("a", i + 1);
        await instance.crash();
        expect(await instance.send(turn, name, name)).toBe("taken");
      }
      const { seen } = await instance.ended("a");
      expect(seen.filter((s) => typeof s === "object")).toHaveLength(3);
      expect(instance.world.of("a", "step").map((l) => l.of)).toEqual(names);
    });
  });

  describe("cancel", () => {
    it("stops a queued turn before it does anything, in its place in the queue", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("first", [{ gate: "go" }]);
      const { turn } = await instance.accept("a", [{ step: "x" }, { effect: "y" }]);
      expect(await instance.cancel(turn)).toBe("taken");
      instance.world.open("go");
      expect(await instance.ended("a")).toMatchObject({ how: "stopped", seen: [] });
      expect(instance.world.of("a", "act")).toEqual([]);
      expect(instance.world.of("a", "step")).toEqual([]);
    });

    it("stops a running turn at the next step, keeps what was done, and the session goes on", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", [{ step: "x" }, { gate: "go" }, { effect: "y" }]);
      await instance.accept("b", [{ step: "x" }]);
      await until("x ran", () => instance.world.of("a", "step").length === 1);
      expect(await instance.cancel(turn, "c1")).toBe("taken");
      expect(await instance.cancel(turn, "c2")).toBe("late");
      instance.world.open("go");
      expect(await instance.ended("a")).toMatchObject({ how: "stopped", seen: [expect.stringMatching(/^x#/)] });
      expect(instance.world.of("a", "act")).toEqual([]);
      await instance.ended("b");
    });

    it("tells the running code at once through the stopping signal, not through the fence", async () => {
      const instance = await TestInstance.open(factory);
      instance.kill();
      await instance.look();
      const heard: string[] = [];
      let fence: AbortSignal | undefined;
      await instance.engine.start({
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
      const { turn } = await instance.engine.accept({ id: "a", session: asId("s"), lane: "interactive", body: null });
      await until("it runs", () => instance.engine.running(asId("s")) === turn);
      await instance.cancel(turn);
      await until("it was told", () => heard.length === 2);
      expect(heard.sort()).toEqual(["halt", "stopping"]);
      // What lives as long as the process keeps nothing of a turn that is over, but for this test's own listener.
      await until("it is over", () => instance.engine.running(asId("s")) === undefined);
      expect(getEventListeners(fence!, "abort")).toHaveLength(1);
    });

    for (const holds of [true, false]) {
      it(`wakes a parked turn to stop (${holds ? "holding" : "not holding"}), also when nobody waits for it by name`, async () => {
        const instance = await TestInstance.open(factory);
        const { turn } = await instance.accept("a", ask(holds));
        await instance.parked("a");
        await instance.accept("b", [{ step: "x" }]);
        expect(await instance.cancel(turn)).toBe("taken");
        expect(await instance.ended("a")).toMatchObject({ how: "stopped" });
        expect(instance.world.of("a", "act")).toEqual([]);
        await instance.ended("b");
        expect(await instance.send(turn, "answer", "e1")).toBe("late");
      });
    }

    it("still stops the turn after a kill between the request and its effect", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", [{ step: "x" }, { gate: "go" }, { effect: "y" }]);
      await until("x ran", () => instance.world.of("a", "step").length === 1);
      await instance.cancel(turn);
      await instance.crash();
      instance.world.open("go");
      // What was recorded is replayed, nothing new is begun.
      expect(await instance.ended("a")).toMatchObject({ how: "stopped", seen: [expect.stringMatching(/^x#/)] });
      expect(instance.world.of("a", "act")).toEqual([]);
    });

    it("stops a turn that parks after the request", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", [
        { gate: "go" },
        { park: { on: ["answer"], holds: true } },
        { step: "y" },
      ]);
      await instance.began("a");
      await instance.cancel(turn);
      instance.world.open("go");
      expect(await instance.ended("a")).toMatchObject({ how: "stopped" });
    });

    it("lets go of the session when the app does not handle the stop", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("first", [{ gate: "go" }]);
      const { turn } = await instance.accept("a", [{ step: "x" }], { deaf: true, onBroken: "throw" });
      await instance.accept("b", [{ step: "x" }]);
      await instance.cancel(turn);
      instance.world.open("go");
      await instance.ended("b");
      expect(await instance.send(turn, "x", "e")).toBe("late");
    });
  });
}
