/** What the model proxy needs from the instance. */
import type { FailureClass, UsageBasis } from "../../../core/contracts/index.ts";
import type { SessionKey, TurnId, Usage } from "../../../core/domain/index.ts";

/** Whose call it is, and what it may cost at most. */
export interface ProxiedCall {
  turn: TurnId;
  session: SessionKey;
  agent: string;
  runtime: string;
  /** `provider/model`. */
  model: string;
  /** Bytes of text in the request, without pictures. */
  bytes: number;
  pictures: number;
  /** Longest answer that the request allows; undefined: as long as the model can. */
  maxOutputTokens: number | undefined;
}

/** Money that is set aside for one call. The first of the three ends it; the others do nothing after that. */
export interface ProxiedHold {
  /** The call is over: records what it used. Returns warnings about a budget that is nearly used up. */
  settle(end: { model: string; usage: Usage; basis: UsageBasis; ms: number }): string[];
  /** Nobody knows what it used: charges what the request costs once it is sent, marked as guessed. */
  drop(): void;
  /** Every provider refused it: everything is given back. */
  release(): void;
}

/** The one place where model calls are paid. */
export interface ProxyLedger {
  /** Sets aside the most it can cost, or says which budget doesn't allow it. Waits while only calls in progress stand in the way. */
  hold(call: ProxiedCall, signal: AbortSignal): Promise<ProxiedHold | { refused: string }>;
}

/** What a run hears about its own model calls at once, before its runtime has understood it. */
export interface ProxyListener {
  /** A provider failed and is asked again, or another one is, after so long. */
  onWait?(wait: { model: string; failure: FailureClass; inMs: number }): void;
  /** A call failed for good. With `auth` or `billing` no repetition helps. */
  onFailure?(failure: { failure: FailureClass | "budget"; message: string; hint: string | null }): void;
  /** A budget is nearly used up, in a sentence. */
  onWarning?(text: string): void;
  /** A call is settled. */
  onUsage?(used: { model: string; usage: Usage; basis: UsageBasis }): void;
}
