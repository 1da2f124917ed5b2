/** ENGINE-1, ENGINE-2, I1–I3: what is accepted, once, in which order, and what runs beside what. */

import { describe, expect, it } from "vitest";
import type { LaneClass, TurnId } from "../../../src/core/domain/index.ts";
import { asId } from "../../../src/core/domain/index.ts";
import { House } from "./house.ts";
import { type EngineFactory, type Line, until } from "./world.ts";

export function orderContract(factory: EngineFactory): void {
  describe("order", () => {
    it("runs a session's turns in the order of acknowledgement, one at a time (ENGINE-2, I3)", async () => {
      const house = await House.open(factory);
      const names = Array.from({ length: 12 }, (_, i) => `t${i}`);
      for (const name of names) await house.accept(name, [{ step: "a" }, { loop: 2 }, { effect: "b" }, { loop: 1 }]);
      await house.ended(...names);
      expect((await house.ends()).map((e) => e.end)).toEqual(names);
      expect(overlaps(house.world.lines)).toEqual([]);
    });

    it("keeps the order of calls that were made together (ENGINE-2)", async () => {
      const house = await House.open(factory);
      const names = Array.from({ length: 8 }, (_, i) => `t${i}`);
      await Promise.all(names.map((name) => house.accept(name, [{ step: "a" }])));
      await house.ended(...names);
      expect((await house.ends()).map((e) => e.end)).toEqual(names);
    });

    it("runs different sessions beside each other (ENGINE-2)", async () => {
      const house = await House.open(factory);
      const names = ["a", "b", "c"];
      for (const name of names) await house.accept(name, [{ gate: "all" }], { session: name });
      await until("all three run", () => house.world.firsts("begin").length === 3);
      expect(house.world.firsts("leave")).toEqual([]);
      house.world.open("all");
      await house.ended(...names);
    });

    it("takes interactive before scheduled before background inside a session, whatever came first (ENGINE-2)", async () => {
      const house = await House.open(factory);
      await house.accept("first", [{ gate: "go" }]);
      await house.began("first");
      const lanes: LaneClass[] = ["background", "scheduled", "interactive"];
      for (const n of [1, 2]) for (const lane of lanes) await house.accept(`${lane}${n}`, [], { lane });
      house.world.open("go");
      await house.ended("background2");
      expect((await house.ends()).map((e) => e.end)).toEqual([
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
      const house = await House.open(factory, { places: { interactive: 1, scheduled: 1, background: 1 } });
      for (const n of [1, 2, 3]) {
        await house.accept(`b${n}`, [{ gate: "b" }], { session: `b${n}`, lane: "background" });
        await house.accept(`s${n}`, [{ gate: "s" }], { session: `s${n}`, lane: "scheduled" });
      }
      await house.began("b1");
      await house.began("s1");
      await house.accept("person", [{ step: "x" }], { session: "p" });
      await house.ended("person");
      expect(house.world.firsts("begin")).toEqual(["b1", "s1", "person"]);
      house.world.open("b");
      house.world.open("s");
      await house.ended("b1", "b2", "b3", "s1", "s2", "s3");
    });

    it("names the running turn of a session, and nobody when it is idle", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", [{ gate: "go" }], { session: "x" });
      await house.began("a");
      const key = house.world.of("a", "begin")[0]!.session as Parameters<typeof house.engine.running>[0];
      expect(house.engine.running(key)).toBe(turn);
      house.world.open("go");
      await house.ended("a");
      await until("the session is idle", () => house.engine.running(key) === undefined);
    });
  });

  describe("acceptance", () => {
    it("gives the same turn for the same id in the same tick, while it runs, after its end and after a restart (ENGINE-1, I2)", async () => {
      const house = await House.open(factory);
      const ops = [{ step: "a" }, { gate: "go" }, { effect: "b" }];
      const [first, twin] = await Promise.all([house.accept("m", ops), house.accept("m", ops)]);
      expect(first).toMatchObject({ duplicate: false });
      expect(twin).toEqual({ turn: first.turn, duplicate: true });
      await house.began("m");
      expect(await house.accept("m", ops)).toEqual({ turn: first.turn, duplicate: true });
      house.world.open("go");
      await house.ended("m");
      expect(await house.accept("m", ops)).toEqual({ turn: first.turn, duplicate: true });
      await house.restart();
      expect(await house.accept("m", ops)).toEqual({ turn: first.turn, duplicate: true });
      await house.crash();
      expect(await house.accept("m", ops)).toEqual({ turn: first.turn, duplicate: true });
      await house.meanwhile();
      expect((await house.ends()).filter((e) => e.end === "m")).toHaveLength(1);
      expect(house.world.of("m", "act")).toHaveLength(1);
    });

    it("writes the record with the turn, and not again for a duplicate (I1)", async () => {
      const house = await House.open(factory);
      const m = { id: "m", session: session1, lane: "interactive" as const, body: { name: "m", ops: [] } };
      const record = (tx: Parameters<typeof house.opened.note>[0], turn: TurnId) => house.opened.note(tx, `"${turn}"`);
      const [a, b] = await Promise.all([house.engine.accept(m, record), house.engine.accept(m, record)]);
      // Accepted means durable: the note is there before anybody was told.
      expect((await house.opened.notes()).filter((n) => n === `"${a.turn}"`)).toHaveLength(1);
      expect(b.turn).toBe(a.turn);
    });

    it("takes nothing when the record is refused, and the same id may try again", async () => {
      const house = await House.open(factory);
      const m = { id: "m", session: session1, lane: "interactive" as const, body: { name: "m", ops: [] } };
      const refused = house.engine.accept(m, () => {
        throw new Error("no");
      });
      await expect(refused).rejects.toThrow("no");
      expect(await house.engine.accept(m)).toMatchObject({ duplicate: false });
      await house.ended("m");
    });

    it("has what it acknowledged after a kill in the next moment (ENGINE-1, I1)", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("m", [{ step: "a" }]);
      house.kill();
      await house.begin();
      expect(await house.accept("m", [])).toEqual({ turn, duplicate: true });
      await house.ended("m");
    });

    it("keeps order and lane class over a kill (ENGINE-2)", async () => {
      const house = await House.open(factory);
      await house.accept("first", [{ gate: "never" }]);
      await house.began("first");
      await house.accept("b1", [], { lane: "background" });
      await house.accept("i1", []);
      await house.accept("i2", []);
      house.kill();
      house.world.open("never");
      await house.begin();
      await house.accept("i3", []);
      await house.ended("b1", "i3");
      expect((await house.ends()).map((e) => e.end)).toEqual(["first", "i1", "i2", "i3", "b1"]);
    });

    it("takes no message before it was started, so that none is put in the wrong order", async () => {
      const house = await House.open(factory);
      await house.accept("old", []);
      await house.ended("old");
      house.kill();
      await house.look();
      await expect(house.accept("early", [])).rejects.toMatchObject({ code: "NOT_READY" });
      await house.start();
      expect(await house.accept("early", [])).toMatchObject({ duplicate: false });
      await house.ended("early");
    });

    it("takes no message and no slot after it was stopped", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", [{ park: { on: ["x"] } }]);
      await house.parked("a");
      await house.engine.stop(0);
      await expect(house.accept("b", [])).rejects.toMatchObject({ code: "NOT_READY" });
      await expect(house.send(turn, "x", "e1")).rejects.toMatchObject({ code: "NOT_READY" });
      await expect(house.engine.schedule(asId("s"), null)).rejects.toMatchObject({ code: "NOT_READY" });
    });

    it("lets a running segment finish while it drains, and starts nothing new (ENGINE-5)", async () => {
      const house = await House.open(factory);
      await house.accept("a", [{ step: "x" }, { gate: "go" }, { effect: "y" }]);
      await house.accept("b", [{ step: "x" }]);
      await house.began("a");
      const stopped = house.engine.stop(10_000);
      house.world.open("go");
      await stopped;
      expect((await house.ends()).map((e) => e.end)).toEqual(["a"]);
      expect(house.world.of("b")).toEqual([]);
      await house.restart();
      await house.ended("b");
      expect(house.world.of("a", "act")).toHaveLength(1);
    });
  });
}

const session1 = "s" as Parameters<House["engine"]["running"]>[0];

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
