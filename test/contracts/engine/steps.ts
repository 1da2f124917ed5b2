/** ENGINE-3, ENGINE-4, ENGINE-6, I4: steps and effects, and what a kill leaves of them. */

import { describe, expect, it } from "vitest";
import type { EngineApp } from "../../../src/core/contracts/index.ts";
import type { Json } from "../../../src/core/domain/index.ts";
import { asId, type SessionKey } from "../../../src/core/domain/index.ts";
import { ManualClock } from "../../../src/core/kit/index.ts";
import { pretend } from "../../support/pretend.ts";
import { TestInstance } from "./instance.ts";
import { type EngineFactory, type Op, type Repeat, until } from "./world.ts";

export function stepContract(factory: EngineFactory): void {
  describe("steps and effects", () => {
    it("never runs a finished step or effect again, and replays what it returned (ENGINE-3, I4)", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("a", [{ step: "x" }, { effect: "y" }, { step: "z" }, { gate: "go" }]);
      // A step is durable with the next thing that waits for a commit; another turn's acceptance is one.
      await until("z ran", () => instance.world.of("a", "step").length === 2);
      await instance.meanwhile();
      const before = await instance.history({ turn });
      expect(before.map((e) => [e.index, e.kind, e.name, e.state])).toEqual([
        [0, "step", "x", "done"],
        [1, "effect", "y", "done"],
        [2, "step", "z", "done"],
      ]);
      instance.world.open("go");
      await instance.crash();
      const { seen } = await instance.ended("a");
      expect(seen).toEqual([before[0]!.payload, { ok: "y!" }, before[2]!.payload]);
      expect(instance.world.of("a", "step")).toHaveLength(2);
      expect(instance.world.of("a", "act")).toHaveLength(1);
    });

    it("has an effect's intent durable before it acts (ENGINE-4, EMBEDDED-7)", async () => {
      const instance = await TestInstance.open(factory);
      const found: Json[] = [];
      instance.kill();
      await instance.look();
      const app: EngineApp = {
        version: "probe",
        async segment(ctx) {
          await ctx.effect(
            "act",
            async () => {
              // The disk is looked at from another life: only what is durable is there.
              instance.kill();
              await instance.look();
              for await (const e of instance.engine.history({ turn: ctx.turn })) found.push([e.name, e.state]);
              return null;
            },
            { repeat: "never" },
          );
          return { end: null };
        },
      };
      await instance.engine.start(app);
      void instance.engine.accept({ id: "a", session: asId("s"), lane: "interactive", body: null }).catch(() => {});
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
      it(`settles an intent without a result as ${as}: ${title} (ENGINE-4, I4) (EMBEDDED-8)`, async () => {
        // The first life dies at the point; the crash object ends the life instead of this process.
        const instance = new TestInstance(factory, {
          crash: {
            at(point) {
              if (instance.world.gen > 0 || point !== (acted ? "effect.acted" : "effect.intended")) return;
              instance.kill();
              throw new Error("killed");
            },
          },
        });
        await instance.begin();
        const op: Op = { effect: "y", repeat, ...(probe ? { probe } : {}) };
        const { turn } = await instance.accept("a", [{ step: "x" }, op, { step: "z" }]);
        await until("the kill", () => instance.world.gen === 1);
        await instance.begin();
        const { seen } = await instance.ended("a");
        const key = (await instance.history({ turn }))[1]!;
        const result = seen[1] as { ok?: string; unknown?: true; key?: string };
        if (as === "unknown") expect(result).toEqual({ unknown: true, key: expect.any(String) });
        else expect(result).toEqual({ ok: as === "probed" ? "y?" : "y!" });
        expect(key.state).toBe(as === "unknown" ? "unknown" : "done");
        const made = instance.world.of("a", "act");
        expect(made).toHaveLength(acts);
        // The far side can de-duplicate: the key is the same on every try.
        expect(new Set(made.map((l) => l.key)).size).toBeLessThanOrEqual(1);
        // And once settled it stays so.
        await instance.crash();
        await instance.meanwhile();
        expect(instance.world.of("a", "act")).toHaveLength(acts);
        instance.kill();
      });
    }

    it("has no intent while it waits for what it needs: killed there, it runs in the next life (ENGINE-4, I4, EMBEDDED-9)", async () => {
      const instance = new TestInstance(factory, {
        crash: {
          at(point) {
            if (instance.world.gen > 0 || point !== "effect.ready") return;
            instance.kill();
            throw new Error("killed");
          },
        },
      });
      await instance.begin();
      const { turn } = await instance.accept("a", [{ effect: "y", repeat: "never", probe: "blank" }]);
      await until("the kill", () => instance.world.gen === 1);
      await instance.look();
      expect(await instance.history({ turn })).toEqual([]);
      instance.kill();
      await instance.begin();
      const { seen } = await instance.ended("a");
      expect(seen).toEqual([{ ok: "y!" }]);
      expect(instance.world.of("a", "act")).toHaveLength(1);
      expect(instance.world.of("a", "probe")).toEqual([]);
      instance.kill();
    });

    it("takes what the wait came to as the result when it may not act, and tells when a result is durable", async () => {
      const instance = await TestInstance.open(factory);
      instance.kill();
      await instance.look();
      const order: string[] = [];
      const settled = (key: string) => order.push(`settled ${key.split(".").at(-1)}`);
      const act = (name: string) => async () => {
        order.push(`act ${name}`);
        return name;
      };
      let results: Json[] = [];
      await instance.engine.start({
        version: "v",
        async segment(ctx) {
          const ready = async () => "busy";
          const one = await ctx.effect("one", act("one"), { repeat: "never", ready, settled });
          const two = await ctx.effect("two", act("two"), { repeat: "never", ready: async () => undefined, settled });
          results = pretend<Json[]>([one, two]);
          return { end: null };
        },
      });
      const { turn } = await instance.engine.accept({ id: "a", session: asId("s"), lane: "interactive", body: null });
      await until("both are settled", () => order.length === 3);
      expect(results).toEqual([{ ok: "busy" }, { ok: "two" }]);
      expect(order).toEqual(["settled 0", "act two", "settled 1"]);
      const kept = await instance.history({ turn });
      expect(kept.map((e) => [e.name, e.state])).toEqual([
        ["one", "done"],
        ["two", "done"],
      ]);
    });

    it("does not act when it was stopped while it asked the far side (I11)", async () => {
      const instance = new TestInstance(factory, {
        crash: {
          at(point) {
            if (instance.world.gen > 0 || point !== "effect.intended") return;
            instance.kill();
            throw new Error("killed");
          },
        },
      });
      await instance.begin();
      const { turn } = await instance.accept("a", [{ effect: "y", repeat: "with-key", probe: "blank" }]);
      await until("the kill", () => instance.world.gen === 1);
      await instance.look();
      let acted = 0;
      let asked = false;
      await instance.engine.start({
        version: "v",
        async segment(ctx) {
          const act = async () => {
            acted++;
            return "y!";
          };
          const probe = async () => {
            await instance.engine.stop(0);
            asked = true;
            return undefined;
          };
          await ctx.effect("y", act, { repeat: "with-key", probe });
          return { end: null };
        },
      });
      await until("it asked and was stopped", () => asked);
      instance.kill();
      await instance.begin();
      // Whoever holds the home now decides, with the same key.
      expect((await instance.ended("a")).seen).toEqual([{ ok: "y!" }]);
      expect(acted).toBe(0);
      expect((await instance.history({ turn })).map((e) => e.state)).toEqual(["done"]);
      instance.kill();
    });

    it("calls an act that threw unknown, since it has not said whether it happened (I4)", async () => {
      const instance = await TestInstance.open(factory);
      instance.kill();
      await instance.look();
      const results: unknown[] = [];
      await instance.engine.start({
        version: "v",
        async segment(ctx) {
          const act = async () => {
            throw new Error("socket closed");
          };
          results.push(await ctx.effect("send", act, { repeat: "never" }));
          return { end: null };
        },
      });
      const { turn } = await instance.engine.accept({
        id: "a",
        session: asId("s"),
        lane: "interactive",
        body: null,
      });
      await until("the effect came back", () => results.length === 1);
      expect(results).toEqual([{ unknown: true, key: expect.any(String) }]);
      await until("it is settled", async () => (await instance.history({ turn }))[0]?.state === "unknown");
    });

    it("keeps the indices of effects made together, whichever ends first (ENGINE-3, EMBEDDED-6)", async () => {
      const instance = await TestInstance.open(factory);
      instance.kill();
      await instance.look();
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
          return { end: pretend<Json>(all), record: (tx) => instance.opened.note(tx, JSON.stringify(all)) };
        },
      });
      await instance.engine.start(app(true));
      const { turn } = await instance.engine.accept({ id: "m", session: asId("s"), lane: "interactive", body: null });
      await until("all three act", () => ran.length === 3);
      release.c!();
      await until("c is recorded", async () => (await instance.history({ turn })).some((e) => e.state === "done"));
      // Wait for the commit, not only for the write.
      await instance.engine.schedule(asId("flush"), null);
      instance.kill();
      await instance.look();
      await instance.engine.start(app(false));
      await until("the end", async () => (await instance.opened.notes()).length === 1);
      expect(JSON.parse((await instance.opened.notes())[0]!)).toEqual([
        { unknown: true, key: expect.any(String) },
        { unknown: true, key: expect.any(String) },
        { ok: "c" },
      ]);
      expect((await instance.history({ turn })).map((e) => [e.index, e.name])).toEqual([
        [0, "a"],
        [1, "b"],
        [2, "c"],
      ]);
      expect(ran).toEqual(["a", "b", "c"]);
    });

    it("says that a segment is recovered only when an earlier process may have worked on it", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("a", [{ step: "x" }, { gate: "go" }, { park: { on: ["e"] } }, { step: "y" }]);
      await instance.began("a");
      instance.world.open("go");
      await instance.crash();
      await instance.parked("a");
      const { turn } = await instance.accept("a", []);
      await instance.send(turn, "e", "e1");
      await instance.ended("a");
      expect(instance.world.of("a", "begin").map((l) => [l.segment, l.recovered])).toEqual([
        [0, false],
        [0, true],
        [1, false],
      ]);
    });
  });

  describe("journal", () => {
    it("breaks a turn whose journal has another name, and does nothing new in the world (ENGINE-6)", async () => {
      const instance = await TestInstance.open(factory);
      instance.kill();
      await instance.look();
      const wakes: Json[] = [];
      const acts: string[] = [];
      const app = (names: string[], hang: boolean): EngineApp => ({
        version: names[0]!,
        async segment(ctx, input) {
          wakes.push(pretend<Json>(input.wake));
          if (input.wake.why === "broken") {
            return { end: null, record: (tx) => instance.opened.note(tx, "broken") };
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
      await instance.engine.start(app(["old"], true));
      await instance.engine.accept({ id: "m", session: asId("s"), lane: "interactive", body: null });
      await until("the old version acted", () => acts.length === 1);
      instance.kill();
      await instance.look();
      await instance.engine.start(app(["new", "other"], false));
      await until("the end", async () => (await instance.opened.notes()).includes("broken"));
      expect(wakes.slice(2)).toEqual([
        { why: "broken", code: "JOURNAL_MISMATCH", message: expect.stringMatching(/"old".*"new"/) },
      ]);
      // "other" has no entry in the journal, but the turn was already broken when it was asked for.
      expect(acts).toEqual(["old"]);
    });

    it("answers by session, by turn, and by what is still open", async () => {
      const instance = await TestInstance.open(factory);
      const a = await instance.accept("a", [{ step: "x" }, { effect: "y" }], { session: "one" });
      const b = await instance.accept("b", [{ step: "x" }, { park: { on: ["e"] } }], { session: "two" });
      await instance.ended("a");
      await instance.parked("b");
      const all = await instance.history({});
      expect(all.map((e) => [e.turn, e.session, e.segment, e.index, e.kind, e.name, e.state])).toEqual([
        [a.turn, "one", 0, 0, "step", "x", "done"],
        [a.turn, "one", 0, 1, "effect", "y", "done"],
        [b.turn, "two", 0, 0, "step", "x", "done"],
      ]);
      expect(await instance.history({ session: asId("one") })).toEqual(all.slice(0, 2));
      expect(await instance.history({ turn: b.turn })).toEqual(all.slice(2));
      expect(await instance.history({ open: true })).toEqual(all.slice(2));
      expect(all[1]).toMatchObject({ payload: { ok: "y!" }, at: expect.any(Number), endedAt: expect.any(Number) });
      expect(await instance.history({ turn: asId("nobody") })).toEqual([]);
    });
  });

  describe("forgetting", () => {
    it("erases what the ended turns of a session did, and still knows their ids (ENGINE-1)", async () => {
      const instance = await TestInstance.open(factory);
      const a = await instance.accept("a", [{ step: "x" }], { session: "one" });
      const b = await instance.accept("b", [{ step: "x" }, { park: { on: ["e"] } }, { step: "y" }], { session: "one" });
      const c = await instance.accept("c", [{ step: "x" }], { session: "two" });
      await instance.ended("a", "c");
      await instance.parked("b");
      await instance.engine.erase(asId("one"));
      expect((await instance.history({})).map((e) => e.turn).sort()).toEqual([b.turn, c.turn].sort());
      await instance.crash();
      expect(await instance.accept("a", [])).toEqual({ turn: a.turn, duplicate: true });
      expect(await instance.send(a.turn, "e", "e1")).toBe("late");
      expect(await instance.send(b.turn, "e", "e1")).toBe("taken");
      // The parked turn lost nothing: it goes on with the state it kept.
      expect((await instance.ended("b")).seen).toHaveLength(3);
      expect(instance.world.of("a", "begin")).toHaveLength(1);
    });

    it("prunes the journal of turns that ended before a time, and of no others", async () => {
      const clock = new ManualClock(1_750_000_000_000);
      const instance = await TestInstance.open(factory, { clock });
      const old = await instance.accept("old", [{ step: "x" }], { session: "one" });
      await instance.accept("parked", [{ step: "x" }, { park: { on: ["e"] } }], { session: "two" });
      await instance.ended("old");
      await instance.parked("parked");
      clock.advance(1000);
      await instance.accept("new", [{ step: "x" }], { session: "three" });
      await instance.ended("new");
      expect(await instance.engine.prune(clock.now())).toBe(1);
      expect((await instance.history({})).map((e) => e.session).sort()).toEqual(["three", "two"]);
      expect(await instance.engine.prune(clock.now())).toBe(0);
      expect(await instance.accept("old", [])).toEqual({ turn: old.turn, duplicate: true });
    });
  });

  describe("broken segments", () => {
    it("gives a turn that threw one segment to say so, before the turns behind it (I5)", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("bad", [{ step: "x" }, { gate: "go" }, { fail: "boom" }]);
      await instance.accept("next", [{ step: "x" }]);
      instance.world.open("go");
      const { how, seen } = await instance.ended("bad");
      expect(how).toBe("broken");
      expect(seen).toEqual([{ broken: "INTERNAL", message: "boom" }]);
      await instance.ended("next");
      expect((await instance.ends()).map((e) => e.end)).toEqual(["bad", "next"]);
      expect(instance.world.of("bad", "begin").map((l) => (l.wake as { why: string }).why)).toEqual([
        "start",
        "broken",
      ]);
      await instance.crash();
      await instance.meanwhile();
      expect(instance.world.of("bad", "begin")).toHaveLength(2);
    });

    it("sets a turn aside that throws again, for good, and the session goes on", async () => {
      const instance = await TestInstance.open(factory);
      const { turn } = await instance.accept("bad", [{ fail: "boom" }], { onBroken: "throw" });
      await instance.accept("next", [{ step: "x" }]);
      await instance.ended("next");
      expect(instance.world.of("bad", "begin")).toHaveLength(2);
      expect(await instance.send(turn, "x", "e1")).toBe("late");
      expect(await instance.history({ open: true })).toEqual([]);
      await instance.crash();
      await instance.meanwhile();
      expect(instance.world.of("bad", "begin")).toHaveLength(2);
      expect(await instance.endOf("bad")).toBeUndefined();
    });

    it("keeps a turn that is about to say it broke in front over a kill", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("bad", [{ gate: "go" }, { fail: "boom" }]);
      await instance.accept("next", [{ gate: "go" }]);
      instance.world.open("go");
      await until("it broke", async () => instance.world.of("bad", "leave").length === 1);
      await instance.crash();
      await instance.ended("bad", "next");
      expect((await instance.ends()).map((e) => e.end)).toEqual(["bad", "next"]);
    });

    it("breaks the turn, not the engine, when a record written with a step or an end is refused", async () => {
      const instance = await TestInstance.open(factory);
      await instance.accept("step", [{ badRecord: "x" }], { session: "one" });
      await instance.accept("end", [{ step: "x" }], { session: "two", badEnd: true });
      expect(await instance.ended("step")).toMatchObject({ how: "broken" });
      expect(await instance.ended("end")).toMatchObject({ how: "broken" });
      await instance.meanwhile();
      // The refused end left nothing of itself.
      expect((await instance.ends()).filter((e) => e.end === "end")).toHaveLength(1);
    });

    it("does not open an ended turn again when the listener for hints throws (I5)", async () => {
      const instance = await TestInstance.open(factory);
      instance.kill();
      await instance.look();
      const calls: string[] = [];
      await instance.engine.start({
        version: "v",
        segment: async (ctx) => {
          calls.push(ctx.turn);
          return { end: null, record: (tx) => instance.opened.note(tx, `"${ctx.turn}"`) };
        },
        settled() {
          throw new Error("the listener is broken");
        },
      });
      const m = { session: asId<SessionKey>("s"), lane: "interactive" as const, body: null };
      const a = await instance.engine.accept({ ...m, id: "a" });
      const b = await instance.engine.accept({ ...m, id: "b" });
      await until("both ended", async () => (await instance.opened.notes()).includes(`"${b.turn}"`));
      await instance.crash();
      await instance.meanwhile();
      expect(calls).toEqual([a.turn, b.turn]);
      expect((await instance.opened.notes()).filter((n) => n.startsWith('"'))).toEqual([`"${a.turn}"`, `"${b.turn}"`]);
    });
  });
}
