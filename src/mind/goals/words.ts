/** What people read about a goal, and what its agent is asked to do. The judge's prompt stands with the reading of its verdict. */
import type { Goal, GoalState } from "./store.ts";

export const ONLY_OWNER_SETS = "Only the owner can set or change goals.";
export const NO_GOAL = "There is no goal here.";
export const NO_GOAL_YET = "There is no goal here. Set one: /goal the build is green";
export const JUDGING_FAILED = "Judging it failed inside Lares. See: lares logs";
export const NO_JUDGE = "No language model is connected to judge it.";
export const VERDICT_UNREADABLE = "The judge's verdict couldn't be read.";
export const NO_REASON = "The judge gave no reason.";
export const TURN_STOPPED = "Its turn was stopped.";
export const PRICE_UNKNOWN = "The model's price isn't known, so a dollar limit can't be enforced; set one in tokens.";

/** Why the agent gets the goal now. */
export const FIRST_TURN = "Work towards this until it is reached.";
export const RESUMED = "A person resumed it.";

const ENDINGS = {
  done: "Goal reached",
  blocked: "Goal blocked",
  limit: "Goal ended at its limit",
  paused: "Goal paused",
} as const satisfies Partial<Record<GoalState, string>>;

export function goalLine(goal: Goal): string {
  const { outcome, state, round, most_turns, why } = goal;
  return `${outcome}: ${state}, turn ${round} of ${most_turns}.${why ? ` ${why}` : ""}`;
}

export function goalSet(goal: Goal): string {
  return `${goalLine(goal)} /goal pause and /goal cancel end it.`;
}

export function endText(state: keyof typeof ENDINGS, outcome: string, why: string): string {
  return `${ENDINGS[state]}: ${outcome}\n${why}`;
}

export function pausedBy(person: string): string {
  return `Paused by ${person}.`;
}

export function cancelledBy(person: string): string {
  return `Cancelled by ${person}.`;
}

export function waitingFor(tasks: number): string {
  return `It's waiting for ${tasks} ${tasks === 1 ? "task" : "tasks"} running in its session.`;
}

export function notReached(turns: number, why: string): string {
  return `After ${turns} turns it isn't reached: ${why}`;
}

export function judgeUnreachable(error: string): string {
  return `The judge couldn't be reached: ${error}`;
}

export function turnEnded(state: string): string {
  return `Its turn ended as ${state}.`;
}

export function dollarsUsed(used: number, most: number): string {
  return `It used $${used.toFixed(4)} of $${most}.`;
}

export function tokensUsed(used: number, most: number): string {
  return `It used ${used} of ${most} tokens.`;
}

export function turnLabel(round: number, most: number): string {
  return `Goal, turn ${round} of ${most}`;
}

/** The message that starts a turn of the goal. */
export function turnText(why: string, goal: Pick<Goal, "outcome" | "proof" | "stop">): string {
  return [
    why,
    `Outcome: ${goal.outcome}`,
    ...(goal.proof ? [`Proof: ${goal.proof}`] : []),
    ...(goal.stop ? [`Stop when: ${goal.stop}`] : []),
    "Show the proof in what your tools return. Say plainly when it is reached, or what blocks you.",
  ].join("\n");
}
