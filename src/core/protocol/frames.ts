/** The WebSocket's words. The server numbers events; a client that comes back says the last number it saw. */
import type { ErrorShape, LiveEvent } from "../domain/index.ts";

/** `key`: the idempotency key of a method that changes something; the same word among the parameters wins. */
export type RequestFrame = { type: "req"; id: string; method: string; params?: unknown; key?: string };
/** `id` is the client's own, so that answers may come in any order. */
export type ResponseFrame =
  | { type: "res"; id: string; ok: true; payload: unknown }
  | { type: "res"; id: string; ok: false; error: ErrorShape };
/** Without an id: nobody asked. `seq` lets a client that reconnects say what it has seen. */
export type EventFrame = {
  type: "event";
  event: LiveEvent["event"] | "hello" | "reload";
  payload: unknown;
  seq: number;
};
export type Frame = RequestFrame | ResponseFrame | EventFrame;
