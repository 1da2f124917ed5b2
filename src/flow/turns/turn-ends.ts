/**
 * Waiting for a turn without holding it: callers are notified when its end or park is durable, and then read the records. A
 * joined message is followed to the turn that carries it.
 */
import type { Records } from "../../core/contracts/index.ts";
import type { TurnId } from "../../core/domain/index.ts";
import { type Bus, deadline } from "../../core/kit/index.ts";
import { readTurn, type TurnRow } from "./store.ts";

/** Enough for those who ask in the same moment, and little to hold. */
const MOST_REMEMBERED = 64;
const LONGEST_REMEMBERED = 16_384;

export class TurnEnds {
  private readonly records: Records;
  private lost: Error | undefined;
  private readonly listeners = new Map<TurnId, Set<() => void>>();
  /** Accepted in this life and not settled since: neither ended nor parked, so there is nothing to read yet. */
  private readonly atWork = new Set<TurnId>();
  /** Turns that ended just now: what ended does not change, and several ask for the same one at the same moment. */
  private readonly ended = new Map<TurnId, TurnRow>();
  private readonly reading = new Map<TurnId, Promise<TurnRow | undefined>>();

  constructor(records: Records) {
    this.records = records;
  }

  /** Notices turns as they are accepted, which saves a read for each caller who waits for one. Returns how to stop. */
  follow(bus: Bus): () => void {
    return bus.on((event) => {
      if (event.event === "turn.accepted") this.atWork.add(event.turn);
    });
  }

  /** To be called when a turn ended or parked. */
  settled(turn: TurnId): void {
    this.atWork.delete(turn);
    // A look that began before the end must not be shared by those who ask after it.
    this.reading.delete(turn);
    const waiting = this.listeners.get(turn);
    if (!waiting) return;
    this.listeners.delete(turn);
    for (const wake of waiting) wake();
  }

  /** The records are gone and nothing more will be reported, so every waiting caller gets an error. */
  lose(reason: Error): void {
    this.lost ??= reason;
    for (const turn of [...this.listeners.keys()]) this.settled(turn);
  }

  /** The turn as the records have it. */
  async read(turn: TurnId): Promise<TurnRow | undefined> {
    const known = this.ended.get(turn);
    if (known) return known;
    // All callers waiting for a turn ask at the same moment, so they share one read.
    const running = this.reading.get(turn);
    if (running) return running;
    const reading = this.look(turn).finally(() => {
      if (this.reading.get(turn) === reading) this.reading.delete(turn);
    });
    this.reading.set(turn, reading);
    return reading;
  }

  /** Whether it works, or will: neither ended nor parked. */
  async isBusy(turn: TurnId): Promise<boolean> {
    const row = await this.read(turn);
    return row !== undefined && row.endedAt === undefined && row.state !== "parked";
  }

  private async look(turn: TurnId): Promise<TurnRow | undefined> {
    const row = await readTurn(this.records.committed, turn);
    if (row?.endedAt !== undefined && (row.result?.text.length ?? 0) <= LONGEST_REMEMBERED) {
      // The oldest goes: callers ask for a turn shortly after its end or not at all.
      if (this.ended.size >= MOST_REMEMBERED) this.ended.delete(this.ended.keys().next().value as TurnId);
      this.ended.set(turn, row);
    }
    return row;
  }

  /** The turn was deleted with its session. */
  forget(): void {
    this.ended.clear();
  }

  /** The turn when it has ended (or `settled`: ended or parked), or as it is when `signal` fires. */
  async until(turn: TurnId, how: "ended" | "settled", signal: AbortSignal): Promise<TurnRow | undefined> {
    for (let id = turn; ; ) {
      if (this.lost) throw this.lost;
      // Listening before reading, so that an end between the two is not missed.
      const listener = this.listen(id, signal);
      try {
        if (signal.aborted || !this.atWork.has(id)) {
          const row = await this.read(id);
          if (!row) return undefined;
          // Its message was answered by another turn, so that one's end is the answer.
          if (row.result?.joined) {
            id = row.result.joined;
            continue;
          }
          const isDone = row.endedAt !== undefined || (how === "settled" && row.state === "parked");
          if (isDone || signal.aborted) return row;
        }
        await listener.woken;
      } finally {
        listener.release();
      }
    }
  }

  /** Waits for the end; for a parked turn only as long as a caller is asked to wait. */
  async untilEnd(turn: TurnId, parkedMs: number, gone: AbortSignal): Promise<TurnRow | undefined> {
    for (;;) {
      const first = await this.until(turn, "settled", gone);
      if (first === undefined || first.endedAt !== undefined || gone.aborted) return first;
      const patience = deadline(gone, parkedMs);
      const row = await this.until(turn, "ended", patience.signal).finally(patience.done);
      // Somebody answered meanwhile and it works again: then its end is what the caller waits for.
      const works = row !== undefined && row.endedAt === undefined && row.state !== "parked";
      if (!works || gone.aborted) return row;
    }
  }

  /** How many callers are listening now. */
  listening(): number {
    let count = 0;
    for (const waiting of this.listeners.values()) count += waiting.size;
    return count;
  }

  private listen(turn: TurnId, signal: AbortSignal): { woken: Promise<void>; release: () => void } {
    const set = this.listeners.get(turn) ?? new Set();
    this.listeners.set(turn, set);
    let wake = () => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const release = () => {
      signal.removeEventListener("abort", release);
      set.delete(release);
      if (!set.size && this.listeners.get(turn) === set) this.listeners.delete(turn);
      wake();
    };
    set.add(release);
    if (signal.aborted) release();
    else signal.addEventListener("abort", release, { once: true });
    return { woken, release };
  }
}
