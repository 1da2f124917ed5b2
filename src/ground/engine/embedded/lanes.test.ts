import { describe, expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import { asId, type LaneClass, type SessionKey, type TurnId } from "../../../core/domain/index.ts";
import { type LanePlaces, Lanes, type WaitingTurn } from "./lanes.ts";

const MANY: LanePlaces = { interactive: 10, scheduled: 10, background: 10 };
const RANK: Record<LaneClass, number> = { interactive: 0, scheduled: 1, background: 2 };
const s = (name: string) => asId<SessionKey>(name);
const t = (name: string) => asId<TurnId>(name);

function make(places: LanePlaces = MANY) {
  const begun: string[] = [];
  const lanes = new Lanes(places, (next) => void begun.push(next.turn));
  let order = 0;
  const add = (turn: string, lane: LaneClass = "interactive", session = "s", at = ++order) =>
    lanes.add({ turn: t(turn), session: s(session), lane, order: at });
  return { begun, lanes, add };
}

describe("lanes", () => {
  it("begin nothing before they are opened, and nothing after they are halted", () => {
    const { begun, lanes, add } = make();
    add("a");
    expect(begun).toEqual([]);
    lanes.go();
    expect(begun).toEqual(["a"]);
    lanes.halt();
    add("b", "interactive", "other");
    lanes.done(s("s"), false);
    expect(begun).toEqual(["a"]);
    expect(lanes.active()).toBe(0);
  });

  it("run one turn of a session at a time (EMBEDDED-1)", () => {
    const { begun, lanes, add } = make();
    lanes.go();
    for (const name of ["a", "b", "c"]) add(name);
    expect(begun).toEqual(["a"]);
    expect(lanes.running(s("s"))).toBe("a");
    lanes.done(s("s"), false);
    expect(begun).toEqual(["a", "b"]);
  });

  const orders: { name: string; added: [string, LaneClass, number][]; begun: string[] }[] = [
    {
      name: "the better class first",
      added: [
        ["b", "background", 1],
        ["s", "scheduled", 2],
        ["i", "interactive", 3],
      ],
      begun: ["i", "s", "b"],
    },
    {
      name: "the earlier one first inside a class",
      added: [
        ["i2", "interactive", 5],
        ["i1", "interactive", 4],
        ["b2", "background", 3],
        ["b1", "background", 1],
      ],
      begun: ["i1", "i2", "b1", "b2"],
    },
  ];
  for (const { name, added, begun: expected } of orders) {
    it(`take ${name} (EMBEDDED-2)`, () => {
      const { begun, lanes, add } = make();
      for (const [turn, lane, order] of added) add(turn, lane, "s", order);
      lanes.go();
      for (let i = 0; i < added.length; i++) lanes.done(s("s"), false);
      expect(begun).toEqual(expected);
    });
  }

  it("let a person in while every background and scheduled place is taken (EMBEDDED-3)", () => {
    const { begun, lanes, add } = make({ interactive: 1, scheduled: 1, background: 1 });
    lanes.go();
    for (const n of ["1", "2"]) {
      add(`b${n}`, "background", `b${n}`);
      add(`s${n}`, "scheduled", `s${n}`);
    }
    add("i1", "interactive", "i1");
    add("i2", "interactive", "i2");
    expect(begun).toEqual(["b1", "s1", "i1"]);
    lanes.done(s("b1"), false);
    expect(begun).toEqual(["b1", "s1", "i1", "b2"]);
  });

  it("move a waiting session to a better place when a better turn comes (EMBEDDED-2, EMBEDDED-3)", () => {
    const { begun, lanes, add } = make({ interactive: 1, scheduled: 1, background: 0 });
    lanes.go();
    add("b", "background");
    expect(begun).toEqual([]);
    add("i", "interactive");
    expect(begun).toEqual(["i"]);
  });

  it("keep everybody but the holder out, also a better class, until it ends (EMBEDDED-4)", () => {
    const { begun, lanes, add } = make();
    lanes.go();
    add("a", "background");
    add("b", "interactive");
    lanes.done(s("s"), true);
    expect(begun).toEqual(["a"]);
    add("a", "background", "s", 99);
    expect(begun).toEqual(["a", "a"]);
    lanes.done(s("s"), false);
    expect(begun).toEqual(["a", "a", "b"]);
  });

  it("know a holder from an earlier process (EMBEDDED-4)", () => {
    const { begun, lanes, add } = make();
    lanes.hold(s("s"), t("a"));
    add("b");
    lanes.go();
    expect(begun).toEqual([]);
    add("a");
    lanes.done(s("s"), false);
    expect(begun).toEqual(["a", "b"]);
  });

  it("keep L1–L4 in any interleaving", () => {
    type Op = { op: "add" | "done" | "park" | "wake"; session: number; lane: LaneClass };
    const op: fc.Arbitrary<Op> = fc.record({
      op: fc.constantFrom("add" as const, "add" as const, "done" as const, "park" as const, "wake" as const),
      session: fc.nat(4),
      lane: fc.constantFrom<LaneClass>("interactive", "scheduled", "background"),
    });
    const few = fc.integer({ min: 1, max: 2 });
    const places = fc.record({ interactive: few, scheduled: few, background: few });
    fc.assert(
      fc.property(fc.array(op, { maxLength: 60 }), places, (ops, limits) => {
        const running = new Map<SessionKey, WaitingTurn>();
        const waiting = new Set<WaitingTurn>();
        const held = new Map<SessionKey, WaitingTurn>();
        let order = 0;
        const lanes = new Lanes(limits, (next) => {
          expect(running.has(next.session), "L1").toBe(false);
          const rivals = [...waiting].filter((w) => w.session === next.session && w !== next);
          const holder = held.get(next.session);
          if (holder) expect(next.turn, "L4").toBe(holder.turn);
          else for (const w of rivals) expect(better(next, w), "L2").toBe(true);
          expect(waiting.delete(next)).toBe(true);
          running.set(next.session, next);
        });
        const add = (item: WaitingTurn) => {
          waiting.add(item);
          lanes.add(item);
        };
        const finish = (session: SessionKey, holds: boolean) => {
          const item = running.get(session);
          if (!item) return;
          running.delete(session);
          if (holds) held.set(session, item);
          else held.delete(session);
          lanes.done(session, holds);
        };
        lanes.go();
        for (const { op: what, session: n, lane } of ops) {
          const session = s(`s${n}`);
          if (what === "add") add({ turn: t(`t${order}`), session, lane, order: order++ });
          else if (what === "done") finish(session, false);
          else if (what === "park") finish(session, true);
          else {
            const holder = held.get(session);
            const asleep = holder && running.get(session)?.turn !== holder.turn;
            if (asleep && ![...waiting].some((w) => w.turn === holder.turn)) add({ ...holder, order: order++ });
          }
          checkPlaces();
        }
        // Nothing is forgotten: with everybody done, everything that may run has run.
        for (let i = 0; i < 200; i++) for (const session of [...running.keys()]) finish(session, false);
        expect([...waiting].filter((w) => !held.has(w.session))).toEqual([]);

        function checkPlaces(): void {
          for (const lane of ["interactive", "scheduled", "background"] as const) {
            const busy = [...running.values()].filter((w) => w.lane === lane).length;
            expect(busy, "L3").toBeLessThanOrEqual(limits[lane]);
            // A free place is not left empty while somebody may take it.
            const ready = [...waiting].filter(
              (w) => !running.has(w.session) && head(w.session) === w && w.lane === lane,
            );
            if (busy < limits[lane]) expect(ready, "L3").toEqual([]);
          }
          expect(lanes.active()).toBe(running.size);
        }
        function head(session: SessionKey): WaitingTurn | undefined {
          const mine = [...waiting].filter((w) => w.session === session);
          const holder = held.get(session);
          if (holder) return mine.find((w) => w.turn === holder.turn);
          return mine.sort((a, b) => (better(a, b) ? -1 : 1))[0];
        }
      }),
      { numRuns: 500 },
    );
  });
});

function better(a: WaitingTurn, b: WaitingTurn): boolean {
  return RANK[a.lane] !== RANK[b.lane] ? RANK[a.lane] < RANK[b.lane] : a.order < b.order;
}
