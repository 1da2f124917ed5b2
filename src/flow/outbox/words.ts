/** What people read about a message on its way: in the chat, in the list of deliveries, and where the model sends one itself. */
import { toAccountName } from "../../core/domain/index.ts";

export const EXPIRED = "It couldn't be delivered in time.";
export const UNREACHABLE = "The platform couldn't be reached.";
export const INTERRUPTED = "Sending was interrupted.";
export const ON_ITS_WAY = "It is on its way.";
/** In place of a file that has been deleted since. */
export const FILE_GONE = "[a file is gone]";

export function interrupted(error: string): string {
  return `Sending was interrupted: ${error}`;
}

export function notConfigured(channel: string): string {
  return `The channel "${channel}" is not configured.`;
}

export function noChannel(channel: string, account: string): string {
  return `There is no channel "${toAccountName({ channel, account })}" to send through.`;
}

/** For a conversation that nothing is pushed to: people see what the model answers there. */
export function answerInstead(links: readonly string[]): string {
  const files = links.length ? ` Link to: ${links.join(" ")}` : "";
  return `This conversation is read where it is written: put it in your answer.${files}`;
}

export function unconfirmed(text: string): string {
  const start = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return `I couldn't confirm that my last message reached you. It starts: "${start}". If it's missing, ask me to repeat it.`;
}

export function restLeftOut(messages: number): string {
  return `[The rest is left out: ${messages} more messages.]`;
}

/** Why a file stays here, for the person who would have got it. */
export function fileNotSent(name: string, mostBytes: number): string {
  return mostBytes > 0
    ? `[${name} wasn't sent: it's larger than the ${Math.floor(mostBytes / 1_000_000)} MB this channel accepts]`
    : `[${name} wasn't sent: this channel doesn't accept files]`;
}

/** `Working: exec npm test (40 s)`; without a running call, `Still working (40 s)`. */
export function progressText(ms: number, calls: readonly { name: string; what: string }[]): string {
  const seconds = Math.round(ms / 1000);
  const time = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  const [first] = calls;
  if (!first) return `Still working (${time})`;
  const more = calls.length > 1 ? ` and ${calls.length - 1} more` : "";
  return `Working: ${first.name}${first.what ? ` \`${first.what}\`` : ""}${more} (${time})`;
}
