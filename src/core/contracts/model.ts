/**
 * What a turn needs from the models. One call is one streamed answer; the loop is ours.
 *
 * MODEL-1: `call` never throws for a provider's failure: it tries the chain and returns `failed` with the class and reason.
 * MODEL-2: it throws only when `signal` aborts (an AbortError), so an aborted call is never taken for an answer.
 */
import type { JsonObject } from "../domain/json.ts";
import type { AnswerSettings, ModelMessage, TextPart, ThinkingPart, ToolCallPart } from "../domain/message.ts";
import type { FailureClass, Usage } from "../domain/turn.ts";

export type { FailureClass } from "../domain/turn.ts";

export interface ToolSpec {
  /** What the model calls it by. */
  name: string;
  /** What it does, when to use it, and its limits. */
  description: string;
  /** JSON Schema of the input. */
  input: JsonObject;
}

export type ThinkingLevel = "off" | "low" | "medium" | "high";

export interface ModelRequest {
  /** `provider/model`; undefined means the configured default with its fallbacks. */
  model?: string;
  /** Byte-stable for the life of a session; the prompt cache depends on it. */
  system: string;
  /** How many of its first characters are the same in all of the agent's chats, and so worth caching separately. */
  shared?: number;
  /** In a fixed order, because the prompt cache depends on it. */
  tools: readonly ToolSpec[];
  /** Stands before the messages: what is remembered, and what was said before them. Data, never instructions. */
  notes?: string;
  /** Oldest first. */
  messages: readonly ModelMessage[];
  /** How much the model may think, where it supports that. */
  thinking?: ThinkingLevel;
  /** Upper limit for the answer. */
  maxOutputTokens?: number;
  /** What a caller asked for beside the messages. A setting the model does not take is named in the reply's notice. */
  settings?: AnswerSettings;
  /** What the window leaves for the answer, thinking included. */
  room?: number;
  /** Stable per session: lets providers route to the same cache. */
  cacheKey: string;
}

export type ModelDelta =
  /** This model has begun to answer. Comes before its first piece, and again when another model starts over. */
  | { type: "answering"; model: string; practice: boolean }
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  /** What was streamed so far is void: another attempt or model starts over. */
  | { type: "discard" }
  /** An attempt failed and the next one, by this model, begins after so long. `attempt` counts from 1. */
  | { type: "retry"; model: string; failure: FailureClass; attempt: number; inMs: number };

/** An attempt of a call that failed before the call ended. */
export type FailedAttempt = { at: number; model: string; failure: FailureClass };

export type ModelReply =
  | {
      ok: true;
      /** The model that answered. */
      model: string;
      practice: boolean;
      content: (TextPart | ThinkingPart | ToolCallPart)[];
      finish: "stop" | "tool-calls" | "length" | "refusal" | "other";
      /** Of all attempts, as far as their providers reported it. */
      usage: Usage;
      /** Of the attempt that answered, where others before it were paid for too. */
      ownUsage?: Usage;
      /** Set when not the first choice answered: one sentence for the person. */
      notice: string | null;
      ms: number;
      /** Attempts before the one that answered. */
      failed?: FailedAttempt[];
    }
  | {
      ok: false;
      failure: FailureClass;
      message: string;
      hint: string | null;
      usage: Usage;
      failed?: FailedAttempt[];
      /** With "context-overflow": how many tokens the model holds, where the provider said so. */
      limit?: number;
    };

export interface ModelInfo {
  /** `provider/model`. */
  id: string;
  /** The provider's name in the settings. */
  provider: string;
  /** Tokens it can hold, answer included. */
  contextWindow: number;
  /** Longest answer in tokens. */
  maxOutput: number;
  /** US dollars per million tokens; null when not known. */
  price: { input: number; output: number; cacheRead: number; cacheWrite: number } | null;
  /** True for the built-in practice model, which is not a language model. */
  practice: boolean;
  /** Why this model is here: a key was found, configured, a local server, or the built-in practice model. */
  because: string;
  /** `host:port` that calls go to. */
  address?: string;
}

/** One piece of a request, in the order in which the model reads it. */
export interface RequestPart {
  /** What this piece is. */
  kind: "tool" | "instructions" | "notes" | "envelope" | "text" | "picture" | "thinking" | "answer" | "call" | "result";
  /** Which message it belongs to, from 0; nothing for tools and instructions. */
  message?: number;
  /** Of a tool, a call or a result: the tool's name. Of instructions: their heading. */
  name?: string;
  /** The piece as the model reads it. */
  text: string;
  /** A cache mark: the provider is asked to keep everything up to here for the next call. */
  mark?: true;
}

/** A request as it would go over the wire. */
export interface RenderedRequest {
  /** The model that would be asked first. */
  model: string;
  /** The wire protocol; `practice` has none. */
  api: string;
  /** The body, byte for byte. The key is in a header and not here. */
  body: string;
  /** The same content piece by piece, for people. */
  parts: RequestPart[];
}

/** The model of this id, else the first choice. */
export type FindModel = (id: string | undefined) => ModelInfo;

export function makeModelFinder(models: Pick<Models, "info" | "primary">): FindModel {
  return (id) => (id === undefined ? undefined : models.info(id)) ?? models.primary();
}

export interface Models {
  /** What `call` would send now, made by the same code and not sent. Throws when no provider is set up for the model. */
  render(request: ModelRequest): Promise<RenderedRequest>;
  /** One answer from the first model in the chain that gives one (MODEL-1, MODEL-2). Deltas are only for display. */
  call(request: ModelRequest, onDelta: (delta: ModelDelta) => void, signal: AbortSignal): Promise<ModelReply>;
  /** All models that are set up. */
  list(): ModelInfo[];
  /** The model a request without `model` goes to first. */
  primary(): ModelInfo;
  /** What is known about a model; undefined if its provider isn't set up. */
  info(id: string): ModelInfo | undefined;
  /** Loads what the first call needs. Called after ready; never throws. */
  warm(): Promise<void>;
}
