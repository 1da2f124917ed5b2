/**
 * A channel speaks one platform and knows nothing of agents.
 *
 * C1: it acknowledges to the platform only after `admit` resolved (I1).
 * C2: `send` throws AppError("CHANNEL_SEND") with `retry: "later"` when the platform surely did not take it, and
 *     `SendUncertain` when it may have. It never repeats on its own.
 */

import type { JsonObject } from "../domain/json.ts";
import type { InboundMessage, ReplyRoute } from "../domain/message.ts";

export interface Outgoing {
  route: ReplyRoute;
  text: string;
  /** Same key on every try of the same part: a platform that deduplicates gets it as its idempotency key. */
  key: string;
}

export interface Channel {
  readonly name: string;
  /** True when the platform deduplicates on `key`: an uncertain send may then be repeated. */
  readonly dedupes: boolean;
  /** Longest text of one message in characters. */
  readonly limit: number;
  start(admit: (message: InboundMessage) => Promise<{ turn: string; duplicate: boolean }>): Promise<void>;
  stop(): Promise<void>;
  send(message: Outgoing, signal: AbortSignal): Promise<{ platformId: string | null }>;
  status(): { state: "ok" | "down" | "idle"; detail?: string; meta?: JsonObject };
}

/** The platform may or may not have taken it: the connection broke after the request was written. */
export class SendUncertain extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "SendUncertain";
  }
}
