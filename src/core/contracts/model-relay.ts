/**
 * Model calls that somebody else wrote: a runtime speaks to us as if we were its provider, and we pass the call on. Keys, failover and
 * cooldown are the same as for our own calls; the words are theirs.
 *
 * RELAY-1: the answer's bytes are passed on unchanged, a piece at a time, and no faster than they are taken.
 * RELAY-2: another credential or model is asked only as long as no answer has begun. What fails in the middle has failed.
 * RELAY-3: nothing of the caller's credentials reaches a provider, and nothing of the provider's reaches the caller.
 * RELAY-4: `send` rejects only when `signal` aborts. `pieces` rejects when the answer breaks off.
 */
import type { JsonObject } from "../domain/json.ts";
import type { FailureClass, Usage } from "../domain/turn.ts";
import type { ModelApi } from "./runtime.ts";

export interface RelayCall {
  /** The wire format of body and answer. */
  api: ModelApi;
  /** An answer, or only how many tokens the request has, which costs nothing. */
  kind: "answer" | "count";
  /** As the caller wrote it; `provider/model` is understood too. */
  model: string;
  /** `provider/model` that the caller's name stands for, where that is known. */
  meant?: string;
  /** Whether the answer is asked for as a stream of events. */
  stream: boolean;
  /** The request, byte for byte. Only another model's name is ever written into it. */
  body: Uint8Array;
  /** Headers that belong to the wire format, in lower case. */
  headers: Readonly<Record<string, string>>;
  /** What stood behind the path, without the question mark and without a key. */
  query: string;
}

/** What an answer has used so far. */
export interface RelayedUsage {
  /** As the provider reported it, and where that isn't complete as its length suggests. */
  usage: Usage;
  /** The provider's report is complete: nothing of it is a guess. */
  isWhole: boolean;
}

export interface RelayedAnswer {
  /** An answer has begun. */
  ok: true;
  /** `provider/model` that answers. */
  model: string;
  /** As the provider sent it. */
  status: number;
  /** Those of the provider's headers that mean something to a caller. */
  headers: Readonly<Record<string, string>>;
  /** The body, piece by piece, read when it is asked for (RELAY-1). Leaving the loop closes the connection. */
  pieces(): AsyncIterable<Uint8Array>;
  /** What it has used up to now. */
  used(): RelayedUsage;
}

export interface RelayFailure {
  /** No answer has begun, and none will. */
  ok: false;
  /** What kind of failure it was in the end. */
  failure: FailureClass;
  /** One clause for each model that was asked, in our words. */
  message: string;
  /** What the owner can do about it. */
  hint: string | null;
  /** The provider's own answer, where the caller may want to read it: too long, malformed, rate limit. Never about a key. */
  said: { status: number; body: string; headers: Readonly<Record<string, string>> } | null;
}

/** An attempt failed and the next one, by this model, begins after so long. */
export interface RelayWait {
  /** `provider/model` that is asked next. */
  model: string;
  /** Why the one before failed. */
  failure: FailureClass;
  /** How long the pause is. */
  inMs: number;
}

export interface ModelRelay {
  /** Which model such a call would go to, or why to none. `practice`: no provider is set up at all. */
  choose(api: ModelApi, model: string): { model: string; practice: boolean } | { message: string; hint: string };
  /** Passes it on (RELAY-2, RELAY-4). Only for calls that `choose` has a model for. */
  send(call: RelayCall, onWait: (wait: RelayWait) => void, signal: AbortSignal): Promise<RelayedAnswer | RelayFailure>;
}

/** What a script is asked, in any of the formats. */
export interface ScriptRequest {
  /** The request as it was written. */
  text: string;
  /** The tools that it offers, with the JSON schema of their input. */
  tools: readonly { name: string; input: JsonObject }[];
  /** Results of tools in it, for formats whose calls have no ids. */
  results: number;
}

/** What a script answers: words, one piece after the other, and then a call at most. */
export interface ScriptAnswer {
  /** Each is sent by itself. */
  text: readonly string[];
  /** Between two pieces. */
  gapMs?: number;
  /** The tool that it calls in the end. */
  call?: { id: string; name: string; input: JsonObject };
}

/** Answers calls of runtimes by a script, in the format they were asked in: no provider is asked, and nothing is paid. */
export type MakeScriptedRelay = (script: (request: ScriptRequest) => ScriptAnswer) => ModelRelay;
