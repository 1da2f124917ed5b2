/** The WebSocket's words. The server numbers events; a client that comes back says the last number it saw. */
import type { ErrorShape, LiveEvent } from "../domain/index.ts";

/** `key`: the idempotency key of a method that changes something; the same word among the parameters wins. */
export type RequestFrame = { type: "req"; id: string; method: string; params?: unknown; key?: string };
export type ResponseFrame =
  | { type: "res"; id: string; ok: true; payload: unknown }
  | { type: "res"; id: string; ok: false; error: ErrorShape };
export type EventFrame = {
  type: "event";
  event: LiveEvent["event"] | "hello" | "reload";
  payload: unknown;
  seq: number;
};
export type Frame = RequestFrame | ResponseFrame | EventFrame;
