/** What a call may cost before it is made, and what it did cost after. */
import type { ModelInfo, ModelRequest } from "../../core/contracts/index.ts";
import type { ModelMessage, Usage } from "../../core/domain/index.ts";
import type { Amount, Caps } from "./judge.ts";

export interface Forecast {
  inputTokens: number;
  /** Dollars per token. */
  inputPrice: number;
  outputPrice: number;
}

/** Providers count about four letters a token and more for other scripts; three bytes a token is on the safe side of both. */
const BYTES_PER_TOKEN = 3;
/** A picture: providers shrink it first, so that its size hardly matters. */
const IMAGE_TOKENS = 1500;
/** The frame around each message and tool. */
const FRAME_TOKENS = 8;
/** Below this an answer is a fragment; then the call is refused instead of cut short. */
const SHORTEST_ANSWER = 1000;

/** What was measured once: a session's history and tools are the same objects call after call. */
export class Sizes {
  private readonly known = new WeakMap<object, number>();

  of<T extends object>(one: T, measure: (one: T) => number): number {
    let bytes = this.known.get(one);
    if (bytes === undefined) {
      bytes = measure(one);
      this.known.set(one, bytes);
    }
    return bytes;
  }
}

export function forecast(
  request: Pick<ModelRequest, "system" | "tools" | "notes" | "messages">,
  price: ModelInfo["price"],
  unknownPerMillion: number,
  sizes = new Sizes(),
): Forecast {
  let bytes = Buffer.byteLength(request.system) + Buffer.byteLength(request.notes ?? "");
  bytes += sizes.of(request.tools, (tools) => Buffer.byteLength(JSON.stringify(tools)));
  for (const message of request.messages) bytes += sizes.of(message, countBytes);
  const frames = (request.messages.length + request.tools.length) * FRAME_TOKENS;
  return {
    inputTokens: Math.ceil(bytes / BYTES_PER_TOKEN) + frames,
    // Whether the provider writes it to its cache is the provider's choice, and costs more.
    inputPrice: (price ? Math.max(price.input, price.cacheWrite) : unknownPerMillion) / 1_000_000,
    outputPrice: (price ? price.output : unknownPerMillion) / 1_000_000,
  };
}

function countBytes({ content }: ModelMessage): number {
  let bytes = 0;
  for (const part of content) {
    if (part.type === "image") bytes += IMAGE_TOKENS * BYTES_PER_TOKEN;
    else bytes += Buffer.byteLength(part.type === "tool-call" ? JSON.stringify(part.input) : part.text);
  }
  return bytes;
}

/** What is set aside for a call that may answer with so many tokens. */
export function toAmount(f: Forecast, outputTokens: number): Amount {
  return {
    dollars: f.inputTokens * f.inputPrice + outputTokens * f.outputPrice,
    tokens: f.inputTokens + outputTokens,
    calls: 1,
  };
}

/** What was used, an unknown price counted as configured. */
export function amountUsed(usage: Usage, unknownPerMillion: number): Amount {
  const tokens = usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return { dollars: usage.cost ?? (tokens * unknownPerMillion) / 1_000_000, tokens, calls: 1 };
}

/**
 * The longest answer that still fits what is left, up to `most`: the last of a budget is used for shorter answers before
 * calls are refused. When only a fragment would fit it is `most` again, which then does not fit.
 */
export function longestAnswer(f: Forecast, most: number, left: readonly { caps: Caps; spent: Amount }[]): number {
  let tokens = most;
  for (const { caps, spent } of left) {
    if (caps.tokens !== undefined) tokens = Math.min(tokens, caps.tokens - spent.tokens - f.inputTokens);
    if (caps.dollars !== undefined && f.outputPrice > 0) {
      const dollars = caps.dollars - spent.dollars - f.inputTokens * f.inputPrice;
      tokens = Math.min(tokens, Math.floor(dollars / f.outputPrice));
    }
  }
  return tokens >= Math.min(SHORTEST_ANSWER, most) ? tokens : most;
}
