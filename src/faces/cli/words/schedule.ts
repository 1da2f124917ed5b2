/** What `lares schedule`, `goals`, `heartbeat`, `wake` and `wakes` say. */

import { approvalsWithdrawn } from "../../../core/domain/index.ts";
import type { Hint } from "../output.ts";
import { plural } from "./plural.ts";

export const goalWords = {
  some: (n: number, active: number) => `${plural(n, "goal")}, ${active} in progress.`,
  none: (hint: Hint) => hint`No goals. Add one: lares goals add "The build is green" --proof "npm test exits with 0"`,
  turnOf: (turn: number, most: number) => `turn ${turn} of ${most}`,
  cancelQuestion: (outcome: string) => `Cancel "${outcome}"? This stops its turn.`,
  turns: (turn: number, most: number) => `${turn} of ${most}`,
  used: (tokens: number, dollars: string, limit: string) => `${tokens} tokens, $${dollars}${limit}`,
  addedBy: (at: string, by: string) => `${at} by ${by}`,
  list: "lares goals list",
  atItsLimit: "✕ at its limit",
  inProgress: "● in progress",
};

export const heartbeatWords = {
  none: (hint: Hint) =>
    hint`No agent has a heartbeat. Turn one on: lares config set agents.main.heartbeat.every "30 minutes"`,
  nextIn: (time: string) => `next in ${time}`,
  checking: (hint: Hint, turn: string) => hint`Checking now. See the result: lares turns get ${turn}`,
  line: (state: string, n: number, calls: number, money: string) =>
    `${state}; today ${plural(n, "check")}, ${plural(calls, "model call")}${money}`,
};

export const scheduleWords = {
  noMatch: (hint: Hint) => hint`No schedule matches. See all: lares schedule list`,
  none: (hint: Hint) => hint`Nothing scheduled. Add one: lares schedule add "Water the plants" --every "3 days"`,
  theNext: (name: string, next: string) => `; the next, ${name}, ${next}`,
  noneDue: "; none is due",
  laterOnes: (left: number, total: number) => `  … ${left} later ones: --limit ${total}, or --search`,
  fromFile: "from lares.yaml",
  promptOrScript: "Use a prompt or --script, not both.",
  sayWhat: "Say what it should do.",
  addHint: 'For example: lares schedule add "Summarise my mail" --every "1 day", or --script "df -h"',
  onlyOneTime: "Use only one of --in, --at, --every and --cron.",
  sayWhen: "Say when it should run.",
  whenHint: 'For example: --in "30 minutes", --at "tomorrow 9am", --every "2 hours", --cron "0 7 * * 1-5"',
  scheduled: (name: string) => `Scheduled as ${name}`,
  pauseOrResume: "Use --pause or --resume, not both.",
  nameChange: "Say what to change.",
  nameChangeHint: "For example: lares schedule update ID --pause",
  changed: (name: string) => `Changed ${name}`,
  paused: (name: string) => `Paused ${name}`,
  removeQuestion: (name: string, when: string) => `Remove ${name} (${when})? This can't be undone.`,
  removed: (name: string, withdrawn: readonly string[]) => `Removed ${name}.${approvalsWithdrawn(withdrawn)}`,
  alreadyRemoved: (name: string) => `${name} was already removed.`,
  started: (hint: Hint, name: string, turn: string) => hint`Started ${name}. See the result: lares turns get ${turn}`,
  inOrAt: "Use --in or --at, not both.",
  snoozed: (name: string) => `Snoozed ${name}`,
  ran: (name: string, n: number, { bad, skipped, isMore }: { bad: number; skipped: number; isMore: boolean }) =>
    `${name}: ${isMore ? `the last ${plural(n, "run")}` : plural(n, "run")}, ${bad ? `${bad} failed or missed` : "none failed or missed"}${skipped ? `, and ${skipped} skipped` : ""}.`,
  notYet: (name: string, next: string) => `${name} hasn't run yet; next: ${next}.`,
  approve: (hint: Hint, approval: string) => hint`lares approve ${approval}`,
  runs: (n: number, days: number) => `${plural(n, "run")} in ${plural(days, "day")}.`,
  nothingDue: "Nothing is due.",
  moreOften: (names: string) => `These run more often than shown: ${names}.`,
  laterRuns: (hint: Hint, n: number) => hint`${plural(n, "more schedule")} with later runs: lares schedule list`,
  hasChanged: (file: string) => `${file} changed`,
  exists: (file: string) => `${file} exists`,
  one: (what: string, when: string, enabled: boolean, next: string) =>
    `${what}: ${when}${enabled ? `; next ${next}` : ""}.`,
  list: "lares schedule list",
  onlyOneCondition: "Use only one of --if, --if-changed and --if-exists.",
  notATarget: (given: string) => `"${given}" isn't a delivery target.`,
  notATargetHint: "Use channel/account/chat, for example telegram/main/12345, or none.",
  noMore: "no more runs",
  triedAgain: (next: string, failures: number) => `tried again ${next} (failed ${plural(failures, "time")})`,
  aboutToRun: (ago: string) => `due ${ago}`,
};

export const wakeWords = {
  duplicate: (session: string) => `${session} already got this.`,
  sent: (session: string) => `Sent to ${session}.`,
  watching: (name: string) => `Watching ${name} again.`,
  theNext: (name: string, at: string) => `; the next, ${name}, ${at}`,
  some: (n: number, first: string) => `${plural(n, "thing")} can wake an agent${first}.`,
  none: (hint: Hint) => hint`Nothing wakes an agent on its own yet. Schedule something: lares schedule add`,
  anyTime: "any time",
  paused: "paused",
};
