/** What `lares memory` says. */

import type { Hint } from "../output.ts";
import { listed, plural } from "./plural.ts";

export const memoryWords = {
  names: (n: number) => `${plural(n, "name")}, most mentioned first.`,
  noNames: "No names known.",
  relations: "How they relate:",
  written: (n: number, file: string) => `Wrote ${plural(n, "fact")} to ${file}.`,
  noFacts: "Create one: lares memory export -o FILE",
  confirmThem: (hint: Hint) => hint` Confirm them: lares memory pending`,
  added: (n: number, known: number, wait: string) =>
    `Added ${plural(n, "fact")}${known ? `; ${known} already known` : ""}.${wait}`,
  unindexed: (dir: string) => `Removed the documents in ${dir} from memory.`,
  notIndexed: (dir: string) => `${dir} isn't indexed.`,
  indexed: (added: number, changed: number, removed: number, unchanged: number) =>
    `${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged. Lares now watches the folder.`,
  leftOut: (path: string, why: string) => `  left out: ${path} (${why})`,
  progress: (model: string, done: number, total: number, state: string, error: string) =>
    `(${model}): ${done} of ${total}, ${state}${error}`,
  holds: (n: number, documents: number, pending: number) =>
    `${plural(n, "fact")}, ${plural(documents, "piece")} of documents${pending ? `, ${pending} to confirm` : ""}.`,
  vectors: (vectors: string) => `Vectors ${vectors}`,
  noVectors: "No vectors: search uses words only (memory.embedder.use is off).",
  newVectors: (next: string) => `New vectors ${next}`,
  oldUntil: "Until they're ready, search uses the old ones.",
  backend: (b: { plugin: string; waiting: number; unforgotten: number; problem?: string | undefined }) =>
    [
      `Plugin ${b.plugin}: `,
      b.waiting ? `${plural(b.waiting, "fact")} not sent yet` : "up to date",
      b.unforgotten ? `, still has ${plural(b.unforgotten, "forgotten fact")}` : "",
      b.problem ? `. ${b.problem}` : ".",
    ].join(""),
  notSearchable: (n: number) => `${plural(n, "message")} not searchable yet.`,
  cleanUps: "Clean-ups, newest first.",
  noCleanUps: "No clean-up has changed anything yet.",
  cleanUp: (agent: string, at: string, model: string | undefined, isUndone: boolean) =>
    `${agent}, ${at}, ${model ?? "by rules"}${isUndone ? ", undone" : ""}`,
  noneToUndo: "There is no clean-up to undo.",
  seeCleanUps: "See: lares memory condense --list",
  undone: "Undone. The facts and MEMORY.md are as they were before.",
  condensed: (hint: Hint) => hint`Condensed. Undo: lares memory condense --undo`,
  nothingToCondense: "Nothing to condense.",
  nothingGiven: "Nothing to remember.",
  nothingGivenHint: 'For example: lares memory add "Ana prefers green tea"',
  replaces: (hint: Hint, text: string, id: string) => hint`This replaces "${text}". Undo: lares memory undo ${id}`,
  remembered: (hint: Hint, id: string) => hint`Remembered. Forget it: lares memory forget ${id}`,
  found: (n: number) => `${plural(n, "fact")}, best match first.`,
  notFound: (query: string) => `Nothing found for "${query}".`,
  some: (n: number, isMore = false) =>
    isMore ? listed(`More than ${plural(n, "fact")}, newest last`, n, undefined) : `${plural(n, "fact")}, newest last.`,
  none: (hint: Hint) => hint`No memories yet. Add one: lares memory add "…"`,
  nameWhat: "Say what to forget.",
  nameWhatHint: "Give an id, or a topic or person: --about Ana",
  list: "lares memory list",
  forgetQuestion: (text: string) => `Forget "${text}"? This can't be undone.`,
  alreadyForgotten: "It was already forgotten.",
  seeList: "See: lares memory list",
  forgotten: (text: string) => `Forgotten: ${text}`,
  noMention: (about: string) => `Nothing mentions "${about}".`,
  factsAndMessages: (facts: number, messages: number) =>
    `${plural(facts, "fact")} and ${plural(messages, "message")} in past conversations`,
  wouldForget: (what: string) => `This would forget ${what}.`,
  said: (text: string) => `  said: ${text}`,
  namesInIt: (names: readonly string[]) => `It covers ${names.join(", ")}.`,
  andMore: (n: number) => `  … and ${n} more`,
  similar: (names: readonly string[]) => `Not included, because they look like other names: ${names.join(", ")}.`,
  keepSome: "To keep some of it, answer no and add --except with a name, words or an id. It can be repeated.",
  topicLine: (about: string, facts: number, messages: number) =>
    `  "${about}": ${plural(facts, "fact")}, ${plural(messages, "message")}`,
  takenAsOne: (about: string, parts: readonly string[]) =>
    `"${about}" is taken as one name, because it is written so elsewhere. To forget each on its own: ${parts.map((part) => `--about "${part}"`).join(" ")}`,
  forgetAboutQuestion: (about: readonly string[]) =>
    `Forget everything that mentions ${about.map((one) => `"${one}"`).join(" or ")}? This can't be undone.`,
  forgot: (hint: Hint, what: string) =>
    hint`Forgot ${what}. No model reads those messages again; their text stays in the conversation until you delete it: lares sessions delete`,
  sameAlready: "It already says that.",
  corrected: (hint: Hint, id: string) => hint`Corrected. Undo: lares memory undo ${id}`,
  noEarlier: "There is no earlier version to restore.",
  toConfirm: (hint: Hint, n: number) => hint`${plural(n, "fact")} to confirm: lares memory decide ID keep`,
  nothingToConfirm: "Nothing to confirm.",
  notAnAnswer: (word: string) => `"${word}" isn't an answer.`,
  notAnAnswerHint: "Say keep or drop: lares memory decide 3f9a2c keep",
  waitingFact: "waiting fact",
  pending: "lares memory pending",
  confirmed: "Confirmed.",
  discarded: "Discarded.",
  alreadyDecided: "It was already decided.",
  until: (expiresAt: string) => `until ${expiresAt}`,
};
