/** Token estimates, used only where the provider hasn't reported a count. */
import type { ToolSpec } from "../../core/contracts/index.ts";
import { assertNever, type ModelMessage } from "../../core/domain/index.ts";

/** What a picture costs at most providers regardless of size, because they shrink it first. */
const IMAGE_TOKENS = 1500;
/** Overhead of a message. */
const FRAME_TOKENS = 4;
const PLAIN = /[\0-\x7f]+/g;

/**
 * About four letters per token; scripts without spaces cost about one token per character, accents and other alphabets about
 * half.
 */
export function textTokens(text: string): number {
  // Almost all of it is plain, and a loop over the rest only: the first prompt after a start is counted before this is compiled.
  const rest = text.replace(PLAIN, "");
  let quarters = text.length - rest.length;
  for (let i = 0; i < rest.length; i++) quarters += countQuarters(rest.charCodeAt(i));
  return Math.ceil(quarters / 4);
}

export function estimateTokens(content: ModelMessage["content"]): number {
  let tokens = FRAME_TOKENS;
  for (const part of content) {
    switch (part.type) {
      case "text":
      case "thinking":
        tokens += textTokens(part.text);
        break;
      case "tool-result":
        tokens += textTokens(part.text) + IMAGE_TOKENS * (part.images?.length ?? 0);
        break;
      case "image":
        tokens += IMAGE_TOKENS;
        break;
      case "tool-call":
        tokens += textTokens(part.name + JSON.stringify(part.input));
        break;
      default:
        return assertNever(part);
    }
  }
  return tokens;
}

/** A message that is a picture and nothing else. */
export function pictureTokens(): number {
  return FRAME_TOKENS + IMAGE_TOKENS;
}

export function toolTokens(tools: readonly ToolSpec[]): number {
  return textTokens(JSON.stringify(tools));
}

/** The longest prefix of a text that costs at most this many tokens, with an ellipsis if something is missing. */
export function clip(text: string, tokens: number): string {
  if (textTokens(text) <= tokens) return text;
  let low = 0;
  let high = Math.min(text.length, Math.max(tokens, 0) * 4);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (textTokens(text.slice(0, middle)) <= tokens - 1) low = middle;
    else high = middle - 1;
  }
  // Not in the middle of a surrogate pair.
  if (low > 0 && /[\ud800-\udbff]/.test(text[low - 1]!)) low--;
  return `${text.slice(0, low)}…`;
}

function countQuarters(code: number): number {
  return code < 0x2e80 ? 2 : 4;
}
