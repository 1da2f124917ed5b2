/** From Telegram's updates to our events. Pure: files are opened later, and only for senders who may talk. */
import { z } from "zod";
import type { PlatformEvent, RemoteFile } from "../../../core/contracts/index.ts";
import { asObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { MOST_DOWNLOAD, type TelegramApi } from "./api.ts";

const user = z.object({
  id: z.number(),
  is_bot: z.boolean().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  username: z.string().optional(),
});
const chat = z.object({
  id: z.number(),
  type: z.enum(["private", "group", "supergroup", "channel"]),
  title: z.string().optional(),
});
const remote = z.object({
  file_id: z.string(),
  file_size: z.number().optional(),
  file_name: z.string().optional(),
  mime_type: z.string().optional(),
});
const titled = z.object({ title: z.string().optional() });
const entity = z.object({ type: z.string(), offset: z.number(), length: z.number(), user: user.optional() });
const said = {
  message_id: z.number(),
  message_thread_id: z.number().optional(),
  is_topic_message: z.boolean().optional(),
  date: z.number(),
  edit_date: z.number().optional(),
  chat,
  from: user.optional(),
  sender_chat: z.object({ id: z.number(), title: z.string().optional() }).optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
  entities: z.array(entity).optional(),
  caption_entities: z.array(entity).optional(),
  photo: z.array(remote).optional(),
  document: remote.optional(),
  voice: remote.optional(),
  audio: remote.optional(),
  video: remote.optional(),
  video_note: remote.optional(),
  animation: remote.optional(),
  location: z.object({ latitude: z.number(), longitude: z.number() }).optional(),
  contact: z.object({ first_name: z.string(), phone_number: z.string() }).optional(),
  quote: z.object({ text: z.string() }).optional(),
  forward_origin: z
    .object({
      type: z.string(),
      sender_user: user.optional(),
      sender_user_name: z.string().optional(),
      sender_chat: titled.optional(),
      chat: titled.optional(),
    })
    .optional(),
};
const message = z.object({ ...said, reply_to_message: z.object(said).optional() });
type Message = z.output<typeof message>;

const update = z.object({
  update_id: z.number(),
  message: message.optional(),
  edited_message: message.optional(),
  callback_query: z
    .object({
      id: z.string(),
      from: user,
      data: z.string().optional(),
      message: z.object({ message_id: z.number(), chat, message_thread_id: z.number().optional() }).optional(),
    })
    .optional(),
  message_reaction: z
    .object({
      chat,
      message_id: z.number(),
      user: user.optional(),
      date: z.number(),
      old_reaction: z.array(z.object({ emoji: z.string().optional() })),
      new_reaction: z.array(z.object({ emoji: z.string().optional() })),
    })
    .optional(),
  my_chat_member: z
    .object({ chat, from: user, date: z.number(), new_chat_member: z.object({ status: z.string() }) })
    .optional(),
});

/** The kinds of update we ask for; Telegram sends no reactions without being asked. */
export const ALLOWED_UPDATES = [
  "message",
  "edited_message",
  "callback_query",
  "message_reaction",
  "my_chat_member",
] as const;

export interface TelegramMe {
  id: number;
  username: string;
}

/** Which kind of update it claims to be, for one that can't be read; never its contents. */
export function readKind(given: unknown): string {
  const keys = asObject(given);
  return ALLOWED_UPDATES.find((kind) => kind in keys) ?? "update";
}

/** A Telegram update as an event; undefined when it doesn't concern us. */
export function toEvent(given: unknown, me: TelegramMe, api: TelegramApi): PlatformEvent | "unreadable" | undefined {
  const parsed = update.safeParse(given);
  if (!parsed.success) return "unreadable";
  const u = parsed.data;
  const id = `u${u.update_id}`;
  if (u.message) return messageEvent(u.message, me, api);
  if (u.edited_message) {
    const event = messageEvent(u.edited_message, me, api);
    if (event?.kind !== "message") return undefined;
    const { files: _, quote: __, voice: ___, ...same } = event;
    return { ...same, kind: "edit", id: `${event.id}:${u.edited_message.edit_date ?? u.update_id}`, message: event.id };
  }
  if (u.callback_query) {
    const { from, data, message: at, id: query } = u.callback_query;
    if (!at || data === undefined) return undefined;
    const { chat: where, message_id, message_thread_id } = at;
    const event = { kind: "button" as const, button: data, message: String(message_id) };
    return { id: `q${query}`, chat: toChat(where, message_thread_id), sender: toSender(from), ...event };
  }
  if (u.message_reaction) {
    const r = u.message_reaction;
    const now = r.new_reaction.find((n) => !r.old_reaction.some((o) => o.emoji === n.emoji))?.emoji;
    const emoji = now ?? r.old_reaction[0]?.emoji;
    // Anonymous reactions have no person behind them whose right could be judged.
    if (!r.user || !emoji) return undefined;
    const event = { kind: "reaction" as const, message: String(r.message_id), emoji, removed: now === undefined };
    return { id, at: r.date * 1000, chat: toChat(r.chat), sender: toSender(r.user), ...event };
  }
  if (u.my_chat_member) {
    const { chat: where, from, date, new_chat_member } = u.my_chat_member;
    const change = /^(left|kicked)$/.test(new_chat_member.status) ? "left" : "joined";
    return { id, at: date * 1000, chat: toChat(where), sender: toSender(from), kind: "member", change };
  }
  return undefined;
}

function messageEvent(m: Message, me: TelegramMe, api: TelegramApi): PlatformEvent | undefined {
  // A broadcast channel's posts have no person behind them.
  if (m.chat.type === "channel" || (!m.from && !m.sender_chat)) return undefined;
  const own = m.text ?? m.caption ?? "";
  const named = mentionIn(own, (m.text === undefined ? m.caption_entities : m.entities) ?? [], me);
  const answered = m.reply_to_message;
  const toMe = answered?.from?.id === me.id;
  const quoted = m.quote?.text ?? answered?.text ?? answered?.caption;
  const files = listFiles(m, api);
  return {
    kind: "message",
    id: String(m.message_id),
    at: m.date * 1000,
    chat: toChat(m.chat, m.is_topic_message ? m.message_thread_id : undefined),
    sender: m.sender_chat ? { id: String(m.sender_chat.id), ...withName(m.sender_chat.title) } : toSender(m.from!),
    text: [named.text, ...listExtras(m)].filter(Boolean).join("\n"),
    ...(named.found || toMe ? { addressed: true } : {}),
    ...(m.forward_origin ? { forwarded: true, ...readForwarder(m.forward_origin) } : {}),
    ...(m.voice ? { voice: "recorded" as const } : {}),
    ...(files.length ? { files } : {}),
    ...(quoted === undefined ? {} : { quote: { text: quoted, ...(toMe ? {} : readQuoted(answered)) } }),
  };
}

/** Whose words are quoted. Our own have no sender: nobody needs the right to talk for them. */
function readQuoted(answered: Message["reply_to_message"]): { sender?: string; name?: string } {
  const id = answered?.sender_chat?.id ?? answered?.from?.id;
  // Without an id nobody can say whether the author may talk, so "unknown" stands for a stranger.
  return { sender: String(id ?? "unknown"), ...withName(answered?.from && joinNames(answered.from)) };
}

/** A person, a person who hides their account, a group or a broadcast channel. */
function readForwarder(from: NonNullable<Message["forward_origin"]>): { forwardedFrom?: string } {
  const { sender_user, sender_user_name, sender_chat, chat } = from;
  const name = (sender_user && joinNames(sender_user)) || sender_user_name || sender_chat?.title || chat?.title;
  return name ? { forwardedFrom: name } : {};
}

/** A mention of us is taken out: it isn't part of what was said. */
function mentionIn(
  text: string,
  entities: z.output<typeof entity>[],
  me: TelegramMe,
): { text: string; found: boolean } {
  let rest = text;
  let found = false;
  // From the end, so that the offsets before stay right.
  for (const e of entities.toReversed()) {
    const word = text.slice(e.offset, e.offset + e.length);
    const mine = `@${me.username}`.toLowerCase();
    const isCommand = e.type === "bot_command" && word.toLowerCase().endsWith(mine);
    const isName =
      (e.type === "mention" && word.toLowerCase() === mine) || (e.type === "text_mention" && e.user?.id === me.id);
    if (!isCommand && !isName) continue;
    found = true;
    const kept = isCommand ? word.slice(0, -mine.length) : "";
    rest = rest.slice(0, e.offset) + kept + rest.slice(e.offset + e.length);
  }
  return { text: found ? rest.trim() : rest, found };
}

/** What is neither text nor a file, in words. Names are quoted, so that they stay data. */
function listExtras(m: Message): string[] {
  const out: string[] = [];
  if (m.location) out.push(`[Location: ${m.location.latitude}, ${m.location.longitude}]`);
  if (m.contact)
    out.push(`[Contact: ${JSON.stringify(m.contact.first_name)}, ${JSON.stringify(m.contact.phone_number)}]`);
  return out;
}

function listFiles(m: Message, api: TelegramApi): RemoteFile[] {
  const largest = m.photo?.at(-1);
  const all: [z.output<typeof remote> | undefined, string, string?][] = [
    [largest, "photo.jpg", "image/jpeg"],
    // A GIF comes as both; the animation is the one with the picture.
    [m.animation ?? m.document, "document"],
    [m.voice, "voice.ogg", "audio/ogg"],
    [m.audio, "audio.mp3", "audio/mpeg"],
    [m.video ?? m.video_note, "video.mp4", "video/mp4"],
  ];
  return all.flatMap(([file, name, type]) => {
    if (!file) return [];
    const mediaType = file.mime_type ?? type;
    return {
      name: file.file_name ?? name,
      ...truthy({ mediaType }),
      ...(file.file_size === undefined ? {} : { bytes: Math.min(file.file_size, MOST_DOWNLOAD + 1) }),
      open: (signal: AbortSignal) => api.download(file.file_id, file.file_size, signal),
    };
  });
}

function toChat(where: z.output<typeof chat>, thread?: number): PlatformEvent["chat"] {
  return {
    id: String(where.id),
    kind: where.type === "private" ? "direct" : "group",
    ...(thread === undefined ? {} : { thread: String(thread) }),
    ...truthy({ title: where.title }),
  };
}

function toSender(from: z.output<typeof user>): PlatformEvent["sender"] {
  return { id: String(from.id), ...withName(joinNames(from)), ...truthy({ isBot: from.is_bot }) };
}

function joinNames(from: z.output<typeof user>): string | undefined {
  return [from.first_name, from.last_name].filter(Boolean).join(" ") || from.username;
}

const withName = (name: string | undefined) => (name ? { name } : {});
