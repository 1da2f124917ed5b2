/** Words for what the agent remembers. */
import type { JsonObject } from "../../../../core/domain/index.ts";
import { END, type PracticeRule, row, unquote } from "./words.ts";

export const MEMORY: readonly PracticeRule[] = [
  row(
    "memory_search",
    "what do you remember about tea?",
    String.raw`(?:what do you (?:remember|know)|do you remember|what (?:did|have) i (?:tell|told) you)(?: about| of| that)?\s*(?<query>.*?)${END}`,
    ({ query }) => ({ query: query || "everything" }),
  ),
  row(
    "memory_forget",
    "forget what you know about tea",
    `(?:forget|delete)(?: what you know| everything| all| the memory| your memory| what i said)? about (?<about>.{3,}?)${END}`,
    ({ about }) => ({ about: unquote(about!) }),
  ),
  row("memory_forget", "forget that", `forget (?:that|it|this)(?: again)?${END}`, (_, { facts }) => {
    const last = facts.at(-1);
    return last && { id: last.id };
  }),
  row(
    "memory_forget",
    "forget that I like tea",
    `forget (?:that )?(?<about>.{3,}?)${END}`,
    ({ about }, { facts }): JsonObject => {
      const said = unquote(about!);
      const saved = facts.findLast(({ text }) => bare(text) === bare(said));
      return saved ? { id: saved.id } : { about: said };
    },
  ),
  row(
    "memory_save",
    "remember that I like green tea",
    String.raw`(?:remember|don't forget|do not forget|never forget|keep in mind|make a note)(?: that)?[:,\s]+(?<text>.+)`,
    ({ text }) => ({ text: text!.trim() }),
  ),
];

function bare(text: string): string {
  return text.trim().toLowerCase().replace(/[.!]$/, "");
}
