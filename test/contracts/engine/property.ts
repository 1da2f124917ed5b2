/**
 * Random lives of an engine: messages, answers, stops, time, restarts and kills in any order and at any moment, against a model
 * that only remembers what the outside was told.
 *
 * INTERLEAVINGS-1: every message ends exactly once, or waits in a park it declared.
 * INTERLEAVINGS-2: of two messages of one session and class, the one acknowledged before the other was sent, or sent before it to a life
 *     that acknowledged both, begins first.
 * INTERLEAVINGS-3: segments of a session never overlap; a turn that holds its session is alone in it until it ends.
 * INTERLEAVINGS-4: of the events for one wait, one is taken; it is the one the turn sees.
 * INTERLEAVINGS-5: no effect acts twice; what its turn was told is what the world saw, or `unknown` after a kill.
 * INTERLEAVINGS-6: a recorded step's value never changes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Accepted } from "../../../src/core/contracts/index.ts";
import type { Json, LaneClass, TurnId } from "../../../src/core/domain/index.ts";
import { ManualClock } from "../../../src/core/kit/index.ts";
import fc, { SEED } from "../../support/property.ts";
import { type EndNote, TestInstance } from "./instance.ts";
import { overlaps } from "./order.ts";
import { type EngineFactory, loop, type Op, World } from "./world.ts";

const START = 1_750_000_000_000;
/** Fits `npm test`; LARES_PROPERTY_RUNS asks for more. */
const RUNS = Number(process.env.LARES_PROPERTY_RUNS ?? 100);

type Move =
  | { do: "accept"; shape: number; session: number; lane: LaneClass }
  /** The platform delivers an old message again. */
  | { do: "again"; pick: number }
  | { do: "answer"; pick: number; id: number }
  | { do: "cancel"; pick: number; id: number }
  | { do: "advance"; ms: number }
  /** Lets the event loop go round this often: the next move meets the engine somewhere in the middle. */
  | { do: "rest"; loops: number }
  | { do: "kill" }
  | { do: "restart"; drain: boolean };

const SHAPES: Op[][] = [
  [{ step: "a" }, { effect: "b" }],
  [{ loop: 2 }, { effect: "b" }, { loop: 1 }, { effect: "c" }, { step: "d" }],
  [{ together: [{ effect: "b" }, { effect: "c" }, { step: "d" }] }],
  [{ step: "a" }, { park: { on: ["answer"], holds: false } }, { effect: "b" }],
  [{ effect: "a" }, { park: { on: ["answer"], holds: true } }, { step: "b" }, { effect: "c" }],
  [{ park: { on: ["answer"], holds: true, deadline: START + 500 } }, { effect: "b" }, { loop: 1 }],
  [
    { step: "a" },
    { park: { on: ["answer"], deadline: START + 1500 } },
    { park: { on: ["late"], deadline: START + 2500 } },
  ],
  [{ step: "a" }, { fail: "boom" }],
];

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("accept" as const),
      shape: fc.nat(SHAPES.length - 1),
      session: fc.nat(1),
      lane: fc.constantFrom<LaneClass>("interactive", "interactive", "scheduled", "background"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("again" as const), pick: fc.nat(30) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answer" as const), pick: fc.nat(30), id: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), pick: fc.nat(30), id: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: -300, max: 900 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("rest" as const), loops: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 3, arbitrary: fc.constant({ do: "kill" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const), drain: fc.boolean() }) },
);

interface Message {
  name: string;
  ops: Op[];
  session: string;
  lane: LaneClass;
  /** When it was sent, and when the sender was told, as numbers of one count. */
  sentAt: number;
  toldAt?: number;
  /** The lives of the engine in which that was. */
  sentIn: number;
  toldIn?: number;
  turn?: TurnId;
  /** Answers to `resume`, by event name and id, in the order of the answers. */
  said: { name: string; id: string; how: string }[];
}

export function propertyContract(name: string, factory: EngineFactory): void {
  describe(`the ${name} engine, living at random`, () => {
    it(`keeps P1–P6 over ${RUNS} lives`, async () => {
      console.info(`engine property seed: ${SEED} (LARES_SEED=${SEED} runs it again)`);
      await fc.assert(
        fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 40 }), (moves) => live(factory, moves)),
        // Shrinking a hang takes its time; what was found by then is reported.
        {
          numRuns: RUNS,
          seed: SEED,
          ...(RUNS <= 100 ? { interruptAfterTimeLimit: 90_000, markInterruptAsFailure: true } : {}),
        },
      );
    }, 600_000);
  });
}

async function live(factory: EngineFactory, moves: Move[]): Promise<void> {
  const clock = new ManualClock(START);
  // Its own directory, gone with this life: what a test registers for its end is kept until then.
  const home = mkdtempSync(join(tmpdir(), "lares-life-"));
  const instance = new TestInstance(factory, { clock }, new World(), home);
  const messages: Message[] = [];
  const asked: Promise<unknown>[] = [];
  let count = 0;

  const ask = (call: Promise<void>) => {
    // Looked at when the life runs out; until then it is not an unhandled one.
    call.catch(() => {});
    asked.push(call);
  };

  /** Sends a message, for the first time or again. A kill may swallow the answer; then nobody was told. */
  const send = (m: Message) => {
    const sent = instance.accept(m.name, m.ops, { session: m.session, lane: m.lane });
    const told = (a: Accepted) => {
      if (m.turn) expect(a, `${m.name} is one turn (ENGINE-1)`).toEqual({ turn: m.turn, duplicate: true });
      m.turn = a.turn;
      m.toldAt ??= count++;
      m.toldIn ??= instance.world.gen;
    };
    ask(settle(sent, told));
  };
  const event = (m: Message | undefined, name: string, id: string) => {
    if (!m?.turn) return;
    const answer = name === "cancel" ? instance.cancel(m.turn, id) : instance.send(m.turn, name, id, id);
    ask(settle(answer, (how) => void m.said.push({ name, id, how })));
  };
  const pick = (n: number) => messages[n % Math.max(messages.length, 1)];

  try {
    await instance.begin();
    for (const m of moves) {
      if (m.do === "accept") {
        const name = `m${messages.length}`;
        const sentIn = instance.world.gen;
        const made: Message = {
          name,
          ops: SHAPES[m.shape]!,
          session: `s${m.session}`,
          lane: m.lane,
          sentAt: count++,
          sentIn,
          said: [],
        };
        messages.push(made);
        send(made);
      } else if (m.do === "again") {
        const old = pick(m.pick);
        if (old) send(old);
      } else if (m.do === "answer") event(pick(m.pick), "answer", `e${m.id}`);
      else if (m.do === "cancel") event(pick(m.pick), "cancel", `c${m.id}`);
      else if (m.do === "advance") clock.advance(m.ms);
      else if (m.do === "rest") for (let i = 0; i < m.loops; i++) await loop();
      else if (m.do === "kill") await instance.crash();
      else await instance.restart(m.drain ? 10_000 : 0);
    }
    await runOut();
    await check(instance, messages);
  } finally {
    instance.kill();
    rmSync(home, { recursive: true, force: true });
  }

  /** Everything uncertain is sent again, everything that waits gets what it waits for. */
  async function runOut(): Promise<void> {
    await instance.crash();
    for (const m of messages) send(m);
    await Promise.all(asked.splice(0));
    clock.advance(10_000);
    await answerAll();
    const names = messages.map((m) => m.name);
    if (names.length) await instance.ended(...names);
    // One more life shows that nothing was left over.
    await instance.crash();
    await instance.meanwhile();
  }

  async function answerAll(): Promise<void> {
    for (const m of messages) event(m, "answer", "e-last");
    await Promise.all(asked.splice(0));
  }
}

/** Calls a kill may have swallowed: answered, refused by a life that is over, or never heard of again. */
async function settle<T>(call: Promise<T>, told: (value: T) => void): Promise<void> {
  try {
    told(await call);
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code !== "NOT_READY" && code !== "STORAGE_FAILED") throw error;
  }
}

async function check(instance: TestInstance, messages: Message[]): Promise<void> {
  const { lines } = instance.world;
  const ends = await instance.ends();
  const journal = await instance.history({});
  expect(overlaps(lines), "P3").toEqual([]);

  for (const m of messages) {
    const end = ends.filter((e) => e.end === m.name);
    expect(end, `INTERLEAVINGS-1: ends of ${m.name}`).toHaveLength(1);
    expect(end[0]!.how === "broken" && !m.ops.some((op) => "fail" in op), `INTERLEAVINGS-1: ${m.name} broke`).toBe(
      false,
    );
    checkEvents(m, end[0]!);
    const entries = journal.filter((e) => e.turn === m.turn);
    expect(entries.filter((e) => e.state === "intent" && end[0]!.how === "done")).toEqual([]);
    checkEffects(m, end[0]!);
    // INTERLEAVINGS-6: what the turn was told in the end is what stands in the journal.
    const values = new Set(entries.filter((e) => e.kind === "step").map((e) => String(e.payload)));
    const told = end[0]!.seen.filter((s) => typeof s === "string" && s.includes("#")).map(String);
    expect(
      told.filter((value) => !values.has(value)),
      `INTERLEAVINGS-6: steps of ${m.name}`,
    ).toEqual([]);
  }

  const begun = new Map(messages.map((m) => [m.name, lines.findIndex((l) => l.what === "begin" && l.name === m.name)]));
  for (const a of messages) {
    for (const b of messages) {
      if (a === b || a.session !== b.session || a.lane !== b.lane || !orderKnown(a, b)) continue;
      expect(begun.get(a.name), `INTERLEAVINGS-2: ${a.name} before ${b.name}`).toBeLessThan(begun.get(b.name)!);
    }
  }
  checkHolders();

  /** Told before the other was sent; or sent one after the other to the same life, which answered both. */
  function orderKnown(a: Message, b: Message): boolean {
    if (a.toldAt! < b.sentAt) return true;
    return a.sentAt < b.sentAt && new Set([a.sentIn, b.sentIn, a.toldIn, b.toldIn]).size === 1;
  }

  /** INTERLEAVINGS-3: between a holding park and the end of that turn, nobody else of the session begins. */
  function checkHolders(): void {
    for (const m of messages.filter((x) => x.ops.some((op) => "park" in op && op.park.holds))) {
      const parked = lines.findIndex((l) => l.what === "parked" && l.name === m.name);
      if (parked < 0) continue;
      const last = lines.findLastIndex((l) => l.what === "leave" && l.name === m.name);
      const others = lines.slice(parked, last).filter((l) => l.what === "begin" && l.session === m.session);
      expect(
        others.map((l) => l.name).filter((n) => n !== m.name),
        `INTERLEAVINGS-3: ${m.name} held its session`,
      ).toEqual([]);
    }
  }

  function checkEvents(m: Message, end: EndNote): void {
    for (const name of ["answer", "cancel"]) {
      const taken = new Set(m.said.filter((s) => s.name === name && s.how === "taken").map((s) => s.id));
      expect(taken.size, `INTERLEAVINGS-4: ${name} of ${m.name}`).toBeLessThanOrEqual(1);
      const seen = end.seen.filter((s) => (s as { event?: string } | null)?.event === name) as { id: string }[];
      expect(seen.length, `INTERLEAVINGS-4: ${name} seen by ${m.name}`).toBeLessThanOrEqual(1);
      if (seen[0] && taken.size) expect(taken, `INTERLEAVINGS-4: ${name} of ${m.name}`).toContain(seen[0].id);
    }
  }

  function checkEffects(m: Message, end: EndNote): void {
    const acts = lines.filter((l) => l.what === "act" && l.name === m.name);
    expect(new Set(acts.map((l) => l.key)).size, `INTERLEAVINGS-5: effects of ${m.name}`).toBe(acts.length);
    const results = end.seen.filter((s): s is { ok: string } | { unknown: true; key: string } => isResult(s));
    const known = results.filter((r) => "ok" in r).length;
    const lives = new Set(lines.filter((l) => l.what === "begin" && l.name === m.name).map((l) => l.gen)).size;
    if (lives === 1) expect(known, `INTERLEAVINGS-5: ${m.name} lived once`).toBe(results.length);
    expect(acts.length, `INTERLEAVINGS-5: ${m.name} was told of what was done`).toBeGreaterThanOrEqual(known);
    if (end.how === "done") expect(acts.length, `INTERLEAVINGS-5: ${m.name}`).toBeLessThanOrEqual(results.length);
  }
}

function isResult(s: Json): boolean {
  return typeof s === "object" && s !== null && ("ok" in s || "unknown" in s);
}
