/** A job as people and the agent describe it, and the pure rules about its slots. */
import type { AgentId, ReplyRoute, ScheduleId, SessionKey } from "../../core/domain/index.ts";
import { nextDue, type When } from "./when.ts";

export type CatchUp = "once" | "all" | "skip";

export interface Job {
  id: ScheduleId;
  name: string;
  when: When;
  agent: AgentId;
  prompt: string;
  /** `isolated`: a session of its own per run. `main`: the agent's main session. Else the session it was made in. */
  session: "isolated" | "main" | SessionKey;
  /** Where the answer goes. Nothing: it is only in the history. */
  route: ReplyRoute | null;
  model: string | null;
  catchUp: CatchUp;
  deleteAfterRun: boolean;
  /** In the person's zone; cron has its own. */
  zone: string;
  enabled: boolean;
  /** From lares.yaml: follows the file. */
  declared: boolean;
  createdBy: string;
  failures: number;
}

export type SlotState = "pending" | "running" | "done" | "failed" | "skipped" | "missed";

/** A slot that starts later than this was missed for a reason worth saying: the machine slept, Lares was down. */
export const LATE_MS = 60_000;
/** "Run all" is bounded: a year of missed minutes is not made up for. */
export const MOST_CAUGHT_UP = 10;

export interface Catch {
  /** Due times to run now, oldest first. */
  run: number[];
  /** Due times that are recorded as missed, with the reason. */
  missed: { due: number; reason: string }[];
  next: number | undefined;
}

/** What to do with a slot that comes up `now`: itself, and those that passed unseen behind it. */
export function catchUp(when: When, due: number, now: number, policy: CatchUp): Catch {
  const passed = [due];
  let next = nextDue(when, due);
  // Bounded: only the newest are worth a row each; what lies between is one row's reason.
  while (next !== undefined && next <= now && passed.length < 1000) {
    passed.push(next);
    next = nextDue(when, next);
  }
  if (next !== undefined && next <= now) next = nextDue(when, now);
  const late = now - due > LATE_MS;
  if (!late && passed.length === 1) return { run: passed, missed: [], next };
  const reason = "Lares was not running, or the machine slept, when it was due.";
  const newest = passed[passed.length - 1]!;
  switch (policy) {
    case "skip": {
      // The newest may be on time although older ones passed.
      const run = now - newest <= LATE_MS ? [newest] : [];
      return { run, missed: missed(passed, run, reason), next };
    }
    case "once":
      return { run: [newest], missed: missed(passed, [newest], `${reason} A later one was run instead.`), next };
    case "all": {
      const run = passed.slice(-MOST_CAUGHT_UP);
      return {
        run,
        missed: missed(passed, run, `${reason} Only the newest ${MOST_CAUGHT_UP} were made up for.`),
        next,
      };
    }
  }
}

function missed(passed: number[], run: number[], reason: string): Catch["missed"] {
  return passed.filter((due) => !run.includes(due)).map((due) => ({ due, reason }));
}

/** Waits after failures in a row. */
const BACKOFF_MS = [30_000, 60_000, 300_000, 900_000, 3_600_000];
/** Failures in a row after which the job is paused. */
export const MOST_FAILURES = 5;

/** When a job that failed runs next: after the backoff, at a natural slot where it has one. */
export function afterFailure(when: When, failures: number, now: number): number | undefined {
  if (failures >= MOST_FAILURES) return undefined;
  const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length) - 1] ?? BACKOFF_MS[0]!;
  if (when.kind === "at") return now + wait;
  return nextDue(when, now + wait - 1);
}
