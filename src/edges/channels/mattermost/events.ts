/** From Mattermost's posts and stream events to what the door understands. */
import type { ChannelHost, PlatformEvent } from "../../../core/contracts/index.ts";
import { asJson, asObject, asText } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { readRaw } from "../incoming.ts";
import { type Post, parsePost } from "./api.ts";
import type { StreamEvent } from "./connection.ts";
import { fromEmojiName } from "./emoji.ts";
import { isOwnRoot, type MattermostState, readKind, rememberKind } from "./state.ts";

export interface FromStream {
  event?: PlatformEvent | undefined;
  /** When it is a new post: how far the account's position moves with it. */
  createdAt?: number;
}

export async function fromStream(
  state: MattermostState,
  door: ChannelHost,
  event: StreamEvent,
  signal: AbortSignal,
): Promise<FromStream> {
  switch (event.name) {
    case "posted":
    case "post_edited":
    case "post_deleted":
      return fromPostEvent(state, door, event, signal);
    case "reaction_added":
    case "reaction_removed":
      return { event: await fromReaction(state, event, signal) };
    default:
      return {};
  }
}

async function fromPostEvent(
  state: MattermostState,
  door: ChannelHost,
  { name, data }: StreamEvent,
  signal: AbortSignal,
): Promise<FromStream> {
  const given = asJson(data.post);
  const id = asText(asObject(given).id);
  const read = readRaw(door, { kind: name, id, value: given }, () => parsePost(given) ?? "unreadable");
  if (!read) return {};
  // A deletion comes with the post as it was before, which doesn't say when it was deleted.
  const post = name === "post_deleted" ? { ...read, deletedAt: read.deletedAt || 1 } : read;
  const type = asText(data.channel_type);
  if (type) rememberKind(state, post.channel, type);
  const sender = asText(data.sender_name)?.replace(/^@/, "");
  const event = await fromPost(state, door, { post, sender }, signal);
  return { event, ...(name === "posted" ? { createdAt: post.createdAt } : {}) };
}

export async function fromPost(
  state: MattermostState,
  door: ChannelHost,
  { post, sender }: { post: Post; sender?: string | undefined },
  signal: AbortSignal,
): Promise<PlatformEvent | undefined> {
  const me = await state.self.get(signal);
  // Notes of the server ("joined the channel") have a type.
  if (post.user === me.id || post.type !== "") return undefined;
  const kind = await readKind(state, post.channel, signal);
  const chat = { id: post.channel, kind, ...truthy({ thread: post.root }) };
  if (post.deletedAt) {
    return { kind: "delete", id: `${post.id}:deleted`, chat, sender: { id: post.user }, message: post.id };
  }
  const words = door.read({ kind: "post", id: post.id, value: post }, () => withoutName(post.message, me.name));
  if (!words) return undefined;
  const { text, named } = words;
  const addressed = kind === "direct" || named || (post.root !== "" && (await isOwnRoot(state, post.root, signal)));
  const base = { at: post.createdAt, chat, sender: toSender(post, sender), text, addressed };
  if (post.editedAt) return { ...base, kind: "edit", id: `${post.id}:${post.editedAt}`, message: post.id };
  const files = post.files.map(({ id, ...about }) => ({
    ...about,
    open: (stop: AbortSignal) => state.api.file(id, stop),
  }));
  return { ...base, kind: "message", id: post.id, ...(files.length ? { files } : {}) };
}

function toSender(post: Post, name: string | undefined): PlatformEvent["sender"] {
  // A webhook's post carries the id of the person who created the webhook, who didn't write it.
  const isHook = post.props.from_webhook === "true";
  const isBot = isHook || post.props.from_bot === "true";
  return { id: isHook ? `webhook:${post.user}` : post.user, ...truthy({ name, isBot }) };
}

async function fromReaction(
  state: MattermostState,
  { name, data }: StreamEvent,
  signal: AbortSignal,
): Promise<PlatformEvent | undefined> {
  const raw = asObject(asJson(data.reaction));
  const [user, message, emoji] = [asText(raw.user_id), asText(raw.post_id), asText(raw.emoji_name)];
  const me = await state.self.get(signal);
  if (!user || !message || !emoji || user === me.id) return undefined;
  // The stream doesn't say in which chat the post is.
  const post = await state.api.post(message, signal);
  if (!post) return undefined;
  const kind = await readKind(state, post.channel, signal);
  const removed = name === "reaction_removed";
  return {
    kind: "reaction",
    id: `${message}:${user}:${emoji}:${removed ? "removed" : ""}`,
    chat: { id: post.channel, kind, ...truthy({ thread: post.root }) },
    sender: { id: user },
    message,
    emoji: fromEmojiName(emoji),
    ...truthy({ removed }),
  };
}

/** Takes "@lares" out of the text; anywhere in it counts as being addressed. */
function withoutName(text: string, name: string): { text: string; named: boolean } {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const at = new RegExp(`(^|[^\\w@])@${escaped}(?![\\w.-]*\\w)[:,]?\\s*`, "i");
  return at.test(text) ? { text: text.replace(at, "$1").trim(), named: true } : { text, named: false };
}
