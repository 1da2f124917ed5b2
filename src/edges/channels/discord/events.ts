/** From Discord's dispatches to what the door understands. Pure, except for files, which are fetched only for senders who may talk. */
import { z } from "zod";
import type { PlatformEvent, RemoteFile } from "../../../core/contracts/index.ts";
import { asObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { DiscordApi } from "./api.ts";

const user = z.object({
  id: z.string(),
  username: z.string().optional(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
});
const attachment = z.object({
  filename: z.string(),
  content_type: z.string().nullish(),
  size: z.number(),
  url: z.string(),
});
const said = {
  id: z.string().regex(/^\d+$/),
  type: z.number().optional(),
  channel_id: z.string(),
  guild_id: z.string().optional(),
  author: user,
  content: z.string(),
  edited_timestamp: z.string().nullish(),
  mentions: z.array(z.object({ id: z.string() })).optional(),
  attachments: z.array(attachment).optional(),
  webhook_id: z.string().optional(),
  flags: z.number().optional(),
};
const message = z.object({ ...said, referenced_message: z.object(said).nullish() });
type Message = z.output<typeof message>;
const reaction = z.object({
  user_id: z.string(),
  channel_id: z.string(),
  message_id: z.string(),
  guild_id: z.string().optional(),
  emoji: z.object({ name: z.string().nullish() }),
  member: z.object({ user: user.optional() }).optional(),
});
const deletion = z.object({ id: z.string(), channel_id: z.string(), guild_id: z.string().optional() });
const interaction = z.object({
  id: z.string(),
  token: z.string(),
  type: z.literal(3),
  channel_id: z.string(),
  guild_id: z.string().optional(),
  user: user.optional(),
  member: z.object({ user }).optional(),
  message: z.object({ id: z.string() }),
  data: z.object({ custom_id: z.string() }),
});

/** Discord's message types for plain messages and replies; the others are notices of the platform. */
const SPOKEN = new Set([undefined, 0, 19]);

/** The flag IS_VOICE_MESSAGE. */
const VOICE_MESSAGE = 1 << 13;

/** What a dispatch says. `nth` names what has no id of its own: a session and a number in it, which stay the same when it is repeated. */
export function toEvent(
  type: string,
  given: unknown,
  nth: string,
  me: string,
  api: DiscordApi,
): PlatformEvent | "unreadable" | undefined {
  switch (type) {
    case "MESSAGE_CREATE":
    case "MESSAGE_UPDATE": {
      const parsed = message.safeParse(given);
      if (parsed.success) return toMessage(parsed.data, type === "MESSAGE_UPDATE", me, api);
      // An update may carry only what changed, without the text.
      return type === "MESSAGE_UPDATE" ? undefined : "unreadable";
    }
    case "MESSAGE_REACTION_ADD":
    case "MESSAGE_REACTION_REMOVE": {
      const parsed = reaction.safeParse(given);
      if (!parsed.success) return "unreadable";
      if (parsed.data.user_id === me || !parsed.data.emoji.name) return undefined;
      const { user_id, message_id, emoji, member } = parsed.data;
      const removed = type === "MESSAGE_REACTION_REMOVE";
      const sender = member?.user ? toSender(member.user) : { id: user_id };
      const chat = toChat(parsed.data);
      return { kind: "reaction", id: `r${nth}`, chat, sender, message: message_id, emoji: emoji.name!, removed };
    }
    case "MESSAGE_DELETE": {
      const parsed = deletion.safeParse(given);
      if (!parsed.success) return "unreadable";
      // Discord does not say who deleted it.
      const { id } = parsed.data;
      return { kind: "delete", id: `d${id}`, chat: toChat(parsed.data), sender: { id: "" }, message: id };
    }
    case "INTERACTION_CREATE":
      // A press that `toPress` could read does not come here; other interactions are not ours.
      return asObject(given).type === 3 ? "unreadable" : undefined;
    default:
      return undefined;
  }
}

/** A pressed button, and where the press is answered, which must happen within three seconds. */
export interface DiscordPress {
  event: PlatformEvent;
  answerAt: string;
}

export function toPress(given: unknown): DiscordPress | undefined {
  const parsed = interaction.safeParse(given);
  if (!parsed.success) return undefined;
  const { id, token, user: own, member, message: at, data } = parsed.data;
  const who = member?.user ?? own;
  if (!who) return undefined;
  const press = { kind: "button" as const, message: at.id, button: data.custom_id };
  const event = { ...press, id: `i${id}`, chat: toChat(parsed.data), sender: toSender(who) };
  return { event, answerAt: `/interactions/${encodeURIComponent(id)}/${encodeURIComponent(token)}/callback` };
}

function toMessage(m: Message, isEdit: boolean, me: string, api: DiscordApi): PlatformEvent | undefined {
  // Discord also reports an update when it adds the preview of a link.
  if (m.author.id === me || !SPOKEN.has(m.type) || (isEdit && !m.edited_timestamp)) return undefined;
  const named = m.mentions?.some((one) => one.id === me) ?? false;
  const answered = m.referenced_message ?? undefined;
  const toMe = answered?.author.id === me;
  const base = {
    at: readTime(m.id),
    chat: toChat(m),
    // Anyone with a webhook chooses the name it writes under: it isn't a person.
    sender: { ...toSender(m.author), ...(m.webhook_id ? { isBot: true } : {}) },
    text: m.content.replaceAll(`<@${me}>`, "").replaceAll(`<@!${me}>`, "").trim(),
    ...(named || toMe ? { addressed: true } : {}),
  };
  if (isEdit) return { ...base, kind: "edit", id: `${m.id}:${m.edited_timestamp}`, message: m.id };
  const files = (m.attachments ?? []).map((one) => toRemoteFile(one, api));
  const from = answered && !toMe ? { sender: answered.author.id, ...pickName(answered.author) } : {};
  return {
    ...base,
    kind: "message",
    id: m.id,
    ...(files.length ? { files } : {}),
    ...((m.flags ?? 0) & VOICE_MESSAGE ? { voice: "recorded" as const } : {}),
    ...(answered?.content ? { quote: { text: answered.content, ...from } } : {}),
  };
}

function toRemoteFile(one: z.output<typeof attachment>, api: DiscordApi): RemoteFile {
  return {
    name: one.filename,
    ...truthy({ mediaType: one.content_type }),
    bytes: one.size,
    open: (signal) => api.download(one.url, signal),
  };
}

function toChat(at: { channel_id: string; guild_id?: string | undefined }): PlatformEvent["chat"] {
  return { id: at.channel_id, kind: at.guild_id === undefined ? "direct" : "group" };
}

function toSender(who: z.output<typeof user>): PlatformEvent["sender"] {
  return { id: who.id, ...pickName(who), ...truthy({ isBot: who.bot }) };
}

function pickName(who: z.output<typeof user>): { name?: string } {
  const name = who.global_name ?? who.username;
  return name ? { name } : {};
}

/** An id holds its time: milliseconds since 2015 in its upper bits. */
function readTime(id: string): number {
  return Number((BigInt(id) >> 22n) + 1_420_070_400_000n);
}
