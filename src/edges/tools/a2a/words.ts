/** What the tool for peers says, to models and to people. */
import { quotedBeginning } from "../../../core/kit/index.ts";

export const ASK_DESCRIPTION =
  "Ask an agent of somebody else's, by name. It works elsewhere and knows nothing about this conversation. Its answer comes as a message: don't wait for it, and don't ask twice.";

export function sent(peer: string, hire: string): string {
  return `Sent to ${peer} (task ${hire}). The answer will come as a message.`;
}

export function toldBefore(peer: string, hire: string): string {
  return `${peer} has the message (task ${hire}). The answer comes as a message.`;
}

export function answered(peer: string): string {
  return `${peer} answered:`;
}

export function endLabel(peer: string, message: string, state: PeerEnd): string {
  return `${peer} ${ENDS[state]} ${quotedBeginning(message)}`;
}

export type PeerEnd = "completed" | "failed" | "canceled" | "rejected" | "lost" | "late";

const ENDS: Readonly<Record<PeerEnd, string>> = {
  completed: "answered",
  failed: "failed at",
  canceled: "stopped working on",
  rejected: "declined",
  lost: "no longer knows",
  late: "gave no answer in time to",
};

export function askLabel(peer: string, hire: string): string {
  return `${peer} asks something before it goes on (answer with peer_ask and the task ${hire}; ask the person if you don't know)`;
}

export function needsLogin(peer: string): string {
  return `${peer} wants a login before it goes on; its owner has to see to that`;
}

export function shownAsk(peer: string, host: string, message: string): string {
  return `Ask ${peer} (${host}), an agent of somebody else's:\n${message}`;
}

export const CUT = "\n[The rest was left out: the answer is too long.]";

export function unknownPeer(name: string): string {
  return `There is no agent called "${name}" to ask.`;
}

export function isNew(name: string): string {
  return `Nobody has looked at the card of ${name} yet, so it can't be asked.`;
}

export function hasChanged(name: string): string {
  return `The card of ${name} has changed since the owner accepted it, so it can't be asked for now.`;
}

export function pointsElsewhere(name: string, host: string): string {
  return `The card of ${name} sends its callers to another address (${host}), where the token would go too.`;
}

export const NO_INTERFACE = "The card names no way to reach it that Lares knows (JSON-RPC or HTTP+JSON, 1.0 or 0.3).";

export function tooMany(most: number): string {
  return `${most} tasks are open at this agent, which is the limit.`;
}

export function tooFar(most: number): string {
  return `Too many agents have asked each other for this already: the limit is ${most}.`;
}

export function notYours(task: string): string {
  return `There is no open task "${task}" in this conversation.`;
}

export function maybeSent(peer: string): string {
  return `The connection to ${peer} broke before it said whether it got the message.`;
}
