/** What Lares says by itself to people who write through a channel, and what it says about an account that is in trouble. */
import type { Count } from "./limits.ts";

export const QUESTION_CLOSED = "This question is no longer open.";
export const ONLY_OWNER_ANSWERS = "Only the owner can answer this.";
export const ANSWERING_EACH_OTHER = "We seem to be answering each other. I'll stop here for a while.";
/** Sent on request, so that a person sees whether a chat can be reached. */
export const TRIAL = "This is Lares, testing this connection. It works.";
/** Why an event is not taken, for the log. */
export const NOT_TAKEN = {
  bot: "bots are not listened to",
  "direct-off": "direct messages are off",
  unlisted: "not on the list",
  "group-unlisted": "this group is not listed",
  "unlisted-in-group": "not on the group's list",
  "not-addressed": "it was not addressed",
} as const;
export const LET_IN = "You're in. Just write to me; /help lists the commands.";

export function offerCode(code: string): string {
  return `I don't know you yet. Your code is ${code}, valid for an hour. The person who runs me can let you in with: lares channels approve ${code}`;
}

/** The notice for a limit that is reached. */
export function limitText(limit: Count): string {
  if (limit.hours === 24) {
    return `That's enough for today: I accept ${limit.most} messages a day from ${limit.what}. I haven't read this message.`;
  }
  return limit.unit === "messages"
    ? `That's enough for now: I accept ${limit.most} messages an hour from ${limit.what}. I haven't read this message; please send it again in the next hour.`
    : `That's enough for today: the limit of ${limit.most.toLocaleString("en")} tokens a day is used up. I haven't read this message; please send it again tomorrow.`;
}

/** Why an account is connected again; in its status. */
export const NEVER_CONNECTED = "It didn't connect in time.";

export function nothingReceived(seconds: number): string {
  return `Nothing was received for ${seconds} s.`;
}

export function receivesNothing(waiting: number): string {
  return `The platform reports ${waiting} waiting messages, but none are being received.`;
}
