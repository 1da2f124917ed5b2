/** A job as people and the agent describe it, and the pure rules about its slots. */
import {
  type AgentId,
  assertNever,
  type ReplyRoute,
  type ScheduleId,
  type SessionKey,
  type Terms,
} from "../../core/domain/index.ts";
import type { JobFailure } from "./alert.ts";
import { lastDue, nextDue, type When } from "./when.ts";
import { LATER_RUN_INSTEAD, MISSED, missedUntil, newestRun } from "./words.ts";

export type CatchUp = "once" | "all" | "skip";
export type Thinking = NonNullable<Terms["thinking"]>;

/** Decides, without a model, whether a slot is worth running. */
export type Condition =
  /** A command in the agent's workspace: exit 0 means yes. */
  | { script: string }
  /** A workspace file has changed since the last run. */
  | { changed: string }
  | { exists: string };

export interface Job {
  id: ScheduleId;
  name: string;
  /** `beat`: an agent's heartbeat. It has slots like any job; the heartbeat room decides whether it says something and what. */
  kind: "work" | "beat";
  when: When;
  agent: AgentId;
  /** What to do; empty for a script. */
  prompt: string;
  /** Instead of a model: a command in the agent's workspace. Its output is the answer; no output means no message. */
  script: string | null;
  condition: Condition | null;
  /** The job whose last output this one gets. */
  input: string | null;
  /** `isolated`: a separate session per run. `main`: the agent's main session. Otherwise the session it was created in. */
  session: "isolated" | "main" | SessionKey;
  /** Where the answer goes. Null: it is only in the history. */
  route: ReplyRoute | null;
  /** An undelivered answer doesn't count as a failure. */
  bestEffort: boolean;
  model: string | null;
  thinking: Thinking | null;
  timeoutS: number;
  /** What its runs may use in a day. */
  budget: NonNullable<Terms["budget"]> | null;
  catchUp: CatchUp;
  deleteAfterRun: boolean;
  /** How long an isolated run's session is kept. */
  keepHours: number;
  /** Failures in a row before people are notified; lasting ones are reported immediately. */
  alertAfter: number;
  /** Its runs may make jobs. */
  mayPlan: boolean;
  /** A run that finds nothing worth sending may end without a message. */
  quiet: boolean;
  /** In the person's zone; cron has its own. */
  zone: string;
  enabled: boolean;
  /** From lares.yaml: follows the file. */
  declared: boolean;
  createdBy: string;
  /** The turn in which an agent made it. */
  madeIn?: string;
  failures: number;
}

/** A job's defaults. Also fills in fields that rows from older versions lack. */
export const USUAL = {
  kind: "work",
  prompt: "",
  script: null,
  condition: null,
  input: null,
  session: "isolated",
  route: null,
  bestEffort: false,
  model: null,
  thinking: null,
  timeoutS: 600,
  budget: null,
  catchUp: "once",
  deleteAfterRun: false,
  keepHours: 24,
  alertAfter: 2,
  mayPlan: false,
  quiet: false,
} as const satisfies Partial<Job>;

export type SlotState = "pending" | "running" | "done" | "failed" | "skipped" | "missed";

/** A slot that starts later than this was missed for a reason worth reporting: the machine slept, or Lares was down. */
export const LATE_MS = 60_000;
/** Limit for "run all": nobody wants a year of missed minutes run at once. */
export const MOST_CAUGHT_UP = 10;
/** How many missed times get their own row; the rest share one row that says how far it goes. */
const MOST_MISSED_ROWS = 200;

export interface Catch {
  /** Due times to run now, oldest first. */
  run: number[];
  /** Due times that are recorded as missed, with the reason. */
  missed: { due: number; reason: string }[];
  next: number | undefined;
}

/** Decides what to do with a slot that comes up `now`, and with later ones that passed unnoticed. */
export function catchUp(when: When, due: number, now: number, policy: CatchUp): Catch {
  const { passed, more, next } = passedUntil(when, due, now);
  const late = now - due > LATE_MS;
  if (!late && passed.length === 1) return { run: passed, missed: [], next };
  const newest = passed[passed.length - 1]!;
  const outcome = (run: number[], why: string): Catch => {
    const missed = passed.filter((one) => !run.includes(one)).map((one) => ({ due: one, reason: why }));
    const last = more && missed.find((one) => one.due === more.from);
    if (last) last.reason = missedUntil(why, more.to);
    return { run, missed, next };
  };
  switch (policy) {
    case "skip":
      // The newest may be on time even if older ones were missed.
      return outcome(now - newest <= LATE_MS ? [newest] : [], MISSED);
    case "once":
      return outcome([newest], LATER_RUN_INSTEAD);
    case "all":
      return outcome(passed.slice(-MOST_CAUGHT_UP), newestRun(MOST_CAUGHT_UP));
    default:
      return assertNever(policy);
  }
}

/** Due times from `due` to `now`. Limited: `more` describes the span in the middle where one entry stands for many. */
function passedUntil(when: When, due: number, now: number) {
  const passed = [due];
  let next = nextDue(when, due);
  while (next !== undefined && next <= now && passed.length < MOST_MISSED_ROWS) {
    passed.push(next);
    next = nextDue(when, next);
  }
  if (next === undefined || next > now) return { passed, more: undefined, next };
  const tail: number[] = [];
  for (let at = lastDue(when, now); at !== undefined && at >= next && tail.length < MOST_CAUGHT_UP; ) {
    tail.unshift(at);
    at = lastDue(when, at - 1);
  }
  const from = next;
  if (!tail.includes(from)) passed.push(from);
  passed.push(...tail);
  return { passed, more: { from, to: tail[0] ?? from }, next: nextDue(when, now) };
}

/** Waits after consecutive failures. */
const BACKOFF_MS = [30_000, 60_000, 300_000, 900_000, 3_600_000];
/** Failures in a row after which the job is paused. */
export const MOST_FAILURES = 5;

/** A single run that ended like this has its result, or may have had its effect: it is not repeated. */
const SETTLES_A_SINGLE_RUN: ReadonlySet<JobFailure> = new Set(["unknown-outcome", "script", "not-allowed"]);

/** Whether a failed run is worth repeating before its next regular time. */
export function isTriedAgain({ when, script }: Pick<Job, "when" | "script">, failure: JobFailure): boolean {
  // It was done; only its answer reached nobody.
  if (failure === "delivery") return false;
  if (when.kind !== "at") return true;
  // A script that was cut off did a part of its work.
  return !SETTLES_A_SINGLE_RUN.has(failure) && !(failure === "timeout" && script !== null);
}

/** When a failed job runs next: after the backoff, at its next regular slot if it has one. */
export function afterFailure(when: When, failures: number, now: number): number | undefined {
  if (failures >= MOST_FAILURES) return undefined;
  const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length) - 1] ?? BACKOFF_MS[0]!;
  if (when.kind === "at") return now + wait;
  return nextDue(when, now + wait - 1);
}
