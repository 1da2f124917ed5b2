/**
 * The engine port: durable execution at the level of accept, step, effect, park and resume. It has no words of any
 * database or product. `test/contracts/engine.ts` is the suite every engine passes.
 *
 * ENGINE-1: `accept` is durable when it resolves; the same id is the same turn, forever.
 * ENGINE-2: one turn at a time per session; of equal lane class in order of acknowledgement; interactive first.
 * ENGINE-3: a finished step or effect never runs again.
 * ENGINE-4: an effect's intent is durable before it starts. Intent without result after a crash is probed: the far side says what
 *     happened, or that it surely did not happen and may run now, or it cannot say and the outcome is `unknown`.
 * ENGINE-5: no code stack outlives a segment. A parked turn is versioned data and holds nothing.
 * ENGINE-6: replay that meets another step name breaks the turn, it never guesses.
 * ENGINE-7: a turn that stopped the process twice is not run again: it is woken as broken (I13).
 */

import type { ScheduleId, SessionKey, TurnId } from "../domain/ids.ts";
import type { Json, Jsonable } from "../domain/json.ts";
import type { LaneClass } from "../domain/message.ts";
import type { Tx } from "./records.ts";

export interface Accepted {
  /** The turn with this id, whether new or known. */
  turn: TurnId;
  /** True if the id was accepted before; then nothing was written. */
  duplicate: boolean;
}

export interface EngineEvent {
  /** Idempotency key of the event within its turn. */
  id: string;
  /** What a park waits on, or CANCEL. */
  name: string;
  /** Given to the next segment. */
  value: Json;
}

/** The event name that asks a turn to stop at the next safe point. */
export const CANCEL = "cancel";

export interface Engine {
  /** Continues every open turn at once, then takes new ones. */
  start(app: EngineApp): Promise<void>;
  /** Takes no more work, lets running segments reach a safe point for up to `drainMs`, then lets go. Nothing is lost. */
  stop(drainMs: number): Promise<void>;
  /**
   * Durable when it resolves. `record` is written with it, and only when it is not a duplicate. `announce` is called then too,
   * once it is durable and before its first segment runs. `fresh`: the id was made for this message just now, so nobody can have
   * used it before.
   */
  accept(
    m: { id: string; fresh?: boolean; session: SessionKey; lane: LaneClass; body: Json },
    record?: (tx: Tx, turn: TurnId) => void,
    announce?: (turn: TurnId) => void,
  ): Promise<Accepted>;
  /**
   * Approval answer, cancellation, child result. Idempotent by id; the first wins. `record` is written with it when taken.
   * `late`: the turn is no longer waiting for this. `unknown`: there is no such turn.
   */
  resume(turn: TurnId, event: EngineEvent, record?: (tx: Tx) => void): Promise<"taken" | "late" | "unknown">;
  /**
   * One due slot per schedule id; null removes it. A due slot is accepted as a turn with id `schedule:<id>:<due>`, in the
   * interactive lane: it only decides what is to be done, and must not wait behind what was.
   */
  schedule(id: ScheduleId, slot: { due: number; session: SessionKey; body: Json } | null): Promise<void>;
  /** The recorded entries that match, in order. For diagnosis; reads only. */
  history(query: { session?: SessionKey; turn?: TurnId; open?: boolean }): AsyncIterable<JournalEntry>;
  /** Erases what the ended turns of a session did and said. Their ids stay known: the same id is still the same turn. */
  erase(session: SessionKey): Promise<void>;
  /** Ids that begin with this are no longer known: the same id again is a new turn. The turns themselves stay. May be repeated. */
  forgetIds(prefix: string): Promise<void>;
  /** Erases the journal of turns that ended before this time. Returns how many. */
  prune(before: number): Promise<number>;
  /** Keys of the effects that may still be probed: meant in an open turn, without an outcome. Whatever is kept for others can go. */
  openIntents(): string[];
  /** The turn that runs in this session now, if any. A hint: it may end while you read it. */
  running(session: SessionKey): TurnId | undefined;
}

export interface EngineApp {
  /** Stored with each turn, so that a journal from another version is recognised. */
  version: string;
  /** Runs one segment. A throw breaks the turn: one more segment gets the chance to make that visible. */
  segment(ctx: Ctx, input: SegmentInput): Promise<Outcome>;
  /** Called after the end or the park is durable. A hint for waiters: may be missed in a crash, never awaited. */
  settled?(turn: TurnId, session: SessionKey, how: "ended" | "parked"): void;
}

export interface SegmentInput {
  /** The turn it belongs to. */
  turn: TurnId;
  /** The session whose lane it holds. */
  session: SessionKey;
  /** Its lane class. */
  lane: LaneClass;
  /** What `accept` was given. */
  body: Json;
  /** 0 for the first; each park is followed by the next. */
  segment: number;
  /** Why this segment runs. */
  wake: Wake;
  /** What the last park kept. */
  state?: Json;
  /** Version of `state`, so that newer code can migrate it. */
  stateVersion?: number;
  /** True when an earlier process already worked on this segment. */
  recovered: boolean;
}

export type Wake =
  | { why: "start" }
  | { why: "event"; events: EngineEvent[] }
  | { why: "deadline" }
  /**
   * The previous segment threw, its journal does not fit the code, or it stopped the process twice and must not be tried again.
   * Make the outcome visible and end.
   */
  | { why: "broken"; code: "JOURNAL_MISMATCH" | "INTERNAL" | "STOPPED_LARES"; message: string };

export interface Ctx {
  /** The session whose lane this segment holds. */
  readonly session: SessionKey;
  /** The turn it belongs to. */
  readonly turn: TurnId;
  /** Aborts when this process lost its claim: whatever is done after it cannot be recorded. */
  readonly signal: AbortSignal;
  /** Aborts when a `cancel` event was taken. From then on `step` and `effect` only replay; new ones throw `Stopped`. */
  readonly stopping: AbortSignal;
  /** Aborts with the first of the two: for whatever works for this segment. Let go when the segment is over. */
  readonly halt: AbortSignal;
  /** Until its next result this segment only waits for others, so nobody who starts after it need wait for it. */
  waits(): void;
  /**
   * Does something of a step that isn't done in this process: `asks` somebody outside it, or only `waits`. Then a death that left
   * no note is not the segment's fault.
   */
  apart<T>(doing: "asks" | "waits", run: () => Promise<T>): Promise<T>;
  /** Safe to run again: model call, read, clock, random. `record` is written together with the result. */
  step<T>(name: string, run: () => Promise<T & Jsonable<T>>, record?: (tx: Tx, result: T) => void): Promise<T>;
  /** Touches the world. The intent is durable before `run` starts; `key` is the same on every try. */
  effect<T>(name: string, run: (key: string) => Promise<T & Jsonable<T>>, how: EffectHow<T>): Promise<EffectResult<T>>;
}

export interface EffectHow<T> {
  /** `never`: an unknown outcome is reported. `with-key`: the far side deduplicates. `safe`: repeating is harmless. */
  repeat: "never" | "with-key" | "safe";
  /**
   * Waits for what `run` needs, before there is an intent: a process that dies here leaves nothing to ask about. A value means
   * that `run` is not called, and is the result. Called again when an effect that did not happen runs after a crash.
   */
  ready?: () => Promise<(T & Jsonable<T>) | undefined>;
  /** Written together with the intent. */
  intend?: (tx: Tx) => void;
  /** Asked about an intent without a result. What throws cannot say. */
  probe?: (key: string, left: LeftIntent) => Promise<Probed<T & Jsonable<T>>>;
  /** Written together with the result. */
  record?: (tx: Tx, result: EffectResult<T>) => void;
  /** The result is durable: nobody will probe for it again. A hint; a crash may swallow it. */
  settled?: (key: string) => void;
}

/** What is known of an intent without looking at the far side. */
export interface LeftIntent {
  /** The machine has been up since. Otherwise files written without a sync may be missing. */
  sameBoot: boolean;
}

/** What the far side says: it happened, it certainly didn't and no longer can, or it can't tell. */
export type Probed<T> = { ok: T } | { never: true } | undefined;

export type EffectResult<T> = { ok: T } | { unknown: true; key: string };

/** Thrown by `step` and `effect` once the turn was asked to stop. The app ends the turn with a visible outcome. */
export class Stopped extends Error {
  constructor() {
    super("the turn was asked to stop");
    this.name = "Stopped";
  }
}

export type Outcome = { record?: (tx: Tx) => void } & (
  | { end: Json }
  | {
      park: {
        /** Names of the events that wake it. */
        on: string[];
        deadline?: number;
        state: Json;
        stateVersion: number;
        /** False: the session goes on with other turns meanwhile. */
        holdsSession: boolean;
      };
    }
);

export interface JournalEntry {
  /** The turn it belongs to. */
  turn: TurnId;
  /** That turn's session. */
  session: SessionKey;
  /** Number of the segment, from 0. */
  segment: number;
  /** Its place in the segment, in order of the calls. */
  index: number;
  /** Whether it only reads or touches the world. */
  kind: "step" | "effect";
  /** Compared on replay (ENGINE-6). */
  name: string;
  /** `intent`: no result is recorded yet. */
  state: "intent" | "done" | "unknown";
  /** When it was recorded; for an effect, its intent. */
  at: number;
  /** When its result was recorded. */
  endedAt?: number;
  /** The result, if there is one. */
  payload?: Json;
}
