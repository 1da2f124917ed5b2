/**
 * One segment: the app's function run against the journal. What is recorded is replayed, what is not is done and recorded.
 *
 * EMBEDDED-6: entries are numbered in the order of the calls, so parallel effects keep their numbers on replay.
 * EMBEDDED-7: a step's result is queued, not awaited; an effect's intent is awaited (ENGINE-4). A result and the next intent share
 *     a commit.
 * EMBEDDED-8: an intent found without a result belongs to an attempt that died: it runs again only where the far side says that it never
 *     happened, or where repeating is declared harmless.
 * EMBEDDED-9: whatever an effect has to wait for, it waits for before its intent: what died waiting was never begun.
 */
import { type Ctx, type EffectHow, type EffectResult, Stopped, type Tx } from "../../../core/contracts/index.ts";
import { AppError, type Jsonable, type SessionKey, type TurnId, toJson } from "../../../core/domain/index.ts";
import { Branches, type Clock, type Crash, type Doing } from "../../../core/kit/index.ts";
import type { EngineStore, JournalRow } from "./store.ts";

export interface SegmentParts {
  turn: TurnId;
  session: SessionKey;
  segment: number;
  /** What is recorded of it. */
  journal: readonly JournalRow[];
  attempt: string;
  /** Whether an attempt was made since the machine was started. */
  isOfThisBoot: (attempt: string) => boolean;
  signal: AbortSignal;
  stopping: AbortSignal;
  halt: AbortSignal;
  write: (change: (tx: Tx) => void) => Promise<void>;
  store: EngineStore;
  clock: Clock;
  crash: Crash;
  /** A result of this segment is durable. */
  progressed: () => void;
  waits: () => void;
  doing: (now: Doing) => void;
}

export function segmentContext(parts: SegmentParts): Ctx {
  const journal = new SegmentJournal(parts);
  const branches = new Branches(parts.doing);
  return {
    session: parts.session,
    turn: parts.turn,
    signal: parts.signal,
    stopping: parts.stopping,
    halt: parts.halt,
    waits: parts.waits,
    apart: branches.apart,
    step: (name, run, record) => branches.branch(() => runStep(parts, journal, name, run, record)),
    // Claims its number at once, and rejects where that fails: several are made together.
    effect: (name, run, how) => branches.branch(async () => new Effect(parts, journal, name, how).run(run)),
  };
}

interface Claimed {
  idx: number;
  /** What an earlier attempt recorded there. */
  row: JournalRow | undefined;
}

/** Where a segment is in its journal. */
class SegmentJournal {
  readonly #parts: SegmentParts;
  readonly #recorded: ReadonlyMap<number, JournalRow>;
  #next = 0;
  #mismatch: AppError | undefined;

  constructor(parts: SegmentParts) {
    this.#parts = parts;
    this.#recorded = new Map(parts.journal.map((row) => [row.idx, row]));
  }

  /** The next entry. Throws where the journal has another name there. */
  claim(kind: "step" | "effect", name: string): Claimed {
    // Effects made together: the ones behind a mismatch have no entry yet and must not act either (ENGINE-6).
    if (this.#mismatch) throw this.#mismatch;
    const idx = this.#next++;
    const row = this.#recorded.get(idx);
    if (row && (row.name !== name || row.kind !== kind)) {
      this.#mismatch = new AppError("JOURNAL_MISMATCH", {
        message: `The journal of ${this.#parts.turn} has ${row.kind} "${row.name}" where the program wants ${kind} "${name}".`,
        hint: "The turn was started by a different version. Send the message again.",
      });
      throw this.#mismatch;
    }
    return { idx, row };
  }

  /** Queues a result without waiting. What the store refuses throws here, before the segment goes on as if it were kept. */
  queue(change: (tx: Tx) => void): Promise<void> {
    let refused: { error: unknown } | undefined;
    const done = this.#parts.write((tx) => {
      try {
        change(tx);
      } catch (error) {
        refused = { error };
        throw error;
      }
    });
    done.then(this.#parts.progressed, () => {});
    if (refused) throw refused.error;
    return done;
  }
}

async function runStep<T>(
  parts: SegmentParts,
  journal: SegmentJournal,
  name: string,
  run: () => Promise<T & Jsonable<T>>,
  record?: (tx: Tx, result: T) => void,
): Promise<T> {
  const { turn, segment, store, clock, attempt } = parts;
  const { idx, row } = journal.claim("step", name);
  // Replay: the world may have changed since, but the segment must take the same path (ENGINE-6).
  if (row?.state === "done") return JSON.parse(row.payload!) as T;
  requireStart(parts);
  const at = clock.now();
  // An aborted step must not look like one that failed: it was never asked for.
  const result = await run().catch((error) => {
    throw asStop(parts, error);
  });
  requireClaim(parts);
  journal.queue((tx) => {
    const entry = { turn, segment, idx, kind: "step" as const, name, attempt, at };
    store.addEntry(tx, entry, { payload: toJson<T>(result), endedAt: clock.now() });
    record?.(tx, result);
  });
  parts.crash.at("step.recorded");
  return result;
}

/** One effect, from its claim to its recorded result. */
class Effect<T> {
  readonly #parts: SegmentParts;
  readonly #journal: SegmentJournal;
  readonly #name: string;
  readonly #how: EffectHow<T>;
  readonly #idx: number;
  readonly #row: JournalRow | undefined;
  readonly #key: string;

  constructor(parts: SegmentParts, journal: SegmentJournal, name: string, how: EffectHow<T>) {
    const { idx, row } = journal.claim("effect", name);
    this.#parts = parts;
    this.#journal = journal;
    this.#name = name;
    this.#how = how;
    this.#idx = idx;
    this.#row = row;
    // The same on every attempt, so that the far side can recognise a repetition.
    this.#key = `${parts.turn}.${parts.segment}.${idx}`;
  }

  async run(act: (key: string) => Promise<T & Jsonable<T>>): Promise<EffectResult<T>> {
    const row = this.#row;
    const how = this.#how;
    // Recorded, as done or as unknown: either way it is decided and never acted on again.
    if (row && row.state !== "intent") return JSON.parse(row.payload!) as EffectResult<T>;
    const known = row && (await this.#recover(row));
    if (known) return known;
    // Also for one that is known not to have happened: a stop that came meanwhile keeps it from happening now.
    if (!row || how.repeat === "never") requireStart(this.#parts);
    const instead = await how.ready?.().catch((error: unknown) => {
      throw asStop(this.#parts, error);
    });
    requireClaim(this.#parts);
    if (instead !== undefined) {
      // An answer without an act still needs its entry, so that a replay finds the same number here.
      if (!row) this.#journal.queue((tx) => this.#parts.store.addEntry(tx, this.#entry()));
      return this.#close({ ok: instead });
    }
    this.#parts.crash.at("effect.ready");
    if (!row || how.intend) await this.#intend();
    // The claim may have been lost while the intent was written or the far side probed: then another process decides.
    requireClaim(this.#parts);
    let result: T & Jsonable<T>;
    try {
      result = await act(this.#key);
    } catch {
      // An act that throws has not said whether it happened.
      return this.#close({ unknown: true, key: this.#key });
    }
    this.#parts.crash.at("effect.acted");
    return this.#close({ ok: result });
  }

  /** The outcome of an intent without a result, or undefined if it may run again (EMBEDDED-8). */
  async #recover({ attempt }: JournalRow): Promise<EffectResult<T> | undefined> {
    const left = { sameBoot: this.#parts.isOfThisBoot(attempt) };
    // A probe that fails says nothing, which is different from "it never happened".
    const found = await this.#how.probe?.(this.#key, left).catch(() => undefined);
    if (found && "ok" in found) return this.#close({ ok: found.ok });
    return !found && this.#how.repeat === "never" ? this.#close({ unknown: true, key: this.#key }) : undefined;
  }

  async #intend(): Promise<void> {
    const { store, write, crash } = this.#parts;
    await write((tx) => {
      // The intent says which attempt made it: after the next crash that decides whether a probe can trust this machine's
      // state.
      if (this.#row) store.attemptAgain(tx, this.#entry());
      else store.addEntry(tx, this.#entry());
      this.#how.intend?.(tx);
    });
    crash.at("effect.intended");
  }

  #close(result: EffectResult<T & Jsonable<T>>): EffectResult<T> {
    requireClaim(this.#parts);
    const { turn, segment, store, clock } = this.#parts;
    const { settled, record } = this.#how;
    const done = this.#journal.queue((tx) => {
      const entry = { turn, segment, idx: this.#idx, endedAt: clock.now() };
      if ("ok" in result) store.closeEntry(tx, entry, "done", { ok: toJson<T>(result.ok) });
      else store.closeEntry(tx, entry, "unknown", result);
      record?.(tx, result);
    });
    // Only when the result is durable may the far side forget what it kept for a probe.
    if (settled) done.then(() => settled(this.#key)).catch(() => {});
    return result;
  }

  #entry() {
    const { turn, segment, attempt, clock } = this.#parts;
    return {
      turn,
      segment,
      idx: this.#idx,
      name: this.#name,
      kind: "effect" as const,
      attempt,
      at: clock.now(),
    };
  }
}

/** Throws when another process has the claim. */
function requireClaim({ signal }: SegmentParts): void {
  if (signal.aborted) throw signal.reason;
}

/** Nothing new is begun after a stop. What was begun is finished and recorded. */
function requireStart(parts: SegmentParts): void {
  requireClaim(parts);
  if (parts.stopping.aborted) throw new Stopped();
}

/** What was aborted by a stop is a stop, whatever the aborted code threw. */
function asStop({ signal, stopping }: SegmentParts, error: unknown): unknown {
  if (signal.aborted) return signal.reason;
  return stopping.aborted ? new Stopped() : error;
}
