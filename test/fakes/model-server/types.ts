/**
 * The words of the scripted model server. Every protocol is normalised to one request, and every answer is written
 * from one reply, so that a script does not know which protocol was spoken.
 *
 * Documentation: see server.ts
 */
export type Protocol = "anthropic" | "openai-chat" | "openai-responses" | "google";

export type NormalPart =
  | { type: "text"; text: string }
  /** The line Lares puts before a message. It leads the message it belongs to. */
  | { type: "envelope"; text: string }
  | { type: "image"; mediaType: string; data: string }
  | { type: "thinking"; text: string; signature?: string }
  | { type: "tool-call"; id: string; name: string; input: unknown }
  | {
      type: "tool-result";
      id: string;
      text: string;
      isError?: boolean;
      /** Pictures inside of the result, where the protocol has a place for them. */
      images?: { mediaType: string; data: string }[];
    };

/** Each user text is a message of its own, also where the protocol merged several into one. */
export interface NormalMessage {
  role: "user" | "assistant" | "tool";
  parts: NormalPart[];
}

export interface NormalRequest {
  protocol: Protocol;
  model: string;
  system: string;
  tools: string[];
  messages: NormalMessage[];
  stream: boolean;
  /** The prompt-cache marks found: Anthropic breakpoints, or 1 when OpenAI got a cache key. */
  cacheMarks: number;
}

/** A request as it is kept: the normal form and what came over the wire. */
export interface SeenRequest extends NormalRequest {
  at: number;
  bytes: number;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Record<string, unknown>;
  /** The body byte for byte. */
  raw: string;
  /** The connection was closed by the client before the answer was complete. */
  aborted: boolean;
}

export type FailureKind =
  | "auth"
  | "billing"
  | "rate-limit"
  | "overload"
  | "context-overflow"
  | "format"
  | "not-found"
  | "server";

export interface ScriptedFailure {
  /** Defaults to the status this provider uses for the kind. */
  status?: number;
  kind?: FailureKind;
  message?: string;
  retryAfterS?: number;
  /** Replaces the provider-shaped body. */
  body?: string;
  /** As an event inside a stream that began well, after the first half of the text. */
  midStream?: boolean;
}

export interface ScriptedCall {
  id?: string;
  name: string;
  input?: unknown;
  /** Sent as the input instead of JSON. */
  raw?: string;
}

export interface Reply {
  text?: string;
  thinking?: { text: string; signature?: string };
  toolCalls?: ScriptedCall[];
  finish?: "stop" | "tool-calls" | "length" | "refusal";
  usage?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number };
  /** Into how many deltas the text is cut; 2 unless told. */
  pieces?: number;
  /** Wait before the first byte. */
  delayMs?: number;
  /** Wait between two events of a stream. */
  gapMs?: number;
  fail?: ScriptedFailure;
  /** Sends the first half and then nothing more, with the connection open. */
  stall?: boolean;
  /** Sends the first half and then closes the socket; "clean": ends the response as if it were whole. */
  cut?: boolean | "clean";
}

/** `seen`: the same request as it came over the wire. */
export type Script = (request: NormalRequest, seen: SeenRequest) => Reply | Promise<Reply>;

export interface Figures {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** What one protocol can do: read a request, write an answer whole or as events, shape a failure. */
export interface Speaker {
  read(body: Record<string, unknown>, model: string): Omit<NormalRequest, "protocol" | "model" | "stream">;
  events(reply: Reply, figures: Figures, request: NormalRequest): string[];
  whole(reply: Reply, figures: Figures, request: NormalRequest): unknown;
  failure(fail: ScriptedFailure): { status: number; body: unknown };
  /** The failure as an event inside a stream. */
  failureEvent(fail: ScriptedFailure): string;
}
