/** What is worked out of a text when it is kept. Pure. */
import { createHash } from "node:crypto";
import { namesIn, relationsIn } from "./graph.ts";
import type { Remembered } from "./kinds.ts";
import { scopeWord } from "./search/match.ts";
import { splitWords } from "./text/analyse.ts";

/** A message longer than this is kept whole, but only its head is searched. */
const MOST_WORDS_KEPT = 600;

/** What of a text goes into the index: its words and its scope's. */
export function indexed(text: string, scope: string): string {
  return [...splitWords(text).slice(0, MOST_WORDS_KEPT), scopeWord(scope)].join(" ");
}

/** Which items follow each other: those of one source, and what is plainly spoken in one scope. */
export function chooseThread(scope: string, source: string | undefined, isSpoken: boolean): string | undefined {
  return source !== undefined || isSpoken ? `${scope}\n${source ?? ""}` : undefined;
}

export function toGraph({ id, scope, text }: Remembered) {
  return { id, scope, names: namesIn(text), relations: relationsIn(text) };
}

/** Of the text whatever its spacing and case. */
export function hashText(text: string): string {
  return createHash("sha256").update(text.trim().toLowerCase().replace(/\s+/g, " ")).digest("hex").slice(0, 32);
}
