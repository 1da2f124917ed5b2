/** What a runtime reads when it takes over, and what people read about a run that went wrong. */
import type { Worktree } from "../../core/contracts/index.ts";

export const handoverWords = {
  /** The runtime has its own conversation and was cut off. */
  again:
    "Lares was restarted while you were working on this request. Go on where you stopped. Before you repeat an action, check whether it already happened.",
  /** The runtime starts over. */
  takeOver:
    "You are taking over a request that was interrupted by a restart. What was done so far is below. Go on from there. Before you repeat an action, check whether it already happened.",
  before: (text: string) => `The conversation so far:\n\n${text}`,
  request: (text: string) => `The request:\n\n${text}`,
  now: (text: string) => `Now:\n\n${text}`,
  done: (text: string) => `What was done so far:\n\n${text}`,
  said: (texts: readonly string[]) => `Said meanwhile (you may have read it already):\n\n${texts.join("\n\n")}`,
  allowed: (about: string) => `You asked for permission, and it was given: ${about}`,
  denied: (about: string, reason: string) => `You asked for permission, and it was denied: ${about}\n${reason}`,
  used: (about: string, text: string) => `You called ${about}. It returned:\n${text}`,
  notUsed: (about: string, text: string) => `You called ${about}. It failed:\n${text}`,
  called: (name: string, input: string) => `- ${name} ${input}`,
  result: (text: string, isError: boolean) => `  ${isError ? "failed" : "result"}: ${text}`,
  noResult: "  The result isn't known.",
};

export const tooManyAttempts = (most: number) =>
  `It was started ${most} times and never came to an end. What it did last may or may not have happened.`;
export const TOO_MUCH = "Stopped: it said more than Lares keeps of one run.";
export const RUN_IS_OVER = "This run is over.";
export const TOO_MANY_CALLS = "Too many calls at once. Wait for the results of the others.";
export const ENDED_EARLY = "It stopped without an end.";
export const RATE_LIMITED = "It waits because of a rate limit.";
/** The message of a commit for a run that came to no end. */
export const CUT_OFF = "Work that was cut off";

/** What a runtime reads about where it works. */
export function worksInTree({ repository, branch, notes }: Worktree): string {
  return [
    `You work in a git worktree of ${repository}, on the branch ${branch}. Change files here only.`,
    "Leave committing to Lares: when you are done, everything that isn't ignored is committed to this branch. Don't switch branches, and don't push.",
    ...notes,
  ].join(" ");
}
