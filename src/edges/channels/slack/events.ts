/** From Slack's events to ours. Pure: files are opened later, and only for senders who may talk. */
import { z } from "zod";
import type { PlatformEvent, RemoteFile } from "../../../core/contracts/index.ts";
import { asObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { SlackApi } from "./api.ts";

const file = z.object({
  name: z.string().nullish(),
  mimetype: z.string().nullish(),
  size: z.number().nullish(),
  url_private_download: z.string().nullish(),
  subtype: z.string().nullish(),
});
const said = {
  user: z.string().optional(),
  bot_id: z.string().nullish(),
  text: z.string().nullish(),
  ts: z.string(),
  thread_ts: z.string().optional(),
  parent_user_id: z.string().optional(),
  subtype: z.string().optional(),
  edited: z.object({ ts: z.string() }).optional(),
  files: z.array(file).optional(),
};
const message = z.object({
  ...said,
  type: z.enum(["message", "app_mention"]),
  channel: z.string(),
  channel_type: z.string().optional(),
  message: z.object(said).optional(),
  deleted_ts: z.string().optional(),
  previous_message: z.object(said).optional(),
});
type Message = z.output<typeof message>;

const reaction = z.object({
  type: z.enum(["reaction_added", "reaction_removed"]),
  user: z.string(),
  reaction: z.string(),
  item: z.object({ type: z.literal("message"), channel: z.string(), ts: z.string() }),
  event_ts: z.string(),
});
const member = z.object({
  type: z.enum(["member_joined_channel", "member_left_channel"]),
  user: z.string(),
  channel: z.string(),
  event_ts: z.string().optional(),
});
const press = z.object({
  type: z.literal("block_actions"),
  user: z.object({ id: z.string(), name: z.string().optional() }),
  channel: z.object({ id: z.string() }),
  message: z.object({ ts: z.string(), thread_ts: z.string().optional() }),
  actions: z.array(z.object({ value: z.string(), action_ts: z.string() })).min(1),
});

export interface SlackMe {
  user: string;
  bot: string;
}

/** The kinds of message in which somebody says something. */
const SPOKEN = new Set([undefined, "file_share", "thread_broadcast", "bot_message", "me_message"]);

/** Kinds that must be readable. Not reactions: one to a file has another form, and isn't about a message. */
const OURS = new Set(["message", "app_mention", "member_joined_channel", "member_left_channel"]);

export function toEvent(given: unknown, me: SlackMe, api: SlackApi): PlatformEvent | "unreadable" | undefined {
  const heard = message.safeParse(given);
  if (heard.success) return toMessage(heard.data, me, api);
  const liked = reaction.safeParse(given);
  if (liked.success) {
    const { type, user, reaction: emoji, item, event_ts } = liked.data;
    if (user === me.user) return undefined;
    const removed = type === "reaction_removed";
    const chat = toChat(item.channel, undefined);
    return {
      kind: "reaction",
      id: `r${event_ts}:${user}`,
      chat,
      sender: { id: user },
      message: item.ts,
      emoji,
      removed,
    };
  }
  const came = member.safeParse(given);
  if (!came.success) return OURS.has(String(asObject(given).type)) ? "unreadable" : undefined;
  const { type, user, channel, event_ts = "" } = came.data;
  const change = type === "member_joined_channel" ? "joined" : "left";
  return {
    kind: "member",
    id: `m${event_ts}:${user}`,
    chat: toChat(channel, undefined),
    sender: { id: user },
    change,
  };
}

/** A pressed button. Its id comes from Slack's time of the press, so it is the same when Slack delivers it again. */
export function toPress(given: unknown): PlatformEvent | "unreadable" | undefined {
  const parsed = press.safeParse(given);
  if (!parsed.success) return asObject(given).type === "block_actions" ? "unreadable" : undefined;
  const { user, channel, message: at, actions } = parsed.data;
  const { value, action_ts } = actions[0]!;
  return {
    kind: "button",
    id: `a${action_ts}:${user.id}`,
    chat: toChat(channel.id, undefined, at.thread_ts),
    sender: { id: user.id, ...truthy({ name: user.name }) },
    message: at.ts,
    button: value,
  };
}

/** A message that started a thread isn't deleted as such: a tombstone takes its place. */
function toDeletion(m: Message): PlatformEvent | undefined {
  const isTombstone = m.subtype === "message_changed" && m.message?.subtype === "tombstone";
  const tombstone = isTombstone ? m.message?.ts : undefined;
  const message = m.subtype === "message_deleted" ? m.deleted_ts : tombstone;
  if (message === undefined) return undefined;
  const { user, thread_ts } = m.previous_message ?? {};
  const chat = toChat(m.channel, m.channel_type, thread_ts);
  return { kind: "delete", id: `d${message}`, chat, sender: { id: user ?? "" }, message };
}

function toMessage(m: Message, me: SlackMe, api: SlackApi): PlatformEvent | undefined {
  const gone = toDeletion(m);
  if (gone) return gone;
  const isEdit = m.subtype === "message_changed";
  const body = isEdit ? m.message : m;
  if (!body || !SPOKEN.has(body.subtype) || (isEdit && !body.edited)) return undefined;
  if (body.user === me.user || body.bot_id === me.bot) return undefined;
  const id = body.user ?? body.bot_id;
  if (!id) return undefined;
  const text = body.text ?? "";
  const named = text.includes(`<@${me.user}>`);
  const base = {
    at: Math.round(Number(body.ts) * 1000),
    chat: toChat(m.channel, m.channel_type, body.thread_ts),
    sender: { id, ...(body.bot_id ? { isBot: true } : {}) },
    text: toPlainText(named ? text.replaceAll(`<@${me.user}>`, "").trim() : text),
    ...(named || body.parent_user_id === me.user ? { addressed: true } : {}),
  };
  if (isEdit) return { ...base, kind: "edit", id: `${body.ts}:${body.edited!.ts}`, message: body.ts };
  const files = (body.files ?? []).flatMap((one) => toRemoteFile(one, api) ?? []);
  // Slack's own recorder sets this subtype; a sound file that was uploaded has none.
  const isVoice = body.files?.some(({ subtype }) => subtype === "slack_audio");
  const more = { ...(files.length ? { files } : {}), ...(isVoice ? { voice: "recorded" as const } : {}) };
  return { ...base, kind: "message", id: body.ts, ...more };
}

function toRemoteFile(one: z.output<typeof file>, api: SlackApi): RemoteFile | undefined {
  const url = one.url_private_download;
  if (!url) return undefined;
  return {
    ...truthy({ name: one.name, mediaType: one.mimetype, bytes: one.size }),
    open: (signal) => api.download(url, one.mimetype ?? undefined, signal),
  };
}

/** The kind of a conversation, by what Slack says, else by the first letter of its id. */
function toChat(channel: string, kind: string | undefined, thread?: string): PlatformEvent["chat"] {
  const isDirect = kind === undefined ? channel.startsWith("D") : kind === "im";
  return { id: channel, kind: isDirect ? "direct" : "group", ...truthy({ thread }) };
}

/** Slack's marks for people, places and links, as a person reads them. */
function toPlainText(text: string): string {
  return text
    .replace(/<([^<>]+)>/g, (whole, inner: string) => readMark(inner) ?? whole)
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function readMark(inner: string): string | undefined {
  const bar = inner.indexOf("|");
  const [target, label] = bar < 0 ? [inner, ""] : [inner.slice(0, bar), inner.slice(bar + 1)];
  const id = target.slice(1);
  if (/^[@#!]/.test(target) && id) return `${target[0] === "#" ? "#" : "@"}${label || id}`;
  if (/\s/.test(target) || target === "") return undefined;
  if (bar >= 0) return label === target ? target : `${label} (${target})`;
  return /^(?:https?|mailto):./.test(target) ? target : undefined;
}
