/** How a window is divided, and where it may be cut. Pure. */
import type { ModelMessage } from "../../core/domain/index.ts";

export interface Shares {
  /** Tokens the model can hold. */
  window: number;
  /** From here on, the older part is compacted in the background. */
  threshold: number;
  /** A longer request isn't sent, because it would leave too little room for an answer. */
  limit: number;
  /** Room for the notes: carry-over and snapshot. */
  carry: number;
  snapshot: number;
  /** How much of the newest messages stays in full: tokens, and count. */
  keep: number;
  keepMessages: number;
}

/** An answer needs at least this share of the window. */
const ANSWER_SHARE = 0.1;
/**
 * Shares of the space between the prompt and the threshold. The rest, about a third, is room to grow until the next compaction.
 */
const CARRY_SHARE = 0.3;
const SNAPSHOT_SHARE = 0.1;
const KEEP_SHARE = 0.25;
/** In a large window, more than this doesn't help and is paid for in every call. */
const MOST_CARRY = 6_000;
const MOST_KEEP = 20_000;

export function shareOut(of: {
  window: number;
  threshold: number;
  maxTokens: number;
  /** System prompt and tools, which can't be shortened. */
  prefix: number;
  snapshotTokens: number;
  maxMessages: number;
}): Shares {
  const { window, prefix } = of;
  const threshold = Math.min(Math.floor(of.threshold * window), of.maxTokens);
  // A prompt that fills the window leaves nothing to divide, but the shares must stay positive.
  const room = Math.max(threshold - prefix, Math.floor(window * 0.1));
  return {
    window,
    threshold,
    limit: Math.floor(window * (1 - ANSWER_SHARE)),
    carry: Math.min(Math.floor(room * CARRY_SHARE), MOST_CARRY),
    snapshot: Math.min(Math.floor(room * SNAPSHOT_SHARE), of.snapshotTokens),
    keep: Math.min(Math.floor(room * KEEP_SHARE), MOST_KEEP),
    keepMessages: Math.floor(of.maxMessages * KEEP_SHARE),
  };
}

/**
 * How many of the oldest messages to drop, so that the rest costs at most `keep.tokens` and is at most `keep.messages` long. 0:
 * none can go.
 *
 * CONTEXT-18: never between a call and its results.
 * CONTEXT-19: what stays starts with a person's message. Only a turn that is itself too long is cut between two of its calls.
 * CONTEXT-20: the newest two exchanges stay, unless there is no other way (`hard`).
 */
export function cutAt(
  messages: readonly { role: ModelMessage["role"]; tokens: number }[],
  keep: { tokens: number; messages: number },
  /** Last resort. `most`: the most that may stay. `more`: a new message follows, so all of these may go. */
  hard?: { most: number; more: boolean },
): number {
  const cost = sizes(messages);
  const fits = (i: number) => cost(i) <= keep.tokens && messages.length - i <= keep.messages;
  const users = messages.flatMap((m, i) => (m.role === "user" && i > 0 ? [i] : []));
  if (!hard) {
    const latest = users.at(-2) ?? 0;
    return users.find((i) => i <= latest && fits(i)) ?? latest;
  }
  const between = users.find(fits) ?? users.findLast((i) => cost(i) <= hard.most);
  if (between !== undefined) return between;
  if (hard.more) return messages.length;
  // Inside the last turn: after results, before the next call. The last results stay: the model is about to read them.
  const steps = messages.flatMap((m, i) => (m.role === "assistant" && messages[i - 1]?.role === "tool" ? [i] : []));
  return steps.find(fits) ?? steps.at(-1) ?? users.at(-1) ?? 0;
}

/** Cumulative cost from each message to the end. */
function sizes(messages: readonly { tokens: number }[]): (from: number) => number {
  const from = new Array<number>(messages.length + 1).fill(0);
  for (let i = messages.length - 1; i >= 0; i--) from[i] = from[i + 1]! + messages[i]!.tokens;
  return (i) => from[i]!;
}
