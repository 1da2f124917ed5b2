/** ENGINE-1, ENGINE-2, I1–I3: what is accepted, once, in which order, and what runs beside what. */

import { describe, expect, it } from "vitest";
import type { LaneClass, TurnId } from "../../../src/core/domain/index.ts";
import { asId } from "../../../src/core/domain/index.ts";
import { TestInstance } from "./instance.ts";
import { type EngineFactory, type Line, until } from "./world.ts";

export function orderContract(factory: EngineFactory): void {
  describe("order", () => {
    it("runs a session's turns in the order of acknowledgement, one at a time (ENGINE-2, I3)", async () => {
      const instance = await TestInstance.open(factory);
      const names = Array.from({ length: 12 }, (_, i) => `t${i}`);
      for (const name of names) await instance.accept(name, [{ step: "a" }, { loop: 2 }, { effect: "b" }, { loop: 1 }]);
      await instance.ended(...names);
      expect((await instance.ends()).map((e) => e.end)).toEqual(names);
      expect(overlaps(instance.world.lines)).toEqual([]);
    });

    it("keeps the order of calls that were made together (ENGINE-2)", async () => {
      const instance = await TestInstance.open(factory);
      const names = Array.from({ length: 8 }, (_, i) => `t${i}`);
      await Promise.all(names.map((name) => instance.accept(name, [{ step: "a" }])));
      await instance.ended(...names);
      expect((await instance.ends()).map((e) => e.end)).toEqual(names);
    });

    it("runs different sessions beside each other (ENGINE-2)", async () => {
      const instance = await TestInstance.open(factory);
      const names = ["a", "b", "c"];
      for (const name of names) await instance.accept(name, [{ gate: "all" }], { session: name });
      await until("all three run", () => instance.world.firsts("begin").length === 3);
      expect(instance.world.firsts("leave")).toEqual([]);
      instance.world.open("all");
      await instance.ended(...names);
    });

    it("takes interactive before scheduled before background inside a session, whatever came first (ENGINE-2)", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("first", [{ gate: "go" }]);
      await instance.began("first");
      const lanes: LaneClass[] = ["background", "scheduled", "interactive"];
      for (const n of [1, 2]) for (const lane of lanes) await instance.accept(`${lane}${n}`, [], { lane });
      instance.world.open("go");
      await instance.ended("background2");
      expect((await instance.ends()).map((e) => e.end)).toEqual([
        "first",
        "interactive1",
        "interactive2",
        "scheduled1",
        "scheduled2",
        "background1",
        "background2",
      ]);
    });

    it("never lets background or scheduled work delay a person in another session (ENGINE-2, EMBEDDED-3)", async () => {
      const instance = await TestInstance.open(factory, { places: { interactive: 1, scheduled: 1, background: 1 } });
      for (const n of [1, 2, 3]) {
        await instance.accept(`b${n}`, [{ gate: "b" }], { session: `b${n}`, lane: "background" });
        await instance.accept(`s${n}`, [{ gate: "s" }], { session: `s${n}`, lane: "scheduled" });
      }
      await instance.began("b1");
      await instance.began("s1");
      await instance.accept("person", [{ step: "x" }], { session: "p" });
      await instance.ended("person");
      expect(instance.world.firsts("begin")).toEqual(["b1", "s1", "person"]);
      instance.world.open("b");
      instance.world.open("s");
      await instance.ended("b1", "b2", "b3", "s1", "s2", "s3");
    });

    it("names the running turn of a session, and nobody when it is idle", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", [{ gate: "go" }], { session: "x" });
      await instance.began("a");
      const key = instance.world.of("a", "begin")[0]!.session as Parameters<typeof instance.engine.running>[0];
      expect(instance.engine.running(key)).toBe(turn);
      instance.world.open("go");
      await instance.ended("a");
      await until("the session is idle", () => instance.engine.running(key) === undefined);
    });
  });

  describe("acceptance", () => {
    it("gives the same turn for the same id in the same tick, while it runs, after its end and after a restart (ENGINE-1, I2)", async () => {
      const instance = await TestInstance.open(factory);
      const ops = [{ step: "a" }, { gate: "go" }, { effect: "b" }];
      const [first, twin] = await Promise.all([instance.accept("m", ops), instance.accept("m", ops)]);
      expect(first).toMatchObject({ duplicate: false });
      expect(twin).toEqual({ turn: first.turn, duplicate: true });
      await instance.began("m");
      expect(await instance.accept("m", ops)).toEqual({ turn: first.turn, duplicate: true });
      instance.world.open("go");
      await instance.ended("m");
      expect(await instance.accept("m", ops)).toEqual({ turn: first.turn, duplicate: true });
      await instance.restart();
      expect(await instance.accept("m", ops)).toEqual({ turn: first.turn, duplicate: true });
      await instance.crash();
      expect(await instance.accept("m", ops)).toEqual({ turn: first.turn, duplicate: true });
      await instance.meanwhile();
      expect((await instance.ends()).filter((e) => e.end === "m")).toHaveLength(1);
      expect(instance.world.of("m", "act")).toHaveLength(1);
    });

    it("writes the record with the turn, and not again for a duplicate (I1)", async () => {
      const instance = await TestInstance.open(factory);
      const m = { id: "m", session: session1, lane: "interactive" as const, body: { name: "m", ops: [] } };
      const record = (tx: Parameters<typeof instance.opened.note>[0], turn: TurnId) =>
        instance.opened.note(tx, `"${turn}"`);
      const [a, b] = await Promise.all([instance.engine.accept(m, record), instance.engine.accept(m, record)]);
      // Accepted means durable: the note is there before anybody was told.
      expect((await instance.opened.notes()).filter((n) => n === `"${a.turn}"`)).toHaveLength(1);
      expect(b.turn).toBe(a.turn);
    });

    it("takes nothing when the record is refused, and the same id may try again", async () => {
      const instance = await TestInstance.open(factory);
      const m = { id: "m", session: session1, lane: "interactive" as const, body: { name: "m", ops: [] } };
      const refused = instance.engine.accept(m, () => {
        throw new Error("no");
      });
      await expect(refused).rejects.toThrow("no");
      expect(await instance.engine.accept(m)).toMatchObject({ duplicate: false });
      await instance.ended("m");
    });

    it("has what it acknowledged after a kill in the next moment (ENGINE-1, I1)", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("m", [{ step: "a" }]);
      instance.kill();
      await instance.begin();
      expect(await instance.accept("m", [])).toEqual({ turn, duplicate: true });
      await instance.ended("m");
    });

    it("keeps order and lane class over a kill (ENGINE-2)", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("first", [{ gate: "never" }]);
      await instance.began("first");
      await instance.accept("b1", [], { lane: "background" });
      await instance.accept("i1", []);
      await instance.accept("i2", []);
      instance.kill();
      instance.world.open("never");
      await instance.begin();
      await instance.accept("i3", []);
      await instance.ended("b1", "i3");
      expect((await instance.ends()).map((e) => e.end)).toEqual(["first", "i1", "i2", "i3", "b1"]);
    });

    it("takes no message before it was started, so that none is put in the wrong order", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("old", []);
      await instance.ended("old");
      instance.kill();
      await instance.look();
      await expect(instance.accept("early", [])).rejects.toMatchObject({ code: "NOT_READY" });
      await instance.start();
      expect(await instance.accept("early", [])).toMatchObject({ duplicate: false });
      await instance.ended("early");
    });

    it("takes no message and no slot after it was stopped", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", [{ park: { on: ["x"] } }]);
      await instance.parked("a");
      await instance.engine.stop(0);
      await expect(instance.accept("b", [])).rejects.toMatchObject({ code: "NOT_READY" });
      await expect(instance.send(turn, "x", "e1")).rejects.toMatchObject({ code: "NOT_READY" });
      await expect(instance.engine.schedule(asId("s"), null)).rejects.toMatchObject({ code: "NOT_READY" });
    });

    it("lets a running segment finish while it drains, and starts nothing new (ENGINE-5)", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("a", [{ step: "x" }, { gate: "go" }, { effect: "y" }]);
      await instance.accept("b", [{ step: "x" }]);
      await instance.began("a");
      const stopped = instance.engine.stop(10_000);
      instance.world.open("go");
      await stopped;
      expect((await instance.ends()).map((e) => e.end)).toEqual(["a"]);
      expect(instance.world.of("b")).toEqual([]);
      await instance.restart();
      await instance.ended("b");
      expect(instance.world.of("a", "act")).toHaveLength(1);
    });
  });
}

const session1 = "s" as Parameters<TestInstance["engine"]["running"]>[0];

/** Segments of one session that began while another of the same life was not over. */
export function overlaps(lines: Line[]): string[] {
  const inside = new Map<string, string>();
  const found: string[] = [];
  for (const line of lines) {
    const lane = `${line.gen}/${line.session}`;
    if (line.what === "begin") {
      const other = inside.get(lane);
      if (other) found.push(`${line.name} began inside ${other}`);
      inside.set(lane, line.name);
    }
    if (line.what === "leave") inside.delete(lane);
  }
  return found;
}
