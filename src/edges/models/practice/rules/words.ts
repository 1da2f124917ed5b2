/** What the tables of words share: how a row looks, and the pieces of sentences that many rows need. */
import type { JsonObject } from "../../../../core/domain/index.ts";
import type { Recalled } from "../recall.ts";

/** The named groups of a pattern that matched. */
export type MatchedWords = Record<string, string | undefined>;

export interface PracticeRule {
  tool: string;
  /** A sentence that matches, shown as help. */
  example: string;
  /** A regular expression for what follows "please"; case doesn't matter. */
  pattern: string;
  /** The tool's input from the words that matched; undefined when they make no sense after all. */
  input(found: MatchedWords, recalled: Recalled): JsonObject | undefined;
}

export const row = (tool: string, example: string, pattern: string, input: PracticeRule["input"]): PracticeRule => ({
  tool,
  example,
  pattern,
  input,
});

/** A path in words, with or without quotes: no spaces unless it is quoted. */
export const PATH = String.raw`(?:"(?<quoted>[^"]+)"|'(?<single>[^']+)'|(?<bare>[^\s"'-][^\s"']*?))`;
export const pathIn = (found: MatchedWords): string => found.quoted ?? found.single ?? found.bare ?? ".";

export const END = String.raw`\s*[.?!]?$`;

/** Quotes or backticks around the whole are for the reader, not for the tool. */
export function unquote(text: string): string {
  const trimmed = text.trim();
  return /^(["'`])(?:(?!\1).)*\1$/s.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}
