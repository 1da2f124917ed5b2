/**
 * One segment: the app's function run against the journal. What is recorded is replayed, what is not is done and recorded.
 *
 * G1: entries are numbered in the order of the calls, so parallel effects keep their numbers on replay.
 * G2: a step's result is queued, not awaited; an effect's intent is awaited (E4). A result and the next intent share a commit.
 * G3: an intent found without a result belongs to an attempt that died: it is repeated only where that is declared harmless.
 */
import { type Ctx, type EffectResult, Stopped, type Tx } from "../../../core/contracts/index.ts";
import { AppError, type Json, type SessionKey, type TurnId } from "../../../core/domain/index.ts";
import type { Clock, Crash } from "../../../core/kit/index.ts";
import type { EngineStore, JournalRow } from "./store.ts";

export interface SegmentParts {
  turn: TurnId;
  session: SessionKey;
  segment: number;
  attempt: string;
  signal: AbortSignal;
  stopping: AbortSignal;
  halt: AbortSignal;
  write: (change: (tx: Tx) => void) => Promise<void>;
  store: EngineStore;
  clock: Clock;
  crash: Crash;
  /** A result of this segment is durable. */
  progressed: () => void;
}

export function segmentContext(parts: SegmentParts): Ctx {
  const { turn, segment, store, clock, crash, write } = parts;
  const recorded = new Map<number, JournalRow>(store.journal(turn, segment).map((row) => [row.idx, row]));
  let next = 0;
  let mismatch: AppError | undefined;

  const claim = (kind: "step" | "effect", name: string) => {
    // Effects made together: the ones behind a mismatch have no entry yet and must not act either (E6).
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
      how: {
        repeat: "never" | "with-key" | "safe";
        probe?: (key: string) => Promise<T | undefined>;
        record?: (tx: Tx, result: EffectResult<T>) => void;
      },
    ): Promise<EffectResult<T>> {
      const { idx, row } = claim("effect", name);
      const key = `${turn}.${segment}.${idx}`;
      if (row && row.state !== "intent") return JSON.parse(row.payload!) as EffectResult<T>;
      const close = (result: EffectResult<T>) => {
        if (parts.signal.aborted) throw parts.signal.reason;
        queue((tx) => {
          const state = "ok" in result ? "done" : "unknown";
          store.closeEntry(tx, { turn, segment, idx, endedAt: clock.now() }, state, result as unknown as Json);
          how.record?.(tx, result);
        });
        return result;
      };
      if (row) {
        const known = how.probe ? await how.probe(key).catch(() => undefined) : undefined;
        if (known !== undefined) return close({ ok: known });
        if (how.repeat === "never") return close({ unknown: true, key });
      } else {
        mayStart();
        const entry = { turn, segment, idx, kind: "effect" as const, name, attempt: parts.attempt, at: clock.now() };
        await write((tx) => store.addEntry(tx, entry));
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
