/** What leaves for Telegram: text as its HTML, buttons, files, reactions. One call each, never repeated here (CHANNEL-2). */
import type { Outgoing, OutgoingFile, Placed } from "../../../core/contracts/index.ts";
import type { JsonObject, ReplyRoute } from "../../../core/domain/index.ts";
import { sendInOrder } from "../sending.ts";
import { type CallOptions, TelegramRefusal } from "./api.ts";
import type { TelegramState } from "./state.ts";

/** Telegram's limit for a file's caption; longer text goes before the file as a separate message. */
const MOST_CAPTION = 1024;
/** What Telegram shows as a picture; its limit for those is 10 MB. */
const PICTURE = /^image\/(png|jpeg|webp)$/;
const MOST_PICTURE = 10 * 1024 * 1024;
/** Files may take longer than other calls. */
const UPLOAD_MS = 120_000;

interface Sent {
  message_id?: number;
}

export async function send(
  state: TelegramState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
  const files = [...(message.files ?? [])];
  const fitsCaption = files.length > 0 && message.text.length <= MOST_CAPTION && !message.buttons?.length;
  const calls: (() => Promise<Sent>)[] = [];
  if (fitsCaption) {
    const first = files.shift()!;
    calls.push(() => sendFile(state, message, { file: first, withText: true }, signal));
  } else if (message.text) {
    calls.push(() => put(state, message, { method: "sendMessage", field: "text" }, signal));
  }
  for (const file of files) calls.push(() => sendFile(state, message, { file, withText: false }, signal));
  return sendInOrder(
    calls.map((call) => async () => readId(await call())),
    "Telegram",
  );
}

export async function edit(state: TelegramState, at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
  const more = { message_id: Number(at.platformId) };
  try {
    await put(state, message, { method: "editMessageText", field: "text", more }, signal);
  } catch (error) {
    if (error instanceof TelegramRefusal && /message is not modified/.test(error.said)) return;
    throw error;
  }
}

export async function remove({ api }: TelegramState, at: Placed, signal: AbortSignal): Promise<void> {
  await api.call("deleteMessage", { chat_id: at.route.chat, message_id: Number(at.platformId) }, signal);
}

export function react(state: TelegramState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  return setReactions(state, at, [{ type: "emoji", emoji }], signal);
}

/** A bot has at most one reaction on a message, so none is an empty list. */
export function unreact(state: TelegramState, at: Placed, signal: AbortSignal): Promise<void> {
  return setReactions(state, at, [], signal);
}

async function setReactions(
  { api }: TelegramState,
  at: Placed,
  reaction: JsonObject[],
  signal: AbortSignal,
): Promise<void> {
  const params = { chat_id: at.route.chat, message_id: Number(at.platformId), reaction };
  await api.call("setMessageReaction", params, signal);
}

export async function typing({ api }: TelegramState, route: ReplyRoute, signal: AbortSignal): Promise<void> {
  await api.call("sendChatAction", { ...toPlace(route), action: "typing" }, signal);
}

function sendFile(
  state: TelegramState,
  message: Outgoing,
  { file, withText }: { file: OutgoingFile; withText: boolean },
  signal: AbortSignal,
): Promise<Sent> {
  const isPicture = PICTURE.test(file.mediaType) && file.bytes <= MOST_PICTURE;
  const method = isPicture ? "sendPhoto" : "sendDocument";
  const options = { file: { field: isPicture ? "photo" : "document", file }, patienceMs: UPLOAD_MS };
  if (withText && message.text) return put(state, message, { method, field: "caption", options }, signal);
  return state.api.call(method, toPlace(message.route), signal, options);
}

interface Put {
  method: string;
  /** Where the text goes. */
  field: "text" | "caption";
  more?: JsonObject;
  options?: CallOptions;
}

/** With its HTML; where Telegram can't parse that, the same words as plain text; where the group has moved, in its new place. */
async function put(
  { api }: TelegramState,
  message: Outgoing,
  { method, field, more = {}, options = {} }: Put,
  signal: AbortSignal,
): Promise<Sent> {
  // Telegram's HTML has no tag for a line break.
  const html = message.html?.replace(/<br\s*\/?>/g, "\n");
  const rich: JsonObject = html === undefined ? {} : { [field]: html, parse_mode: "HTML" };
  const params: JsonObject = {
    ...toPlace(message.route),
    [field]: message.text,
    ...rich,
    ...makeKeyboard(message),
    ...more,
  };
  try {
    return await api.call(method, params, signal, options);
  } catch (error) {
    if (!(error instanceof TelegramRefusal)) throw error;
    if (error.movedTo) return api.call(method, { ...params, chat_id: error.movedTo }, signal, options);
    if (!/can't parse entities/.test(error.said) || message.html === undefined) throw error;
    const { parse_mode: _, ...plain } = { ...params, [field]: message.text };
    return api.call(method, plain, signal, options);
  }
}

function readId({ message_id }: Sent): string | null {
  return message_id === undefined ? null : String(message_id);
}

function toPlace({ chat, thread }: ReplyRoute): JsonObject {
  return { chat_id: chat, ...(thread ? { message_thread_id: Number(thread) } : {}) };
}

function makeKeyboard({ buttons }: Outgoing): JsonObject {
  if (!buttons?.length) return {};
  const row = buttons.map(({ id, label }) => ({ text: label, callback_data: id }));
  return { reply_markup: { inline_keyboard: [row] } };
}
