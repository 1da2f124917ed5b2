/** What another agent reads that isn't an answer. It says nothing about what is the owner's. */
export const WAITS_FOR_OWNER =
  "A person has to allow something before this goes on, and only the owner of this agent can. You can wait, or cancel the task.";

/** A message never answers an approval: it would be the one who asks who says yes. */
export const CANNOT_APPROVE =
  "This task waits for its owner's decision, and a message can't make it. Wait, cancel it, or send a new message without a task id.";

export const IS_OVER = "This task is over. Send a new message with its context id, without a task id.";
export const OTHER_CONTEXT = "This task belongs to another context. Leave out the context id, or give the task's own.";
export const NO_WORDS = "The message says nothing.";

export function tooLong(most: number): string {
  return `The message is longer than ${most} characters.`;
}

export function tooOften(most: number): string {
  return `More than ${most} messages came from you within a minute.`;
}

export function tooManyOpen(most: number): string {
  return `${most} tasks of yours are open, which is the limit. Wait until one has ended, or cancel one.`;
}

export function tooFar(most: number): string {
  return `Too many agents have asked each other for this already: the limit here is ${most}.`;
}
