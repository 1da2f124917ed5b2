/**
 * Budgets: before a model call, the most it can cost is set aside; afterwards its actual cost is charged and the rest is returned
 * (I10). Usage is summed in the records; each open call has a row for what it set aside, so that a crash between the two is
 * noticed.
 *
 * BUDGET-1: when a call starts, what is used plus what is set aside stays within every cap. A call may still use more than it set
 * aside (the input is an estimate, a fallback may have another price); only by that much can a cap be exceeded.
 * BUDGET-2: checking and setting aside happen with no await in between, so two concurrent calls can't both take the last of a
 * budget.
 * BUDGET-3: what a dead process had set aside is settled at the next start at the price of a sent request; the rest is returned.
 * BUDGET-4: a call that would fit once others return what they set aside waits for them instead of being refused.
 */
import type { CallUse, ModelInfo, ModelRequest, Records, RecordUsage, Tx } from "../../core/contracts/index.ts";
import { asId, NO_USAGE, type SessionKey, type TurnId, type Usage } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { BudgetsConfig } from "./config.ts";
import {
  amountUsed,
  type Forecast,
  type ForeignRequest,
  forecast,
  longestAnswer,
  Sizes,
  toAmount,
} from "./estimate.ts";
import { type Amount, type BudgetKind, type Caps, judge, minus, NOTHING, plus, used } from "./judge.ts";

import { type BudgetScope, listScopes } from "./scopes.ts";
import {
  type ForeignHold,
  type HoldRow,
  insertHold,
  markWarned,
  readHolds,
  readSpent,
  type ScopeKey,
  settleHold,
} from "./store.ts";
import { refusal, warning } from "./words.ts";

export interface BudgetParts {
  records: Records;
  clock: Clock;
  config: () => BudgetsConfig;
  /** The model a request goes to first; without an id the default one. */
  model: (id: string | undefined) => Pick<ModelInfo, "price" | "maxOutput">;
  /** Most tokens of any answer, whatever the model could write. */
  mostOutput?: () => number;
  /** Writes a line in the ledger for a runtime's call that a crash cut off. Our own calls are made again and get theirs then. */
  recordUsage?: RecordUsage;
}

export interface PlannedCall {
  turn: string;
  call: number;
  session: string;
  agent: string;
  /** The job that caused it; `caps` overrides budgets.perSchedule. */
  schedule?: { id: string; caps?: Caps };
  /** Who makes the call, when it isn't our own loop. */
  runtime?: string;
  request: Pick<ModelRequest, "model" | "system" | "tools" | "notes" | "messages"> | ForeignRequest;
}

/** What is set aside for one call. Exactly one of `settle` and `drop` ends it. */
export interface Reservation {
  /** Set when the remaining budget allows only a shorter answer than usual. */
  readonly maxOutputTokens: number | undefined;
  /** What the request costs once it has been sent, as far as can be guessed. */
  readonly sent: Amount;
  /** What it costs in dollars when so much of its answer has come; null if the model's price isn't known. */
  guess(streamedTokens: number): number | null;
  /** The answer has arrived: charges what it used and returns the rest. Returns any warnings that are now due. */
  settle(usage: Usage): string[];
  /** Writes the same to the records, in the transaction that records the answer. Idempotent. */
  record(tx: Tx): void;
  /**
   * No answer will come: charges what the request and the streamed tokens cost. Does nothing after `settle`. `also` is written
   * in the same transaction.
   */
  drop(streamedTokens: number, also?: (tx: Tx) => void): void;
}

export interface BudgetUse extends ScopeKey {
  caps: Caps;
  spent: Amount;
  reserved: Amount;
}

/** The in-memory totals of one scope. While `users` is above zero a call counts against it and it must stay loaded. */
interface Tally {
  spent: Amount;
  reserved: Amount;
  warned: boolean;
  users: number;
  /** Resolves once it has been read from the records. */
  ready: Promise<void>;
}

/** Sessions come and go; beyond this many, idle ones are dropped and read again when needed. */
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
        for (const hold of left) {
          settleHold(tx, hold, hold.sent);
          if (hold.foreign) parts.recordUsage?.(tx, toUnknownUse(hold, hold.foreign));
        }
      });
    }
    return new Budget(parts);
  }

  /** Sets aside the most this call can cost, or says why it can't. Waits while only calls in progress stand in the way. */
  async reserve(call: PlannedCall, signal: AbortSignal): Promise<Reservation | { refused: string }> {
    const { clock, records, model, mostOutput } = this.parts;
    const config = this.parts.config();
    const { price, maxOutput } = model(call.request.model);
    const foreign = "bytes" in call.request ? call.request : undefined;
    const own = Math.min(maxOutput, mostOutput?.() ?? maxOutput);
    const info = { price, maxOutput: foreign ? (foreign.maxOutputTokens ?? maxOutput) : own };
    const scopes = listScopes(config, call, clock.now());
    const tallies = await this.enter(scopes);
    try {
      const f = forecast(call.request, info.price, config.unknownPricePerMillion, this.sizes);
      for (;;) {
        signal.throwIfAborted();
        const left = scopes.map((scope, i) => ({ scope, caps: scope.caps, ...tallies[i]! }));
        // What somebody else wrote is passed on as it is, so its answer can't be made shorter.
        const output = foreign ? info.maxOutput : longestAnswer(f, info.maxOutput, left);
        const most = toAmount(f, output);
        const verdicts = left.map((l) => judge(l.caps, l.spent, l.reserved, most));
        const over = verdicts.findIndex((v) => v.verdict === "over");
        if (over >= 0) {
          this.leave(tallies);
          const { scope, spent } = left[over]!;
          const { kind } = verdicts[over] as { kind: BudgetKind };
          const unknown = info.price ? {} : { unknownPer: config.unknownPricePerMillion };
          return { refused: refusal(scope, kind, spent, { estimate: most, ...unknown }) };
        }
        if (verdicts.some((v) => v.verdict === "wait")) {
          await this.change(signal);
          continue;
        }
        for (const tally of tallies) tally.reserved = plus(tally.reserved, most);
        const sent = toAmount(f, 0);
        // Queued, not awaited: it is durable by about the time the request leaves, without slowing the turn. A quick answer
        // shares its commit.
        const hold = { ...call, scopes: scopes.map(toKey), most, sent, at: clock.now(), ...foreignPart(call) };
        records.write((tx) => insertHold(tx, hold), { lazy: true }).catch(() => {});
        const shorter = output < info.maxOutput ? output : undefined;
        return this.reservation(call, scopes, tallies, { most, sent, shorter, forecast: f });
      }
    } catch (error) {
      this.leave(tallies);
      throw error;
    }
  }

  /** Forgets the in-memory totals, e.g. because the session was deleted; the next call reads the records again. */
  forget(session: string): void {
    const id = makeId({ kind: "session", name: session, day: "" });
    if (this.tallies.get(id)?.users === 0) this.tallies.delete(id);
  }

  /** How much of this agent's and session's budgets is used. */
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
    a: { most: Amount; sent: Amount; shorter: number | undefined; forecast: Forecast },
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
      sent: a.sent,
      guess: (streamed) => (a.forecast.isAssumed ? null : toAmount(a.forecast, streamed).dollars),
      settle: (usage) => {
        if (ended) return [];
        const config = this.parts.config();
        const amount = amountUsed(usage, config.unknownPricePerMillion);
        // Nobody counted it: it cost at least about what the request does.
        end(usage.cost === null && amount.tokens === 0 ? a.sent : amount);
        return scopes.flatMap((scope, i) => {
          const tally = tallies[i]!;
          const far = used(scope.caps, tally.spent);
          if (tally.warned || !far || far.share < config.warnAt) return [];
          tally.warned = true;
          warned.push(scope);
          const unknownPer = usage.cost === null ? config.unknownPricePerMillion : undefined;
          return [warning(scope, far.kind, tally.spent, unknownPer)];
        });
      },
      record,
      drop: (streamedTokens, also) => {
        if (ended) return;
        end(toAmount(a.forecast, streamedTokens));
        const write = (tx: Tx) => {
          record(tx);
          also?.(tx);
        };
        // If the records can't be written either, the next start settles the row.
        this.parts.records.write(write).catch(() => {});
      },
    };
  }

  /**
   * Loads the totals of these scopes and keeps them in memory until `leave`. `users` is raised before the first await, so that
   * they can't be dropped while loading.
   */
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

  /** Resolves when some call returns what it set aside. */
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

/** What is needed to write a line in the ledger without the process that made the call. */
function foreignPart({ session, agent, runtime, request }: PlannedCall): { foreign?: ForeignHold } {
  return runtime === undefined ? {} : { foreign: { session, agent, runtime, model: request.model ?? null } };
}

function toUnknownUse({ turn, call, sent, at }: HoldRow, { session, agent, runtime, model }: ForeignHold): CallUse {
  const usage = { ...NO_USAGE, inputTokens: sent.tokens, cost: sent.dollars };
  const ids = { turn: asId<TurnId>(turn), session: asId<SessionKey>(session) };
  return { ...ids, call, agent, runtime, model, usage, basis: "guessed", ms: 0, at };
}

function toKey({ kind, name, day }: ScopeKey): ScopeKey {
  return { kind, name, day };
}

function makeId(scope: ScopeKey): string {
  return `${scope.kind}\n${scope.name}\n${scope.day}`;
}
