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
import { AppError, type Json, type SessionKey, type TurnId } from "../../../core/domain/index.ts";
import type { Clock, Crash } from "../../../core/kit/index.ts";
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
}

export function segmentContext(parts: SegmentParts): Ctx {
  const { turn, segment, store, clock, crash, write } = parts;
  const recorded = new Map<number, JournalRow>(parts.journal.map((row) => [row.idx, row]));
  let next = 0;
  let mismatch: AppError | undefined;

  const claim = (kind: "step" | "effect", name: string) => {
    // Effects made together: the ones behind a mismatch have no entry yet and must not act either (ENGINE-6).
    if (mismatch) throw mismatch;
    const idx = next++;
    const row = recorded.get(idx);
    if (row && (row.name !== name || row.kind !== kind)) {
      mismatch = new AppError("JOURNAL_MISMATCH", {
        message: `The journal of ${turn} has ${row.kind} "${row.name}" where the program wants ${kind} "${name}".`,
        hint: "The turn was started by a different version. Send the message again.",
      });
      throw mismatch;
    }
    return { idx, row };
  };

  const mayStart = () => {
    if (parts.signal.aborted) throw parts.signal.reason;
    if (parts.stopping.aborted) throw new Stopped();
  };

  /** Queues a result without waiting. What the store refuses throws here, before the segment goes on as if it were kept. */
  const queue = (change: (tx: Tx) => void) => {
    let refused: { error: unknown } | undefined;
    const done = write((tx) => {
      try {
        change(tx);
      } catch (error) {
        refused = { error };
        throw error;
      }
    });
    done.then(parts.progressed, () => {});
    if (refused) throw refused.error;
    return done;
  };

  /** What was aborted by a stop is a stop, whatever the aborted code threw. */
  const asStop = (error: unknown) => {
    if (parts.signal.aborted) return parts.signal.reason;
    return parts.stopping.aborted ? new Stopped() : error;
  };

  return {
    session: parts.session,
    turn,
    signal: parts.signal,
    stopping: parts.stopping,
    halt: parts.halt,
    waits: parts.waits,

    async step<T extends Json>(name: string, run: () => Promise<T>, record?: (tx: Tx, result: T) => void): Promise<T> {
      const { idx, row } = claim("step", name);
      if (row?.state === "done") return JSON.parse(row.payload!) as T;
      mayStart();
      const at = clock.now();
      const result = await run().catch((error) => {
        throw asStop(error);
      });
      if (parts.signal.aborted) throw parts.signal.reason;
      queue((tx) => {
        store.addEntry(
          tx,
          { turn, segment, idx, kind: "step", name, attempt: parts.attempt, at },
          { payload: result, endedAt: clock.now() },
        );
        record?.(tx, result);
      });
      crash.at("step.recorded");
      return result;
    },

    async effect<T extends Json>(
      name: string,
      run: (key: string) => Promise<T>,
      how: EffectHow<T>,
    ): Promise<EffectResult<T>> {
      const { idx, row } = claim("effect", name);
      const key = `${turn}.${segment}.${idx}`;
      if (row && row.state !== "intent") return JSON.parse(row.payload!) as EffectResult<T>;
      const entry = () => ({
        ...{ turn, segment, idx, name, kind: "effect" as const },
        ...{ attempt: parts.attempt, at: clock.now() },
      });
      const close = (result: EffectResult<T>) => {
        if (parts.signal.aborted) throw parts.signal.reason;
        const done = queue((tx) => {
          const state = "ok" in result ? "done" : "unknown";
          store.closeEntry(tx, { turn, segment, idx, endedAt: clock.now() }, state, result as unknown as Json);
          how.record?.(tx, result);
        });
        if (how.settled) done.then(() => how.settled!(key)).catch(() => {});
        return result;
      };
      if (row) {
        const left = { sameBoot: parts.isOfThisBoot(row.attempt) };
        const found = await how.probe?.(key, left).catch(() => undefined);
        if (found && "ok" in found) return close({ ok: found.ok });
        if (!found && how.repeat === "never") return close({ unknown: true, key });
      }
      // Also for one that is known not to have happened: a stop that came meanwhile keeps it from happening now.
      if (!row || how.repeat === "never") mayStart();
      const instead = await how.ready?.().catch((error: unknown) => {
        throw asStop(error);
      });
      if (parts.signal.aborted) throw parts.signal.reason;
      if (instead !== undefined) {
        if (!row) queue((tx) => store.addEntry(tx, entry()));
        return close({ ok: instead });
      }
      crash.at("effect.ready");
      if (!row || how.intend) {
        await write((tx) => {
          if (row) store.attemptAgain(tx, entry());
          else store.addEntry(tx, entry());
          how.intend?.(tx);
        });
        crash.at("effect.intended");
      }
      // The claim may have been lost while the intent was written or the far side probed: then another process decides.
      if (parts.signal.aborted) throw parts.signal.reason;
      let result: T;
      try {
        result = await run(key);
      } catch {
        // An act that throws has not said whether it happened.
        return close({ unknown: true, key });
      }
      crash.at("effect.acted");
      return close({ ok: result });
    },
  };
}
