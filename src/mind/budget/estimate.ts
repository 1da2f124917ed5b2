/** What a call may cost before it is made, and what it did cost after. */
import type { ModelInfo, ModelRequest } from "../../core/contracts/index.ts";
import type { ModelMessage, Usage } from "../../core/domain/index.ts";
import { WeakCache } from "../../core/kit/index.ts";
import type { Amount, Caps } from "./judge.ts";

export interface Forecast {
  inputTokens: number;
  /** Dollars per token. */
  inputPrice: number;
  outputPrice: number;
  /** These prices are the configured ones: the model's own aren't known. */
  isAssumed: boolean;
}

/**
 * Providers count about four characters per token in English, fewer in other scripts; three bytes per token is a safe estimate
 * for both.
 */
const BYTES_PER_TOKEN = 3;
/** A picture: providers shrink it first, so its size hardly matters. */
const IMAGE_TOKENS = 1500;
/** Overhead of each message and tool. */
const FRAME_TOKENS = 8;
/** A shorter answer would be a fragment, so the call is refused instead of cut short. */
const SHORTEST_ANSWER = 1000;

/** More than the windows kept in memory have messages. */
const MOST_KNOWN = 8192;

/** Caches measured sizes: a session's history and tools are the same objects in call after call. */
export class Sizes {
  private readonly known = new WeakCache<object, number>(MOST_KNOWN);

  of<T extends object>(one: T, measure: (one: T) => number): number {
    let bytes = this.known.get(one);
    if (bytes === undefined) {
      bytes = measure(one);
      this.known.set(one, bytes);
    }
    return bytes;
  }
}

/** A request that somebody else wrote, in a provider's words: only its size is known. */
export interface ForeignRequest {
  model: string;
  /** Of its text. */
  bytes: number;
  pictures: number;
  /** The longest answer it asks for. */
  maxOutputTokens: number | undefined;
}

export function forecast(
  request: Pick<ModelRequest, "system" | "tools" | "notes" | "messages"> | ForeignRequest,
  price: ModelInfo["price"],
  unknownPerMillion: number,
  sizes = new Sizes(),
): Forecast {
  return {
    inputTokens: "bytes" in request ? foreignTokens(request) : ownTokens(request, sizes),
    // The provider decides whether to write it to its cache, which costs more.
    inputPrice: (price ? Math.max(price.input, price.cacheWrite) : unknownPerMillion) / 1_000_000,
    outputPrice: (price ? price.output : unknownPerMillion) / 1_000_000,
    isAssumed: !price,
  };
}

function foreignTokens({ bytes, pictures }: ForeignRequest): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN) + pictures * IMAGE_TOKENS;
}

function ownTokens(request: Pick<ModelRequest, "system" | "tools" | "notes" | "messages">, sizes: Sizes): number {
  let bytes = Buffer.byteLength(request.system) + Buffer.byteLength(request.notes ?? "");
  bytes += sizes.of(request.tools, (tools) => Buffer.byteLength(JSON.stringify(tools)));
  for (const message of request.messages) bytes += sizes.of(message, countBytes);
  const frames = (request.messages.length + request.tools.length) * FRAME_TOKENS;
  return Math.ceil(bytes / BYTES_PER_TOKEN) + frames;
}

function countBytes({ content }: ModelMessage): number {
  let bytes = 0;
  for (const part of content) {
    if (part.type === "image") bytes += IMAGE_TOKENS * BYTES_PER_TOKEN;
    else bytes += Buffer.byteLength(part.type === "tool-call" ? JSON.stringify(part.input) : part.text);
  }
  return bytes;
}

/** What to set aside for a call whose answer may have this many tokens. */
export function toAmount(f: Forecast, outputTokens: number): Amount {
  const dollars = f.inputTokens * f.inputPrice + outputTokens * f.outputPrice;
  return { dollars, tokens: f.inputTokens + outputTokens, calls: 1, assumed: f.isAssumed ? dollars : 0 };
}

/** What was used, with an unknown price counted as configured. */
export function amountUsed(usage: Usage, unknownPerMillion: number): Amount {
  const tokens = usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const assumed = usage.cost === null ? (tokens * unknownPerMillion) / 1_000_000 : 0;
  return { dollars: usage.cost ?? assumed, tokens, calls: 1, assumed };
}

/**
 * The longest answer that still fits the remaining budget, up to `most`: the end of a budget goes to shorter answers before calls
 * are refused. If only a fragment would fit, returns `most`, which the caller then finds not to fit.
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
