import type { ApprovalId, SessionKey, TurnId } from "./ids.ts";
import type { Json, JsonObject } from "./json.ts";

/**
 * Every turn ends in one visible outcome (I5). `joined` is a message that was taken into another turn: that turn's
 * outcome is its outcome. `silent` is silence as a recorded decision.
 */
export type TurnState =
  | "queued"
  | "running"
  | "parked"
  | "answered"
  | "declined"
  | "failed"
  | "stopped"
  | "joined"
  | "silent"
  | "attention";

export type EndState = Exclude<TurnState, "queued" | "running" | "parked">;

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** In US dollars; null when the price is not known. Never shown as 0. */
  cost: number | null;
}

/** How a call of a model fails. */
export type FailureClass =
  | "auth"
  | "billing"
  | "rate-limit"
  | "timeout"
  | "overload"
  | "server-error"
  | "context-overflow"
  | "format"
  | "not-found"
  | "network"
  | "too-large"
  | "unknown";

/** Why a turn failed: a model's class of failure, or one of ours. `unknown-outcome`: an act may or may not have happened. `stopped-lares`: it took the process down twice (I13). `answer-format`: the answer isn't in the format that its caller asked for. */
export type TurnFailure =
  | FailureClass
  | "limit"
  | "budget"
  | "script"
  | "not-allowed"
  | "unknown-outcome"
  | "stopped-lares"
  | "answer-format";

/** How a turn ended, as it is stored and shown. */
export interface TurnResult {
  state: EndState;
  text: string;
  /** Why it failed, was stopped, or was declined; in one sentence. */
  reason?: string;
  /** With `failed` or `declined`: its kind, for code that decides how to react. */
  failure?: TurnFailure;
  /** With `joined`: the turn that carried this message. */
  joined?: TurnId;
  /** Sentences the person should see beside the answer: a fallback answered, an effect of unknown outcome. */
  notices: string[];
  model?: string;
  practice?: boolean;
  usage: Usage;
  calls: number;
  toolCalls: number;
  /** The answer ends where the model's output limit, or the caller's, cut it. */
  cut?: true;
  /** Calls of the caller's own tools: the caller runs them and sends back the results. */
  callerCalls?: { id: string; name: string; input: Json }[];
}

export type ApprovalState = "pending" | "allowed" | "denied" | "expired" | "withdrawn";
export type ApprovalDecision = "allow-once" | "allow-always" | "deny";

/** Where a command runs and how, for who shows it in other words than the tool's. */
export type RunsWhere = {
  folder: string;
  background?: true;
  terminal?: true;
  /** What shuts it in, in words. */
  sandbox?: string;
  /** The line at the end of `shown` and `whole` that says the same. */
  line: string;
};

/** A question to people before an action runs. */
export interface ApprovalRequest {
  id: ApprovalId;
  turn: TurnId;
  session: SessionKey;
  agent: string;
  tool: string;
  call: string;
  shown: string;
  because: string;
  action: JsonObject;
  /** Hash over everything the action is bound to; checked again before it runs. */
  hash: string;
  askedAt: number;
  deadline: number;
}

/** What is worst about an action that is asked about. `of`: what it concerns, such as a file or a host. */
export type Danger = {
  kind: "deletes" | "sends" | "secrets" | "settings" | "outside" | "unreadable" | "runs" | "spends";
  of?: string;
};

export interface ApprovalView {
  id: ApprovalId;
  turn: TurnId;
  session: SessionKey;
  agent: string;
  tool: string;
  /** The id of the tool call it is about. */
  call?: string;
  /** Exactly what will run, rendered from what will run. */
  shown: string;
  /** Why it was asked, one sentence. */
  because: string;
  state: ApprovalState;
  askedAt: number;
  deadline: number;
  answeredAt?: number;
  answeredBy?: string;
  reason?: string;
  action: JsonObject;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, cost: 0 };

/** Sums usage; one unknown price makes the sum unknown. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
  };
}
