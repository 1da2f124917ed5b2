/** What `lares approvals`, `policy` and `undo` say. */

import type { Hint } from "../output.ts";
import { listed, plural } from "./plural.ts";

export const approvalWords = {
  /** `n` wait in all; shown are some of `total`, which may be answered already. */
  waiting: (n: number, { shown, total, inSession }: { shown: number; total: number; inSession: boolean }) => {
    const waits = n ? `${plural(n, "approval is", "approvals are")} waiting for you` : "Nothing is waiting for you";
    return listed(inSession ? `${waits} in this conversation` : waits, shown, total);
  },
  howToAnswer: (hint: Hint) => hint`To answer: lares approve ID, or lares deny ID. For details: lares approvals get ID`,
  howToFillIn: (hint: Hint) => hint`For a question with fields: lares answer ID TEXT`,
  notADecision: (word: string) => `"${word}" isn't a decision.`,
  decisions: (known: string) => `Use one of: ${known}.`,
  passedOn: "Passed on your answer.",
  decided: { "allow-once": "Allowed once", "allow-always": "Always allowed", deny: "Denied" },
  turnContinues: (hint: Hint, turn: string) => hint`The turn continues: lares turns get ${turn}`,
  matches: (typed: string, n: number) => `"${typed}" matches ${n} approvals.`,
  noneEndsIn: (typed: string) => `No waiting approval ends in "${typed}".`,
  seeWaiting: "See what's waiting: lares approvals list",
  deniedIn: (time: string) => `denied in ${time}`,
  cancelledIn: (time: string) => `cancelled in ${time}`,
  answered: (state: string, by: string | undefined, at: string) => `${state}${by ? ` by ${by}` : ""}${at}`,
  asked: (agent: string) => `${agent} asked to do this.`,
};

export const policyWords = {
  says: {
    allow: "It would run without asking",
    ask: "It would ask you first",
    deny: "It would be denied",
  },
  wouldSave: (rule: string) => `  "Always allow" would save: ${rule}`,
  rules: (n: number) => `${plural(n, "rule")} saved by "always allow".`,
  noRules: 'No rules saved by "always allow".',
  created: (ago: string) => `created ${ago}`,
  removeOne: (hint: Hint) => hint`Remove one: lares policy forget ID. Your own rules are in lares.yaml (policy.allow).`,
  matches: (typed: string, n: number) => `"${typed}" matches ${n} rules.`,
  matchesHint: "Give more of the id, or name the agent with --agent.",
  unknown: (typed: string) => `No saved rule has the id "${typed}".`,
  seeAll: "See them: lares policy rules",
  removed: (rule: string) => `Removed: ${rule}`,
  willAsk: "Lares will ask again next time.",
  notUsed: "not used yet",
  used: (n: number, last: string | undefined) =>
    `used ${n === 1 ? "once" : `${n} times`}${last ? `, last ${last}` : ""}`,
};

export const undoWords = {
  wouldRestore: (n: number, left: string) => `This would restore ${plural(n, "file")}${left && `, but not ${left}`}.`,
  nothing: "Nothing to restore.",
  willRestore: (n: number, left: string) => `This restores ${plural(n, "file")}${left && `, but not ${left}`}:`,
  question: "Restore them?",
  restoredExcept: (n: number, left: string) => `Restored ${plural(n, "file")}. Not restored: ${left}.`,
  manyFiles: (n: number) => plural(n, "file"),
  andMore: (n: number) => `… and ${n} more`,
  planned: {
    restored: "would be restored",
    removed: "would be removed",
    already: "already as before",
    conflict: "conflict",
    lost: "lost",
  },
  results: {
    restored: "restored",
    removed: "removed",
    already: "already as before",
    conflict: "conflict",
    lost: "lost",
  },
  restored: "Restored.",
  undoThat: (hint: Hint, undo: string) => hint`Undo that: lares undo ${undo}`,
  turns: (hint: Hint) => hint`Turns that changed files, newest last. Undo one: lares undo TURN`,
  none: "No turn has changed files.",
  undone: "undone",
  undid: (undoes: string) => `undid ${undoes}`,
};
