/** What the board tools say: to the model, and on a card. */

export const LOOK = "Look at the board";
export const EMPTY = "The board is empty.";
export const HANDED_IN = "Handed in. It is checked when you end your turn; end it now with a short summary.";
export const HAND_IN = "Hand in the task";

export function addTask(title: string, who: string | undefined, text: string): string {
  return [`Add a task${who === undefined ? "" : ` for ${who}`}: ${title}`, ...(text === "" ? [] : [text])].join("\n");
}

export function added(number: number, state: string): string {
  return `Task #${number} is on the board (${state}). You'll get its result as a message: don't poll.`;
}

export function commentOn(task: string, text: string): string {
  return `Comment on task ${task}:\n${text}`;
}

export function commented(number: number): string {
  return `Your comment is with task #${number}.`;
}

export function showTasks(tasks: readonly { number: number; title: string; state: string; who?: string }[]): string {
  return tasks
    .map(({ number, title, state, who }) => `#${number} ${state}${who === undefined ? "" : ` (${who})`}: ${title}`)
    .join("\n");
}
