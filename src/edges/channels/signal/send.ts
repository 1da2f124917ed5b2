/** What leaves through signal-cli: messages, edits, reactions. One call each, never repeated here (CHANNEL-2). */
import type { Outgoing, Placed } from "../../../core/contracts/index.ts";
import { asList, asNumber, asObject, asText, type ReplyRoute } from "../../../core/domain/index.ts";
import { failedIfUncertain } from "../sending.ts";
import type { SignalState } from "./state.ts";

export async function send(
  state: SignalState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
  const attachments: string[] = [];
  for (const file of message.files ?? []) {
    const data = Buffer.from(await file.read()).toString("base64");
    attachments.push(`data:${file.mediaType};filename=${encodeURIComponent(file.name)};base64,${data}`);
  }
  return { platformId: await deliver(state, message, attachments.length ? { attachments } : {}, signal) };
}

export async function edit(state: SignalState, at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
  await deliver(state, message, { editTimestamp: Number(at.platformId) }, signal).catch(failedIfUncertain);
}

export async function remove({ rpc }: SignalState, at: Placed, signal: AbortSignal): Promise<void> {
  await rpc.call("remoteDelete", { ...toRecipient(at.route), targetTimestamp: Number(at.platformId) }, signal);
}

export function react(state: SignalState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  return sendReaction(state, at, { emoji }, signal);
}

export function unreact(state: SignalState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  return sendReaction(state, at, { emoji, remove: true }, signal);
}

export async function typing({ rpc }: SignalState, route: ReplyRoute, signal: AbortSignal): Promise<void> {
  await rpc.call("sendTyping", toRecipient(route), signal, true);
}

/** A message's id on Signal is the time it was sent. */
async function deliver(
  { rpc }: SignalState,
  message: Outgoing,
  more: Record<string, unknown>,
  signal: AbortSignal,
): Promise<string | null> {
  const styles = asList(message.styles).map(asObject);
  const textStyle = styles.map((s) => `${asNumber(s.start)}:${asNumber(s.length)}:${asText(s.style)}`);
  const styled = textStyle.length ? { textStyle } : {};
  const params = { ...toRecipient(message.route), message: message.text, ...styled, ...more };
  const timestamp = asNumber((await rpc.call("send", params, signal)).timestamp);
  return timestamp === undefined ? null : String(timestamp);
}

async function sendReaction(
  { rpc, config }: SignalState,
  at: Placed,
  params: { emoji: string; remove?: true },
  signal: AbortSignal,
): Promise<void> {
  // Ids of other people's messages begin with their author (events.ts).
  const isOurs = !at.platformId.includes(":");
  const [author, timestamp] = isOurs ? [config.number, at.platformId] : at.platformId.split(":");
  const target = { targetAuthor: author, targetTimestamp: Number(timestamp) };
  await rpc.call("sendReaction", { ...toRecipient(at.route), ...params, ...target }, signal);
}

/** Group ids are the base64 of 32 bytes; people are known by their service id or number. */
function toRecipient({ chat }: ReplyRoute): Record<string, unknown> {
  return isPerson(chat) ? { recipient: [chat] } : { groupId: chat };
}

function isPerson(id: string): boolean {
  return /^\+\d+$/.test(id) || /^(PNI:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}
