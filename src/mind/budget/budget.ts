/**
 * Budgets: before a model call the most it can cost is set aside, after it what it did cost is kept and the rest comes back
 * (I10). What is used is summed in the records; what is set aside is a row a call, so that a crash between the two is seen.
 *
 * BUDGET-1: what is used plus what is set aside passes no cap when a call begins. A call may still use more than was set aside
 *     (an estimate of its input, a fallback at another price); only by that much can a cap be passed.
 * BUDGET-2: judging and setting aside happen in one go, with nothing awaited in between: calls side by side cannot both have the
 *     last of it.
 * BUDGET-3: what a dead process had set aside is settled at the start with what a sent request costs; the rest comes back.
 * BUDGET-4: a call that only waits for others to give back what they set aside is not refused but waits for them.
 */
import type { ModelInfo, ModelRequest, Records, Tx } from "../../core/contracts/index.ts";
import type { Usage } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { BudgetsConfig } from "./config.ts";
import { amountUsed, forecast, longestAnswer, Sizes, toAmount } from "./estimate.ts";
import { type Amount, type Caps, judge, minus, NOTHING, plus, used } from "./judge.ts";
import { type BudgetScope, listScopes, refusal, warning } from "./scopes.ts";
import { insertHold, markWarned, readHolds, readSpent, type ScopeKey, settleHold } from "./store.ts";

export interface BudgetParts {
  records: Records;
  clock: Clock;
  config: () => BudgetsConfig;
  /** The model a request goes to first; without an id the default one. */
  model: (id: string | undefined) => Pick<ModelInfo, "price" | "maxOutput">;
}

export interface PlannedCall {
  turn: string;
  call: number;
  session: string;
  agent: string;
  /** The job that caused it; `caps` goes before budgets.perSchedule. */
  schedule?: { id: string; caps?: Caps };
  request: Pick<ModelRequest, "model" | "system" | "tools" | "notes" | "messages">;
}

/** What is set aside for one call. Exactly one of `settle` and `drop` ends it. */
export interface Reservation {
  /** Set when what is left allows only a shorter answer than usual. */
  readonly maxOutputTokens: number | undefined;
  /** The answer is here: keeps what it used, gives back the rest. Returns warnings that became due. */
  settle(usage: Usage): string[];
  /** The same in the records, in the transaction that records the answer. A second time changes nothing. */
  record(tx: Tx): void;
  /** No answer will come: keeps what the request and the streamed tokens cost. Does nothing after `settle`. */
  drop(streamedTokens: number): void;
}

export interface BudgetUse extends ScopeKey {
  caps: Caps;
  spent: Amount;
  reserved: Amount;
}

/** What is known of one scope in memory. `users` keeps it there while a call counts against it. */
interface Tally {
  spent: Amount;
  reserved: Amount;
  warned: boolean;
  users: number;
  /** Resolves when it was read from the records. */
  ready: Promise<void>;
}

/** Sessions come and go; beyond this many the idle ones are read again when they are needed. */
const MOST_TALLIES = 1000;

export class Budget {
  private readonly parts: BudgetParts;
  private readonly tallies = new Map<string, Tally>();
  private readonly waiting = new Set<() => void>();
  private readonly sizes = new Sizes();

  private constructor(parts: BudgetParts) {
    this.parts = parts;
  }

  /** Settles what an earlier process left behind, then opens. */
  static async open(parts: BudgetParts): Promise<Budget> {
    const left = await readHolds(parts.records);
    if (left.length) {
      await parts.records.write((tx) => {
        for (const hold of left) settleHold(tx, hold, hold.sent);
      });
    }
    return new Budget(parts);
  }

  /** Sets aside the most this call can cost, or says why not. Waits while only calls under way are in the way. */
  async reserve(call: PlannedCall, signal: AbortSignal): Promise<Reservation | { refused: string }> {
    const { clock, records, model } = this.parts;
    const config = this.parts.config();
    const info = model(call.request.model);
    const scopes = listScopes(config, call, clock.now());
    const tallies = await this.enter(scopes);
    try {
      const f = forecast(call.request, info.price, config.unknownPricePerMillion, this.sizes);
      for (;;) {
        signal.throwIfAborted();
        const left = scopes.map((scope, i) => ({ scope, caps: scope.caps, ...tallies[i]! }));
        const output = longestAnswer(f, info.maxOutput, left);
        const most = toAmount(f, output);
        const verdicts = left.map((l) => judge(l.caps, l.spent, l.reserved, most));
        const over = verdicts.findIndex((v) => v.verdict === "over");
        if (over >= 0) {
          this.leave(tallies);
          const { scope, spent } = left[over]!;
          const { kind } = verdicts[over] as { kind: keyof Amount };
          const unknown = info.price ? {} : { unknownPer: config.unknownPricePerMillion };
          return { refused: refusal(scope, kind, spent, { estimate: most, ...unknown }) };
        }
        if (verdicts.some((v) => v.verdict === "wait")) {
          await this.change(signal);
          continue;
        }
        for (const tally of tallies) tally.reserved = plus(tally.reserved, most);
        const sent = toAmount(f, 0);
        // Queued, not awaited: it is durable about when the request leaves, and a turn is not slowed by it. An answer that comes
        // at once shares its commit.
        const hold = { ...call, scopes: scopes.map(toKey), most, sent, at: clock.now() };
        records.write((tx) => insertHold(tx, hold), { lazy: true }).catch(() => {});
        const shorter = output < info.maxOutput ? output : undefined;
        return this.reservation(call, scopes, tallies, { most, sent, shorter, outputPrice: f.outputPrice });
      }
    } catch (error) {
      this.leave(tallies);
      throw error;
    }
  }

  /** Read again from the records at the next call, e.g. because the session was deleted. */
  forget(session: string): void {
    const id = makeId({ kind: "session", name: session, day: "" });
    if (this.tallies.get(id)?.users === 0) this.tallies.delete(id);
  }

  /** How far the budgets of this agent and session are used. */
  async use(of: { agent: string; session: string }): Promise<BudgetUse[]> {
    const scopes = listScopes(this.parts.config(), of, this.parts.clock.now());
    const tallies = await this.enter(scopes);
    this.leave(tallies);
    return scopes.map((scope, i) => ({ ...scope, spent: tallies[i]!.spent, reserved: tallies[i]!.reserved }));
  }

  private reservation(
    call: PlannedCall,
    scopes: BudgetScope[],
    tallies: Tally[],
    a: { most: Amount; sent: Amount; shorter: number | undefined; outputPrice: number },
  ): Reservation {
    let ended: Amount | undefined;
    const warned: BudgetScope[] = [];
    const end = (amount: Amount) => {
      ended = amount;
      for (const tally of tallies) {
        tally.reserved = minus(tally.reserved, a.most);
        tally.spent = plus(tally.spent, amount);
      }
      this.leave(tallies);
      for (const wake of [...this.waiting]) wake();
    };
    const record = (tx: Tx) => {
      settleHold(tx, { ...call, scopes }, ended ?? a.sent);
      for (const scope of warned) markWarned(tx, scope, this.parts.clock.now());
    };
    return {
      maxOutputTokens: a.shorter,
      settle: (usage) => {
        if (ended) return [];
        const config = this.parts.config();
        end(amountUsed(usage, config.unknownPricePerMillion));
        return scopes.flatMap((scope, i) => {
          const tally = tallies[i]!;
          const far = used(scope.caps, tally.spent);
          if (tally.warned || !far || far.share < config.warnAt) return [];
          tally.warned = true;
          warned.push(scope);
          return [warning(scope, far.kind, tally.spent)];
        });
      },
      record,
      drop: (streamedTokens) => {
        if (ended) return;
        end(plus(a.sent, { dollars: streamedTokens * a.outputPrice, tokens: streamedTokens, calls: 0 }));
        // When the records are gone too, the next start settles the row.
        this.parts.records.write(record).catch(() => {});
      },
    };
  }

  /** Loads what is known of these scopes and keeps it in memory until `leave`. Counted at once, so it cannot be dropped meanwhile. */
  private async enter(scopes: readonly BudgetScope[]): Promise<Tally[]> {
    const tallies = scopes.map((scope) => {
      const tally = this.tallies.get(makeId(scope)) ?? this.load(scope);
      tally.users++;
      return tally;
    });
    try {
      await Promise.all(tallies.map((tally) => tally.ready));
    } catch (error) {
      this.leave(tallies);
      for (const scope of scopes) this.tallies.delete(makeId(scope));
      throw error;
    }
    return tallies;
  }

  private load(scope: ScopeKey): Tally {
    if (this.tallies.size >= MOST_TALLIES) {
      for (const [id, idle] of this.tallies) if (idle.users === 0) this.tallies.delete(id);
    }
    const tally: Tally = { spent: NOTHING, reserved: NOTHING, warned: false, users: 0, ready: Promise.resolve() };
    tally.ready = readSpent(this.parts.records, scope).then((known) => void Object.assign(tally, known));
    this.tallies.set(makeId(scope), tally);
    return tally;
  }

  private leave(tallies: readonly Tally[]): void {
    for (const tally of tallies) tally.users--;
  }

  /** Resolves when something was given back. */
  private change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        this.waiting.delete(done);
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const stop = () => {
        this.waiting.delete(done);
        reject(signal.reason);
      };
      this.waiting.add(done);
      signal.addEventListener("abort", stop, { once: true });
    });
  }
}

function toKey({ kind, name, day }: ScopeKey): ScopeKey {
  return { kind, name, day };
}

function makeId(scope: ScopeKey): string {
  return `${scope.kind}\n${scope.name}\n${scope.day}`;
}
