/** What people read about jobs: replies to commands, why a run was skipped or failed, and what a run's model learns about it. */
import { approvalsWithdrawn } from "../../core/domain/index.ts";
import { quotedName } from "../../core/kit/index.ts";

const EXAMPLE = "For example: /schedule tomorrow 9am: water the plants";

export const SCHEDULE_HINT = EXAMPLE;
export const NOTHING_SCHEDULED = `Nothing scheduled. ${EXAMPLE}`;
export const ONLY_OWNER_CHANGES = "Only the owner can change schedules.";

/** For a time that can't be read. */
export const TIME_EXAMPLES =
  'Write for example "tomorrow 9am" or "in 30 minutes"; for something that repeats "every monday 9am" or "every 2 hours".';
export const RHYTHM_EXAMPLES = 'Write for example "30 minutes", "2 hours" or "monday 9am".';

/** Why a slot did not run. */
export const JOB_PAUSED = "The job is paused.";
export const NOT_STARTED = "It could not be started.";
export const NO_HEARTBEATS = "Heartbeats are not set up.";
export const STILL_RUNNING = "The previous run was still going.";
export const IT_FAILED = "It failed.";
export const MISSED = "Lares was not running, or the machine slept, when it was due.";
export const LATER_RUN_INSTEAD = `${MISSED} A later one was run instead.`;

/** Problems with a job in lares.yaml. */
export const NAME_TAKEN = "Another job has the same name.";
export const PROMPT_OR_SCRIPT = "Give either a prompt or a script.";

export function noSuchInput(input: string): string {
  return `There is no job "${input}" whose output this one could get.`;
}

export function inputNotDeclared(input: string): string {
  return `It gets the output of "${input}", which isn't in this file. Whether a command added that job is known only while Lares runs.`;
}

/** Why a part of the day can't be meant any longer. */
export const MORNING_OVER = "The morning is over.";
export const AFTERNOON_OVER = "The afternoon is over.";
export const EVENING_OVER = "The evening is over.";
export const NIGHT_OVER = "It is too late for tonight.";
export const DAY_OVER = "The day is almost over.";

export function zoneText(zone: string, time: string, isNew: boolean): string {
  return `Your time zone is ${isNew ? "now " : ""}${zone}. It is ${time}.`;
}

export function scheduled(name: string, when: string): string {
  return `Scheduled as "${name}", ${when}`;
}

export function snoozed(name: string, when: string): string {
  return `Again: "${name}", ${when}`;
}

/** `next`: when a repeating job runs next. */
export function whenText(when: string, next: string | undefined): string {
  return next === undefined ? `${when}.` : `${when}. Next: ${next}.`;
}

export function started(name: string): string {
  return `Started "${name}".`;
}

/** `withdrawn`: codes of approvals. */
export function removed(name: string, withdrawn: readonly string[]): string {
  return `Removed "${name}".${approvalsWithdrawn(withdrawn)}`;
}

/** Why an approval is withdrawn. */
export function jobRemoved(name: string): string {
  return `The job ${quotedName(name)} was removed.`;
}

export function resumed(name: string): string {
  return `Resumed "${name}".`;
}

export function paused(name: string): string {
  return `Paused "${name}".`;
}

export function definedInSettings(name: string): string {
  return `"${name}" is defined in lares.yaml. Remove it there.`;
}

export function jobLine(name: string, when: string, isEnabled: boolean): string {
  return `${name}: ${when}${isEnabled ? "" : " (paused)"}`;
}

export function moreJobs(n: number): string {
  return `… and ${n} more: lares schedule list`;
}

export function newestRun(most: number): string {
  return `${MISSED} Only the newest ${most} were run late.`;
}

/** One row stands for all the missed times up to then. */
export function missedUntil(reason: string, until: number): string {
  return `${reason} So were all later ones until ${new Date(until).toISOString()}.`;
}

export function waitingForApproval(code: string): string {
  return `The previous run is still waiting for approval (${code}).`;
}

export function noFile(path: string): string {
  return `There is no ${path}.`;
}

export function notChanged(path: string): string {
  return `${path} did not change.`;
}

export function backingOff(until: number): string {
  return `Backing off after a failure: no runs until ${new Date(until).toISOString()}.`;
}

export function notDelivered(error: string): string {
  return `Done, but the answer could not be delivered: ${error}`;
}

/** `isOver`: a single run that is not tried again. */
export function alertText(f: {
  name: string;
  reason: string;
  failures: number;
  isPaused: boolean;
  isOver: boolean;
}): string {
  const times = f.failures > 1 ? ` (${f.failures} times in a row)` : "";
  return `The job "${f.name}" failed${times}: ${f.reason}${whatNow(f)}`;
}

function whatNow({ name, isPaused, isOver }: { name: string; isPaused: boolean; isOver: boolean }): string {
  if (isPaused) return ` It's paused now. When it's fixed: lares schedule update "${name}" --resume`;
  if (isOver) return ` It isn't tried again. To run it once more: lares schedule run "${name}"`;
  return " You won't be notified again until this changes.";
}

/** `late`: how late it is, roughly. `recipient`: who gets what it says. */
export function beatLabel(late: string | undefined, recipient: string | undefined): string {
  const where = recipient ? `what you report is sent to ${recipient}` : "what you report is stored and sent to nobody";
  return `Heartbeat${lateText(late)}; ${where}`;
}

/** `isInChat`: it runs in a conversation whose prompt doesn't mention job runs. */
export function runLabel(run: {
  name: string;
  due: string;
  late: string | undefined;
  isInChat: boolean;
  recipient: string | undefined;
}): string {
  const where = run.recipient ? `your answer is sent to ${run.recipient}` : "your answer is stored and sent to nobody";
  return `Scheduled: ${quotedName(run.name)}, due ${run.due}${lateText(run.late)}; ${run.isInChat ? "do it now, " : ""}${where}`;
}

function lateText(late: string | undefined): string {
  return late === undefined ? "" : `, ${late} late`;
}

export function outputLabel(job: string): string {
  return `Output of ${quotedName(job)}`;
}

export function noOutputYet(job: string): string {
  return `There is no output of ${quotedName(job)} yet`;
}
