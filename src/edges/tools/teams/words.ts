/** What the room tools say: to the model, and on a card. */

export const READ_ROOM = "Read the team's room";
export const NOTHING_NEW = "There is nothing new in the room.";

export function postIn(team: string | undefined, text: string): string {
  return `Write in the room${team === undefined ? "" : ` of ${team}`}:\n${text}`;
}

export function posted(team: string, seq: number): string {
  return `Post ${seq} is in the room of ${team}. The members it addresses answer there; you'll get what is addressed to you as a message.`;
}

export function showPosts(team: string, posts: readonly { seq: number; name: string; text: string }[]): string {
  return [`Room of ${team}:`, ...posts.map(({ seq, name, text }) => `[${seq}] ${name}: ${text}`)].join("\n\n");
}
