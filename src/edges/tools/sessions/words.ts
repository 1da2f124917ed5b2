/** What the tools for sub-agents say to the model, and what a person reads when one of them is asked about. */

export const SENT = "Sent. You'll get the outcome as a message.";
export const STOPPING = "Stopping it. Its result will say that it was stopped.";
export const ALREADY_ENDED = "It had already ended.";
export const NO_SUB_AGENTS = "You have no sub-agents.";
export const NO_WORKTREE =
  "A repository's worktree is for work of another runtime. Name one with runtime, or do the work without repository.";
export const SAID_NOTHING = "It has said nothing yet.";
export const NOTHING_TO_WAIT_FOR = "There is nothing to wait for: you already have the results of what has ended.";
export const TIME_IS_UP = "Time is up.";
export const NOTHING_CAME = "Nothing arrived.";

export function started(session: string): string {
  return `Started as ${session}. You'll get its result as a message.`;
}

export function waiting(seconds: number): string {
  return `Waiting ${seconds} s.`;
}

export function waitingFor(count: number, seconds: number): string {
  return `Waiting for ${count} of them, up to ${seconds} s. You'll get the results in the next message.`;
}

export function stillRunning(missing: number): string {
  return `${missing} did not end in time. They keep running, and you'll get their results as messages.`;
}

/** Plans, as people read them. Names and texts come escaped. */
export const LIST = "List the sub-agents.";

export function askSubAgent(agent: string, task: string): string {
  return `Ask a sub-agent (${agent}):\n${task}`;
}

export function askSubAgentIn(agent: string, runtime: string, task: string): string {
  return `Ask a sub-agent (${agent}) that ${runtime} carries out:\n${task}`;
}

export function tellSubAgent(session: string, text: string): string {
  return `Tell ${session}:\n${text}`;
}

export function stopSubAgent(session: string): string {
  return `Stop ${session}.`;
}

export function readSubAgent(session: string): string {
  return `Read ${session}.`;
}

export function waitFor(what: string): string {
  return `Wait for ${what}.`;
}
