/** ENGINE-3, ENGINE-4, ENGINE-6, I4: steps and effects, and what a kill leaves of them. */

import { describe, expect, it } from "vitest";
import type { EngineApp } from "../../../src/core/contracts/index.ts";
import type { Json } from "../../../src/core/domain/index.ts";
import { asId, type SessionKey } from "../../../src/core/domain/index.ts";
import { ManualClock } from "../../../src/core/kit/index.ts";
import { House } from "./house.ts";
import { type EngineFactory, type Op, type Repeat, until } from "./world.ts";

export function stepContract(factory: EngineFactory): void {
  describe("steps and effects", () => {
    it("never runs a finished step or effect again, and replays what it returned (ENGINE-3, I4)", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("a", [{ step: "x" }, { effect: "y" }, { step: "z" }, { gate: "go" }]);
      // A step is durable with the next thing that waits for a commit; another turn's acceptance is one.
      await until("z ran", () => house.world.of("a", "step").length === 2);
      await house.meanwhile();
      const before = await house.history({ turn });
      expect(before.map((e) => [e.index, e.kind, e.name, e.state])).toEqual([
        [0, "step", "x", "done"],
        [1, "effect", "y", "done"],
        [2, "step", "z", "done"],
      ]);
      house.world.open("go");
      await house.crash();
      const { seen } = await house.ended("a");
      expect(seen).toEqual([before[0]!.payload, { ok: "y!" }, before[2]!.payload]);
      expect(house.world.of("a", "step")).toHaveLength(2);
      expect(house.world.of("a", "act")).toHaveLength(1);
    });

    it("has an effect's intent durable before it acts (ENGINE-4)", async () => {
      const house = await House.open(factory);
      const found: Json[] = [];
      house.kill();
      await house.look();
      const app: EngineApp = {
        version: "probe",
        async segment(ctx) {
          await ctx.effect(
            "act",
            async () => {
              // The disk is looked at from another life: only what is durable is there.
              house.kill();
              await house.look();
              for await (const e of house.engine.history({ turn: ctx.turn })) found.push([e.name, e.state]);
              return null;
            },
            { repeat: "never" },
          );
          return { end: null };
        },
      };
      await house.engine.start(app);
      void house.engine.accept({ id: "a", session: asId("s"), lane: "interactive", body: null }).catch(() => {});
      await until("the act looked", () => found.length > 0);
      expect(found).toEqual([["act", "intent"]]);
    });

    const rules: { repeat: Repeat; probe?: "witness" | "sure" | "blank"; acted: boolean; as: string; acts: number }[] =
      [
        { repeat: "never", acted: true, as: "unknown", acts: 1 },
        { repeat: "never", acted: false, as: "unknown", acts: 0 },
        { repeat: "never", probe: "blank", acted: true, as: "unknown", acts: 1 },
        { repeat: "never", probe: "witness", acted: true, as: "probed", acts: 1 },
        { repeat: "never", probe: "witness", acted: false, as: "unknown", acts: 0 },
        { repeat: "never", probe: "sure", acted: true, as: "probed", acts: 1 },
        { repeat: "never", probe: "sure", acted: false, as: "ok", acts: 1 },
        { repeat: "with-key", acted: true, as: "ok", acts: 2 },
        { repeat: "with-key", acted: false, as: "ok", acts: 1 },
        { repeat: "with-key", probe: "witness", acted: true, as: "probed", acts: 1 },
        { repeat: "with-key", probe: "blank", acted: true, as: "ok", acts: 2 },
        { repeat: "safe", acted: true, as: "ok", acts: 2 },
        { repeat: "safe", acted: false, as: "ok", acts: 1 },
      ];
    for (const rule of rules) {
      const { repeat, probe, acted, as, acts } = rule;
      const title = `${repeat}${probe ? ` with a probe (${probe})` : ""}, killed ${acted ? "after" : "before"} the act`;
      it(`settles an intent without a result as ${as}: ${title} (ENGINE-4, I4)`, async () => {
        // The first life dies at the point; the crash object ends the life instead of this process.
        const house = new House(factory, {
          crash: {
            at(point) {
              if (house.world.gen > 0 || point !== (acted ? "effect.acted" : "effect.intended")) return;
              house.kill();
              throw new Error("killed");
            },
          },
        });
        await house.begin();
        const op: Op = { effect: "y", repeat, ...(probe ? { probe } : {}) };
        const { turn } = await house.accept("a", [{ step: "x" }, op, { step: "z" }]);
        await until("the kill", () => house.world.gen === 1);
        await house.begin();
        const { seen } = await house.ended("a");
        const key = (await house.history({ turn }))[1]!;
        const result = seen[1] as { ok?: string; unknown?: true; key?: string };
        if (as === "unknown") expect(result).toEqual({ unknown: true, key: expect.any(String) });
        else expect(result).toEqual({ ok: as === "probed" ? "y?" : "y!" });
        expect(key.state).toBe(as === "unknown" ? "unknown" : "done");
        const made = house.world.of("a", "act");
        expect(made).toHaveLength(acts);
        // The far side can de-duplicate: the key is the same on every try.
        expect(new Set(made.map((l) => l.key)).size).toBeLessThanOrEqual(1);
        // And once settled it stays so.
        await house.crash();
        await house.meanwhile();
        expect(house.world.of("a", "act")).toHaveLength(acts);
        house.kill();
      });
    }

    it("has no intent while it waits for what it needs: killed there, it runs in the next life (ENGINE-4, I4)", async () => {
      const house = new House(factory, {
        crash: {
          at(point) {
            if (house.world.gen > 0 || point !== "effect.ready") return;
            house.kill();
            throw new Error("killed");
          },
        },
      });
      await house.begin();
      const { turn } = await house.accept("a", [{ effect: "y", repeat: "never", probe: "blank" }]);
      await until("the kill", () => house.world.gen === 1);
      await house.look();
      expect(await house.history({ turn })).toEqual([]);
      house.kill();
      await house.begin();
      const { seen } = await house.ended("a");
      expect(seen).toEqual([{ ok: "y!" }]);
      expect(house.world.of("a", "act")).toHaveLength(1);
      expect(house.world.of("a", "probe")).toEqual([]);
      house.kill();
    });

    it("takes what the wait came to as the result when it may not act, and tells when a result is durable", async () => {
      const house = await House.open(factory);
      house.kill();
      await house.look();
      const order: string[] = [];
      const settled = (key: string) => order.push(`settled ${key.split(".").at(-1)}`);
      const act = (name: string) => async () => {
        order.push(`act ${name}`);
        return name;
      };
      let results: Json[] = [];
      await house.engine.start({
        version: "v",
        async segment(ctx) {
          const ready = async () => "busy";
          const one = await ctx.effect("one", act("one"), { repeat: "never", ready, settled });
          const two = await ctx.effect("two", act("two"), { repeat: "never", ready: async () => undefined, settled });
          results = [one, two] as unknown as Json[];
          return { end: null };
        },
      });
      const { turn } = await house.engine.accept({ id: "a", session: asId("s"), lane: "interactive", body: null });
      await until("both are settled", () => order.length === 3);
      expect(results).toEqual([{ ok: "busy" }, { ok: "two" }]);
      expect(order).toEqual(["settled 0", "act two", "settled 1"]);
      const kept = await house.history({ turn });
      expect(kept.map((e) => [e.name, e.state])).toEqual([
        ["one", "done"],
        ["two", "done"],
      ]);
    });

    it("does not act when it was stopped while it asked the far side (I11)", async () => {
      const house = new House(factory, {
        crash: {
          at(point) {
            if (house.world.gen > 0 || point !== "effect.intended") return;
            house.kill();
            throw new Error("killed");
          },
        },
      });
      await house.begin();
      const { turn } = await house.accept("a", [{ effect: "y", repeat: "with-key", probe: "blank" }]);
      await until("the kill", () => house.world.gen === 1);
      await house.look();
      let acted = 0;
      let asked = false;
      await house.engine.start({
        version: "v",
        async segment(ctx) {
          const act = async () => {
            acted++;
            return "y!";
          };
          const probe = async () => {
            await house.engine.stop(0);
            asked = true;
            return undefined;
          };
          await ctx.effect("y", act, { repeat: "with-key", probe });
          return { end: null };
        },
      });
      await until("it asked and was stopped", () => asked);
      house.kill();
      await house.begin();
      // Whoever holds the home now decides, with the same key.
      expect((await house.ended("a")).seen).toEqual([{ ok: "y!" }]);
      expect(acted).toBe(0);
      expect((await house.history({ turn })).map((e) => e.state)).toEqual(["done"]);
      house.kill();
    });

    it("calls an act that threw unknown, since it has not said whether it happened (I4)", async () => {
      const house = await House.open(factory);
      house.kill();
      await house.look();
      const results: unknown[] = [];
      await house.engine.start({
        version: "v",
        async segment(ctx) {
          const act = async () => {
            throw new Error("socket closed");
          };
          results.push(await ctx.effect("send", act, { repeat: "never" }));
          return { end: null };
        },
      });
      const { turn } = await house.engine.accept({
        id: "a",
        session: asId("s"),
        lane: "interactive",
        body: null,
      });
      await until("the effect came back", () => results.length === 1);
      expect(results).toEqual([{ unknown: true, key: expect.any(String) }]);
      await until("it is settled", async () => (await house.history({ turn }))[0]?.state === "unknown");
    });

    it("keeps the indices of effects made together, whichever ends first (ENGINE-3)", async () => {
      const house = await House.open(factory);
      house.kill();
      await house.look();
      const release: Record<string, () => void> = {};
      const ran: string[] = [];
      const app = (gates: boolean): EngineApp => ({
        version: "v",
        async segment(ctx) {
          const one = (name: string) =>
            ctx.effect(
              name,
              async () => {
                ran.push(name);
                if (gates) await new Promise<void>((resolve) => (release[name] = resolve));
                return name;
              },
              { repeat: "never" },
            );
          const all = await Promise.all(["a", "b", "c"].map(one));
          return { end: all as unknown as Json, record: (tx) => house.opened.note(tx, JSON.stringify(all)) };
        },
      });
      await house.engine.start(app(true));
      const { turn } = await house.engine.accept({ id: "m", session: asId("s"), lane: "interactive", body: null });
      await until("all three act", () => ran.length === 3);
      release.c!();
      await until("c is recorded", async () => (await house.history({ turn })).some((e) => e.state === "done"));
      // Wait for the commit, not only for the write.
      await house.engine.schedule(asId("flush"), null);
      house.kill();
      await house.look();
      await house.engine.start(app(false));
      await until("the end", async () => (await house.opened.notes()).length === 1);
      expect(JSON.parse((await house.opened.notes())[0]!)).toEqual([
        { unknown: true, key: expect.any(String) },
        { unknown: true, key: expect.any(String) },
        { ok: "c" },
      ]);
      expect((await house.history({ turn })).map((e) => [e.index, e.name])).toEqual([
        [0, "a"],
        [1, "b"],
        [2, "c"],
      ]);
      expect(ran).toEqual(["a", "b", "c"]);
    });

    it("says that a segment is recovered only when an earlier process may have worked on it", async () => {
      const house = await House.open(factory);
      await house.accept("a", [{ step: "x" }, { gate: "go" }, { park: { on: ["e"] } }, { step: "y" }]);
      await house.began("a");
      house.world.open("go");
      await house.crash();
      await house.parked("a");
      const { turn } = await house.accept("a", []);
      await house.send(turn, "e", "e1");
      await house.ended("a");
      expect(house.world.of("a", "begin").map((l) => [l.segment, l.recovered])).toEqual([
        [0, false],
        [0, true],
        [1, false],
      ]);
    });
  });

  describe("journal", () => {
    it("breaks a turn whose journal has another name, and does nothing new in the world (ENGINE-6)", async () => {
      const house = await House.open(factory);
      house.kill();
      await house.look();
      const wakes: Json[] = [];
      const acts: string[] = [];
      const app = (names: string[], hang: boolean): EngineApp => ({
        version: names[0]!,
        async segment(ctx, input) {
          wakes.push(input.wake as unknown as Json);
          if (input.wake.why === "broken") {
            return { end: null, record: (tx) => house.opened.note(tx, "broken") };
          }
          const one = (name: string) =>
            ctx.effect(
              name,
              async () => {
                acts.push(name);
                return name;
              },
              { repeat: "never" },
            );
          await Promise.all(names.map(one));
          if (hang) await new Promise(() => {});
          return { end: null };
        },
      });
      await house.engine.start(app(["old"], true));
      await house.engine.accept({ id: "m", session: asId("s"), lane: "interactive", body: null });
      await until("the old version acted", () => acts.length === 1);
      house.kill();
      await house.look();
      await house.engine.start(app(["new", "other"], false));
      await until("the end", async () => (await house.opened.notes()).includes("broken"));
      expect(wakes.slice(2)).toEqual([
        { why: "broken", code: "JOURNAL_MISMATCH", message: expect.stringMatching(/"old".*"new"/) },
      ]);
      // "other" has no entry in the journal, but the turn was already broken when it was asked for.
      expect(acts).toEqual(["old"]);
    });

    it("answers by session, by turn, and by what is still open", async () => {
      const house = await House.open(factory);
      const a = await house.accept("a", [{ step: "x" }, { effect: "y" }], { session: "one" });
      const b = await house.accept("b", [{ step: "x" }, { park: { on: ["e"] } }], { session: "two" });
      await house.ended("a");
      await house.parked("b");
      const all = await house.history({});
      expect(all.map((e) => [e.turn, e.session, e.segment, e.index, e.kind, e.name, e.state])).toEqual([
        [a.turn, "one", 0, 0, "step", "x", "done"],
        [a.turn, "one", 0, 1, "effect", "y", "done"],
        [b.turn, "two", 0, 0, "step", "x", "done"],
      ]);
      expect(await house.history({ session: asId("one") })).toEqual(all.slice(0, 2));
      expect(await house.history({ turn: b.turn })).toEqual(all.slice(2));
      expect(await house.history({ open: true })).toEqual(all.slice(2));
      expect(all[1]).toMatchObject({ payload: { ok: "y!" }, at: expect.any(Number), endedAt: expect.any(Number) });
      expect(await house.history({ turn: asId("nobody") })).toEqual([]);
    });
  });

  describe("forgetting", () => {
    it("erases what the ended turns of a session did, and still knows their ids (ENGINE-1)", async () => {
      const house = await House.open(factory);
      const a = await house.accept("a", [{ step: "x" }], { session: "one" });
      const b = await house.accept("b", [{ step: "x" }, { park: { on: ["e"] } }, { step: "y" }], { session: "one" });
      const c = await house.accept("c", [{ step: "x" }], { session: "two" });
      await house.ended("a", "c");
      await house.parked("b");
      await house.engine.erase(asId("one"));
      expect((await house.history({})).map((e) => e.turn).sort()).toEqual([b.turn, c.turn].sort());
      await house.crash();
      expect(await house.accept("a", [])).toEqual({ turn: a.turn, duplicate: true });
      expect(await house.send(a.turn, "e", "e1")).toBe("late");
      expect(await house.send(b.turn, "e", "e1")).toBe("taken");
      // The parked turn lost nothing: it goes on with the state it kept.
      expect((await house.ended("b")).seen).toHaveLength(3);
      expect(house.world.of("a", "begin")).toHaveLength(1);
    });

    it("prunes the journal of turns that ended before a time, and of no others", async () => {
      const clock = new ManualClock(1_750_000_000_000);
      const house = await House.open(factory, { clock });
      const old = await house.accept("old", [{ step: "x" }], { session: "one" });
      await house.accept("parked", [{ step: "x" }, { park: { on: ["e"] } }], { session: "two" });
      await house.ended("old");
      await house.parked("parked");
      clock.advance(1000);
      await house.accept("new", [{ step: "x" }], { session: "three" });
      await house.ended("new");
      expect(await house.engine.prune(clock.now())).toBe(1);
      expect((await house.history({})).map((e) => e.session).sort()).toEqual(["three", "two"]);
      expect(await house.engine.prune(clock.now())).toBe(0);
      expect(await house.accept("old", [])).toEqual({ turn: old.turn, duplicate: true });
    });
  });

  describe("broken segments", () => {
    it("gives a turn that threw one segment to say so, before the turns behind it (I5)", async () => {
      const house = await House.open(factory);
      await house.accept("bad", [{ step: "x" }, { gate: "go" }, { fail: "boom" }]);
      await house.accept("next", [{ step: "x" }]);
      house.world.open("go");
      const { how, seen } = await house.ended("bad");
      expect(how).toBe("broken");
      expect(seen).toEqual([{ broken: "INTERNAL", message: "boom" }]);
      await house.ended("next");
      expect((await house.ends()).map((e) => e.end)).toEqual(["bad", "next"]);
      expect(house.world.of("bad", "begin").map((l) => (l.wake as { why: string }).why)).toEqual(["start", "broken"]);
      await house.crash();
      await house.meanwhile();
      expect(house.world.of("bad", "begin")).toHaveLength(2);
    });

    it("sets a turn aside that throws again, for good, and the session goes on", async () => {
      const house = await House.open(factory);
      const { turn } = await house.accept("bad", [{ fail: "boom" }], { onBroken: "throw" });
      await house.accept("next", [{ step: "x" }]);
      await house.ended("next");
      expect(house.world.of("bad", "begin")).toHaveLength(2);
      expect(await house.send(turn, "x", "e1")).toBe("late");
      expect(await house.history({ open: true })).toEqual([]);
      await house.crash();
      await house.meanwhile();
      expect(house.world.of("bad", "begin")).toHaveLength(2);
      expect(await house.endOf("bad")).toBeUndefined();
    });

    it("keeps a turn that is about to say it broke in front over a kill", async () => {
      const house = await House.open(factory);
      await house.accept("bad", [{ gate: "go" }, { fail: "boom" }]);
      await house.accept("next", [{ gate: "go" }]);
      house.world.open("go");
      await until("it broke", async () => house.world.of("bad", "leave").length === 1);
      await house.crash();
      await house.ended("bad", "next");
      expect((await house.ends()).map((e) => e.end)).toEqual(["bad", "next"]);
    });

    it("breaks the turn, not the engine, when a record written with a step or an end is refused", async () => {
      const house = await House.open(factory);
      await house.accept("step", [{ badRecord: "x" }], { session: "one" });
      await house.accept("end", [{ step: "x" }], { session: "two", badEnd: true });
      expect(await house.ended("step")).toMatchObject({ how: "broken" });
      expect(await house.ended("end")).toMatchObject({ how: "broken" });
      await house.meanwhile();
      // The refused end left nothing of itself.
      expect((await house.ends()).filter((e) => e.end === "end")).toHaveLength(1);
    });

    it("does not open an ended turn again when the listener for hints throws (I5)", async () => {
      const house = await House.open(factory);
      house.kill();
      await house.look();
      const calls: string[] = [];
      await house.engine.start({
        version: "v",
        segment: async (ctx) => {
          calls.push(ctx.turn);
          return { end: null, record: (tx) => house.opened.note(tx, `"${ctx.turn}"`) };
        },
        settled() {
          throw new Error("the listener is broken");
        },
      });
      const m = { session: asId<SessionKey>("s"), lane: "interactive" as const, body: null };
      const a = await house.engine.accept({ ...m, id: "a" });
      const b = await house.engine.accept({ ...m, id: "b" });
      await until("both ended", async () => (await house.opened.notes()).includes(`"${b.turn}"`));
      await house.crash();
      await house.meanwhile();
      expect(calls).toEqual([a.turn, b.turn]);
      expect((await house.opened.notes()).filter((n) => n.startsWith('"'))).toEqual([`"${a.turn}"`, `"${b.turn}"`]);
    });
  });
}
