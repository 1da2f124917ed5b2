/** What `lares hooks` says. */
import type { Hint } from "../output.ts";
import { plural } from "./plural.ts";

export const hookWords = {
  none: "No hooks yet.",
  addOne: (hint: Hint) => hint`Take over those of Claude Code: lares hooks import PATH. Or see docs/HOOKS.md.`,
  some: (n: number) => `${plural(n, "hook")}.`,
  hears: { observe: "hears", answer: "is asked about" },
  onFail: { deny: "denies if it fails", pass: "" },
  never: "not called since Lares started",
  calls: (calls: number, denied: number, timedOut: number, failed: number) =>
    [
      plural(calls, "call"),
      denied > 0 && `${denied} denied`,
      timedOut > 0 && `${timedOut} timed out`,
      failed > 0 && `${failed} failed`,
    ]
      .filter(Boolean)
      .join(", "),
  last: (result: string, took: string, ago: string) => `last: ${result}, ${took}, ${ago}`,
  result: {
    passed: "no objection",
    answered: "it answered",
    denied: "it denied",
    asked: "it had you asked",
    "timed-out": "too late",
    failed: "it failed",
  },
  waiting: (n: number) => `${plural(n, "event")} still to hear`,
  problem: (text: string) => `Not used: ${text}`,
  badFacts: "--facts isn't a JSON object.",
  tried: (name: string, event: string, said: string, took: string) => `${name}, ${event}: ${said} (${took})`,
  ignored: (fields: string) => `Ignored, because a hook can't decide it: ${fields}`,
  nothing: "Found no hooks there.",
  importable: { new: "+", "there already": "=", "left out": "-" },
  isImportedAs: { new: "", "there already": "already added", "left out": "left out" },
  seconds: (n: number) => `${n} s`,
  nothingNew: "Nothing to add.",
  question: (n: number) =>
    `Add ${plural(n, "command")} as ${n === 1 ? "a hook" : "hooks"}? They run whenever their events happen.`,
  added: (n: number) => `Added ${plural(n, "hook")}.`,
  changed: (n: number) =>
    `${plural(n, "hook")} changed since you looked and ${n === 1 ? "was" : "were"} not added. Look again.`,
  tryThem: (hint: Hint) => hint`Try one: lares hooks list, then lares hooks test NAME`,
};
