/**
 * Paid model calls that a runtime makes itself, through the proxy. The same budget and the same ledger as for our own: the most it can
 * cost is set aside, and what it used is settled and recorded in one transaction.
 *
 * BUDGET-6: every call of a run that reached a provider has a line in the ledger, also one that Lares' death cut off. That one is
 * marked as guessed.
 */
import type { Records, RecordUsage, Tx, UsageBasis } from "../../core/contracts/index.ts";
import { NO_USAGE, type SessionKey, type TurnId, type Usage } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { Budget, Reservation } from "./budget.ts";

export interface ProxiedCallsParts {
  budget: Pick<Budget, "reserve">;
  records: Pick<Records, "write">;
  clock: Clock;
  recordUsage: RecordUsage;
  /** The highest number of a call of this turn that is in the ledger or under way; -1 when there is none. */
  lastCall: (turn: TurnId) => Promise<number>;
}

export interface RuntimeCall {
  turn: TurnId;
  session: SessionKey;
  agent: string;
  runtime: string;
  model: string;
  bytes: number;
  pictures: number;
  maxOutputTokens: number | undefined;
}

export interface RuntimeHold {
  /** Returns warnings about a budget that is nearly used up. */
  settle(end: { model: string; usage: Usage; basis: UsageBasis; ms: number }): string[];
  drop(): void;
  release(): void;
}

/** Runs come and go; a counter that was dropped is read again. */
const MOST_COUNTERS = 1000;

interface Counter {
  last: number;
  ready: Promise<void>;
}

export class ProxiedCalls {
  private readonly parts: ProxiedCallsParts;
  private readonly counters = new Map<string, Counter>();

  constructor(parts: ProxiedCallsParts) {
    this.parts = parts;
  }

  /** `refused` says which budget doesn't allow it. Waits while only calls in progress stand in the way. */
  async hold(call: RuntimeCall, signal: AbortSignal): Promise<RuntimeHold | { refused: string }> {
    const { turn, session, agent, runtime, model, bytes, pictures, maxOutputTokens } = call;
    const number = await this.nextCall(turn);
    const aside = await this.parts.budget.reserve(
      { turn, call: number, session, agent, runtime, request: { model, bytes, pictures, maxOutputTokens } },
      signal,
    );
    return "refused" in aside ? aside : this.holdOn(call, number, aside);
  }

  private holdOn(call: RuntimeCall, number: number, aside: Reservation): RuntimeHold {
    const { clock, recordUsage } = this.parts;
    const { turn, session, agent, runtime } = call;
    let isOver = false;
    const line = (tx: Tx, end: { model: string; usage: Usage; basis: UsageBasis; ms: number }) =>
      recordUsage(tx, { turn, call: number, session, agent, runtime, at: clock.now(), ...end });
    const end = (write: (tx: Tx) => void) => {
      isOver = true;
      // If the records can't be written, the next start settles the row.
      this.parts.records.write(write).catch(() => {});
    };
    return {
      settle: (used) => {
        if (isOver) return [];
        const warnings = aside.settle(used.usage);
        end((tx) => {
          aside.record(tx);
          line(tx, used);
        });
        return warnings;
      },
      drop: () => {
        if (isOver) return;
        const usage = { ...NO_USAGE, inputTokens: aside.sent.tokens, cost: aside.sent.dollars };
        aside.drop(0);
        end((tx) => line(tx, { model: call.model, usage, basis: "guessed", ms: 0 }));
      },
      release: () => {
        if (isOver) return;
        aside.settle(NO_USAGE);
        end((tx) => aside.record(tx));
      },
    };
  }

  /** Each call of a turn has its own number, also over restarts. */
  private async nextCall(turn: TurnId): Promise<number> {
    let counter = this.counters.get(turn);
    if (!counter) {
      const [oldest] = this.counters.keys();
      if (this.counters.size >= MOST_COUNTERS && oldest !== undefined) this.counters.delete(oldest);
      const made: Counter = { last: -1, ready: Promise.resolve() };
      made.ready = this.parts.lastCall(turn).then((last) => {
        made.last = last;
      });
      this.counters.set(turn, made);
      counter = made;
    }
    try {
      await counter.ready;
    } catch (error) {
      this.counters.delete(turn);
      throw error;
    }
    return ++counter.last;
  }
}
