/** What `lares status`, `turns`, `attention`, `usage`, `logs` and `security` say. */

import type { Hint } from "../output.ts";
import { listed, plural } from "./plural.ts";

export const attentionWords = {
  none: "Nothing needs you.",
  some: (n: number, shown: number) =>
    listed(`${plural(n, "thing")} ${n === 1 ? "needs" : "need"} you`, shown, n, "first"),
  more: (hint: Hint, limit: number) => hint`See more: lares attention --limit ${limit}`,
  toDismiss: (hint: Hint) => hint`To dismiss something: lares attention dismiss ID, or --all.`,
  seeApproval: (hint: Hint, id: string) => hint`lares approvals get ${id}`,
  seeTurn: (hint: Hint, turn: string) => hint`lares turns get ${turn}`,
  giveId: "Name what to dismiss: an id, or --all.",
  giveIdHint: "For example: lares attention dismiss turn:t_01",
  dismissed: (n: number, left: number) =>
    `Dismissed ${plural(n, "thing")}; ${left ? `${left} left` : "nothing needs you"}.`,
};

export const logWords = {
  none: "Nothing logged.",
  fromFile: (why: string, file: string) => `${why} This is from ${file}`,
  noConnection: "── no connection ──",
};

export const securityWords = {
  toReview: (n: number) => `${plural(n, "thing")} to review.`,
  nothing: "Nothing is exposed that shouldn't be.",
};

export const statusWords = {
  notServing: (message: string) => `Lares is running but not serving requests: ${message}`,
  cantRun: (message: string) => `Lares is not running, and can't run here: ${message}`,
  up: (time: string) => `up ${time}`,
  problem: (mark: string, up: string, problem: string) => `${mark} Lares is running, ${up}, with a problem: ${problem}`,
  running: (mark: string, up: string) => `${mark} Lares is running, ${up}.`,
  needsYou: "needs you",
  turns: (running: number, queued: number, parked: number) => `${running} running, ${queued} queued, ${parked} waiting`,
  process: (version: string, pid: number) => `${version}, process ${pid}`,
  approvals: (hint: Hint, n: number) => hint`${plural(n, "approval")}: lares approvals list`,
  things: (hint: Hint, n: number, asked: number) =>
    hint`${plural(n, asked ? "other thing" : "thing")}: lares attention`,
  noTokens: "no tokens used",
  tokens: (used: string, cost: string) => `${used} tokens${cost}`,
  noSandbox: (hint: Hint, why: string) => hint`none: commands run with your rights${why}. See: lares doctor`,
  brokenSandbox: (hint: Hint, name: string, why: string) =>
    hint`${name} doesn't work, so commands won't run${why}. See: lares doctor`,
  deliveries: (waiting: number, uncertain: number, failed: number) =>
    `${waiting} pending, ${uncertain} not confirmed, ${failed} failed`,
};

export const turnWords = {
  nothingRepeated: "nothing finished was repeated",
  approve: (hint: Hint, id: string) => hint`lares approve ${id}`,
  answered: (state: string, by: string | undefined) => `${state}${by ? ` by ${by}` : ""}`,
  asked: (tool: string) => `asked: ${tool}`,
  exit: (code: number) => `exit ${code}`,
  notAllowed: "not allowed",
  cutShort: "cut short",
  unknownOutcome: "outcome unknown",
  failedTries: (n: number, why: string) => `↻ ${n} failed: ${why}`,
  modelCall: (index: number) => `model call ${index + 1}`,
  steps: {
    judge: "policy check",
    rewind: "rolled back",
    recheck: "checked again",
    replan: "planned again",
    compact: "chose what to compact",
    compacted: "compacted",
    summary: "summary",
    thinking: "thinking",
    notice: "notice",
  },
  some: (total: number, shown: number) => listed(`${plural(total, "turn")}, newest last`, shown, total),
  noneOpen: "No unfinished turns.",
  noneThere: "No turns in this conversation.",
  none: (hint: Hint) => hint`No turns yet. Start one: lares chat`,
};

export const usageWords = {
  span: (n: number, to: string) => `${plural(n, "day")} up to ${to}`,
  noCalls: (span: string) => `No model calls in ${span}.`,
  total: (tokens: string, span: string, cost: string) => `${tokens} tokens in ${span}, ${cost}.`,
  byDay: "By day",
  byModel: "By model",
  noModel: "no model answered",
  byAgent: "By agent",
  tokens: (n: string) => `${n} tokens`,
};
