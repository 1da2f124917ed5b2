/**
 * The only way to make a paid model call (runtimes' own go through `ProxiedCalls`, beside this): set aside the most it can cost, call, settle what it used, and record both together
 * with the result. Turns, compaction, goals and memory all call here.
 *
 * BUDGET-5: a call that fails or is stopped is charged only for its request and the streamed tokens; nothing stays set aside. In
 *     the ledger a stopped one has guessed tokens and their price.
 */
import type { ModelDelta, ModelReply, ModelRequest, Models, RecordUsage, Tx } from "../../core/contracts/index.ts";
import { NO_USAGE, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { Budget, PlannedCall } from "./budget.ts";

/** For text streamed before a stop, which no provider counts for us. */
const LETTERS_PER_TOKEN = 4;

export interface BudgetedModelParts {
  budget: Pick<Budget, "reserve">;
  models: Pick<Models, "call">;
  clock: Clock;
  /** Writes what the call used, for the usage pages. */
  recordUsage: RecordUsage;
}

export interface BudgetedCall extends PlannedCall {
  turn: TurnId;
  session: SessionKey;
  request: ModelRequest;
  /** Aborts when a person stops it: then the call is not made again. */
  stopping?: AbortSignal;
  /** Another limit on the answer, in addition to the request's and the budget's. */
  maxOutputTokens?: number | undefined;
  /** Awaited between setting aside and calling. */
  beforeCall?: () => Promise<void>;
  onDelta?: (delta: ModelDelta) => void;
}

export interface PaidReply {
  reply: ModelReply;
  /** Sentences for the person about a budget that is nearly used up. */
  warnings: string[];
  /** Belongs in the transaction that records the reply. Idempotent. */
  record(tx: Tx): void;
}

export class BudgetedModel {
  private readonly parts: BudgetedModelParts;

  constructor(parts: BudgetedModelParts) {
    this.parts = parts;
  }

  /**
   * `refused` says which budget doesn't allow it. Waits while only calls in progress stand in the way. Throws what the call
   * throws.
   */
  async call(planned: BudgetedCall, signal: AbortSignal): Promise<PaidReply | { refused: string }> {
    const { budget, models, clock, recordUsage } = this.parts;
    const { turn, call, session, agent, request, onDelta } = planned;
    const aside = await budget.reserve(planned, signal);
    if ("refused" in aside) return aside;
    let streamed = 0;
    let hasAsked = false;
    try {
      await planned.beforeCall?.();
      hasAsked = true;
      const most = least(aside.maxOutputTokens, planned.maxOutputTokens, request.maxOutputTokens);
      const reply = await models.call(
        most === undefined ? request : { ...request, maxOutputTokens: most },
        (delta) => {
          if ("text" in delta) streamed += delta.text.length;
          onDelta?.(delta);
        },
        signal,
      );
      const warnings = aside.settle(reply.usage);
      const record = (tx: Tx) => {
        aside.record(tx);
        const [model, ms] = reply.ok ? [reply.model, reply.ms] : [null, 0];
        recordUsage(tx, { turn, call, session, agent, model, usage: reply.usage, ms, at: clock.now() });
      };
      return { reply, warnings, record };
    } catch (error) {
      const outputTokens = Math.ceil(streamed / LETTERS_PER_TOKEN);
      const { tokens: inputTokens } = aside.sent;
      const usage = { ...NO_USAGE, inputTokens, outputTokens, cost: aside.guess(outputTokens) };
      const line = { turn, call, session, agent, model: request.model ?? null, usage, ms: 0, at: clock.now() };
      const isOver = hasAsked && planned.stopping?.aborted;
      aside.drop(outputTokens, isOver ? (tx) => recordUsage(tx, { ...line, basis: "guessed" }) : undefined);
      throw error;
    }
  }
}

function least(...limits: (number | undefined)[]): number | undefined {
  let found: number | undefined;
  for (const limit of limits) if (limit !== undefined && (found === undefined || limit < found)) found = limit;
  return found;
}
