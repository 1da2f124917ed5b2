/** What leaves for Slack: text as its mrkdwn, buttons as blocks, files, reactions. One call each, never repeated here (CHANNEL-2). */
import type { Button, Outgoing, Placed, PlatformEvent } from "../../../core/contracts/index.ts";
import { asList, asObject, asText, type JsonObject, type ReplyRoute } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { refused } from "../sending.ts";
import { SlackRefusal } from "./api.ts";
import type { SlackState } from "./state.ts";

/** Slack's limit for the text of a section. */
const MOST_SECTION = 3000;
const EVENT_TYPE = "lares_message";

export async function send(
  state: SlackState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
  if (message.files?.length) return sendFiles(state, message, signal);
  const params = {
    ...toPlace(message.route),
    text: message.text,
    ...makeBlocks(message),
    unfurl_links: false,
    metadata: { event_type: EVENT_TYPE, event_payload: { key: message.key } },
  };
  const sent = await state.api.call("chat.postMessage", params, signal);
  return { platformId: asText(sent.ts) ?? null };
}

/** Whether a message is there, by the key it carries. Files carry none, so nobody can tell. */
export async function find(
  { api }: SlackState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  if (message.files?.length) return undefined;
  const { chat, thread } = message.route;
  const asked = { channel: chat, limit: 100, include_all_metadata: true, ...truthy({ ts: thread }) };
  const found = await api.call(thread ? "conversations.replies" : "conversations.history", asked, signal, true);
  for (const one of asList(found.messages).map(asObject)) {
    const payload = asObject(asObject(one.metadata).event_payload);
    if (payload.key === message.key) return asText(one.ts) ?? null;
  }
  // One page isn't the whole chat, but a message that was just sent would be among the newest.
  return null;
}

export async function edit({ api }: SlackState, at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
  // Without this field Slack would keep the old buttons.
  const blocks = makeBlocks(message).blocks ?? [];
  const params = { channel: at.route.chat, ts: at.platformId, text: message.text, blocks };
  await api.call("chat.update", params, signal);
}

export async function remove({ api }: SlackState, at: Placed, signal: AbortSignal): Promise<void> {
  await api.call("chat.delete", { channel: at.route.chat, ts: at.platformId }, signal);
}

export function react(state: SlackState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  return changeReaction(state, at, { method: "reactions.add", emoji }, signal);
}

export function unreact(state: SlackState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  return changeReaction(state, at, { method: "reactions.remove", emoji }, signal);
}

async function changeReaction(
  { api }: SlackState,
  at: Placed,
  { method, emoji }: { method: string; emoji: string },
  signal: AbortSignal,
): Promise<void> {
  const name = EMOJI[emoji.replace("\ufe0f", "")] ?? /^:?([\w+-]+):?$/.exec(emoji)?.[1];
  if (!name) throw refused(`Slack has no name for ${emoji}.`, "never");
  try {
    await api.call(method, { channel: at.route.chat, timestamp: at.platformId, name }, signal);
  } catch (error) {
    if (!(error instanceof SlackRefusal) || !/^(already_reacted|no_reaction)$/.test(error.word)) throw error;
  }
}

/** A message that only one person in the chat sees. */
export async function whisper(
  { api }: SlackState,
  { chat, user, text }: { chat: PlatformEvent["chat"]; user: string; text: string },
  signal: AbortSignal,
): Promise<void> {
  const place = { channel: chat.id, user, ...truthy({ thread_ts: chat.thread }) };
  await api.call("chat.postEphemeral", { ...place, text }, signal);
}

/** The bytes first, then one call that puts them into the chat together with the text. */
async function sendFiles(
  { api }: SlackState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
  const files: JsonObject[] = [];
  for (const file of message.files ?? []) {
    const bytes = await file.read();
    const asked = { filename: file.name, length: bytes.byteLength };
    const { upload_url, file_id } = await api.call("files.getUploadURLExternal", asked, signal, true);
    await api.upload(String(upload_url), bytes, signal);
    files.push({ id: String(file_id), title: file.name });
  }
  const { chat, thread } = message.route;
  const place = { channel_id: chat, ...truthy({ thread_ts: thread }) };
  await api.call(
    "files.completeUploadExternal",
    { files, ...place, ...truthy({ initial_comment: message.text }) },
    signal,
  );
  return { platformId: null };
}

function toPlace({ chat, thread }: ReplyRoute): JsonObject {
  return { channel: chat, ...truthy({ thread_ts: thread }) };
}

function makeBlocks({ text, buttons }: Outgoing): { blocks?: JsonObject[] } {
  if (!buttons?.length) return {};
  const sections = cut(text, MOST_SECTION).map((piece) => ({
    type: "section",
    text: { type: "mrkdwn", text: piece },
  }));
  const elements = buttons.map(({ id, label, kind }, i) => ({
    type: "button",
    action_id: `lares_${i}`,
    value: id,
    text: { type: "plain_text", text: label },
    ...STYLES[kind],
  }));
  return { blocks: [...sections, { type: "actions", elements }] };
}

const STYLES: Readonly<Record<Button["kind"], { style?: string }>> = {
  yes: { style: "primary" },
  no: { style: "danger" },
  plain: {},
};

/** At the ends of lines, where there are any. */
function cut(text: string, most: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const line = rest.lastIndexOf("\n", most);
    const at = line > 0 ? line : most;
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at).replace(/^\n/, "");
  }
  return [...pieces, rest].filter(Boolean);
}

const EMOJI: Readonly<Record<string, string>> = {
  "👍": "thumbsup",
  "👎": "thumbsdown",
  "👀": "eyes",
  "✅": "white_check_mark",
  "❌": "x",
  "❤": "heart",
  "🎉": "tada",
  "🔥": "fire",
  "🙏": "pray",
  "🤔": "thinking_face",
  "😂": "joy",
  "⏳": "hourglass_flowing_sand",
};
