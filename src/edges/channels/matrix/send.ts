/** What leaves for Matrix. Every event is a transaction named after its key, so that sending it twice makes one. */
import type { Outgoing, Placed } from "../../../core/contracts/index.ts";
import type { ReplyRoute } from "../../../core/domain/index.ts";
import type { MatrixState } from "./state.ts";

/** An event may have 65,536 bytes; the rest is for its envelope and signatures. */
const MOST_CONTENT = 60_000;
/** What clients that don't know edits see of one. The whole text is in `m.new_content`, and both would be too large. */
const MOST_PREVIEW = 200;

export async function send(
  { api }: MatrixState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
  const { chat, thread } = message.route;
  const within = inThread(thread);
  let first: string | null = null;
  if (message.text || !message.files?.length) {
    const content = { ...makeText(message), ...within };
    first = await api.put(chat, "m.room.message", message.key, content, signal);
  }
  for (const [i, file] of (message.files ?? []).entries()) {
    const url = await api.upload({ ...file, data: await file.read() }, signal);
    const info = { mimetype: file.mediaType, size: file.bytes };
    const content = { msgtype: toMessageType(file.mediaType), body: file.name, url, info, ...within };
    const id = await api.put(chat, "m.room.message", `${message.key} file ${i}`, content, signal);
    first ??= id;
  }
  return { platformId: first };
}

export async function edit({ api }: MatrixState, at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
  const key = `${message.key} edit ${message.text}`;
  const content = {
    msgtype: "m.text",
    body: `* ${message.text.slice(0, MOST_PREVIEW)}`,
    "m.new_content": makeText(message),
    "m.relates_to": { rel_type: "m.replace", event_id: at.platformId },
  };
  await api.put(at.route.chat, "m.room.message", key, content, signal);
}

export async function remove({ api }: MatrixState, at: Placed, signal: AbortSignal): Promise<void> {
  await api.redact(at.route.chat, at.platformId, signal);
}

/** Returns the reaction's own event. */
export async function react(
  { api }: MatrixState,
  at: Placed,
  emoji: string,
  signal: AbortSignal,
): Promise<string | null> {
  const relation = { rel_type: "m.annotation", event_id: at.platformId, key: emoji };
  const key = `react ${at.platformId} ${emoji}`;
  return api.put(at.route.chat, "m.reaction", key, { "m.relates_to": relation }, signal);
}

/** To take a reaction back one must know its event: the same transaction again names it and sends nothing new. */
export async function unreact(state: MatrixState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  const made = await react(state, at, emoji, signal);
  if (made) await state.api.redact(at.route.chat, made, signal);
}

export async function typing({ api, self }: MatrixState, route: ReplyRoute, signal: AbortSignal): Promise<void> {
  await api.typing(route.chat, (await self.get(signal)).id, signal);
}

/** The second relation is for clients that don't know threads: they show an answer to the thread's first message. */
function inThread(thread: string | undefined): Record<string, unknown> {
  if (!thread) return {};
  const fallback = { is_falling_back: true, "m.in_reply_to": { event_id: thread } };
  return { "m.relates_to": { rel_type: "m.thread", event_id: thread, ...fallback } };
}

function makeText(message: Outgoing): Record<string, unknown> {
  const plain = { msgtype: "m.text", body: message.text, "m.mentions": {} };
  if (!message.html) return plain;
  const rich = { ...plain, format: "org.matrix.custom.html", formatted_body: message.html };
  return Buffer.byteLength(JSON.stringify(rich)) > MOST_CONTENT ? plain : rich;
}

function toMessageType(mediaType: string): string {
  const kind = mediaType.split("/")[0];
  return kind === "image" || kind === "audio" || kind === "video" ? `m.${kind}` : "m.file";
}
