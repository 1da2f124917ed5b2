/** What the schedule tools say to the model, and what a person reads when a change to a schedule is asked about. */
import { approvalsWithdrawn } from "../../../core/domain/index.ts";

export const NOTHING_SCHEDULED = "Nothing is scheduled.";

export function scheduled(name: string, when: string, next: string | null): string {
  return `Scheduled as "${name}", ${when}.${nextRun(next)}`;
}

export function changed(name: string, when: string, next: string | null): string {
  return `Changed "${name}": ${when}.${nextRun(next)}`;
}

export function removed(name: string, withdrawn: readonly string[]): string {
  return `Removed "${name}".${approvalsWithdrawn(withdrawn)}`;
}

export function runsAgain(name: string, when: string): string {
  return `"${name}" runs again, ${when}.`;
}

export function jobLine(job: {
  name: string;
  words: string;
  enabled: boolean;
  next: string | null;
  prompt: string;
}): string {
  return `${job.name}: ${job.words}${job.enabled ? nextRun(job.next) : " (paused)"} — ${job.prompt}`;
}

export function moreJobs(count: number): string {
  return `(${count} more are not shown.)`;
}

export function runsNow(secondsLate: number): string {
  return `Its time passed ${secondsLate === 1 ? "a second" : `${secondsLate} seconds`} ago, so it runs now.`;
}

function nextRun(at: string | null): string {
  return at === null ? "" : ` Next: ${at}.`;
}

/** Plans, as people read them. Names and texts come escaped. */
export const LIST = "List the schedules.";
export const OWN_CHAT = "own chat";

export function add(when: string, text: string): string {
  return `Schedule, ${when}:\n${text}`;
}

export function remove(name: string): string {
  return `Remove the schedule "${name}".`;
}

export function change(name: string, when: string, text: string | undefined): string {
  return `Change the schedule "${name}": ${when}${text ? `\n${text}` : ""}`;
}

export function runAgain(name: string, when: string): string {
  return `Run the schedule "${name}" again, ${when}.`;
}
