/**
 * Mattermost: its REST API and its event stream.
 *
 * In: the stream acknowledges nothing, so it is only the fast way. The cursor is the newest post taken; after every start and
 * every break the posts since then are read over REST (with an overlap: posts are known by their ids), then the stream goes on.
 * Out: every post carries its key in its props, so a send that may have been taken is looked for among the chat's posts before
 * it is sent again; a first try that is still on its way meanwhile is caught by `pending_post_id`, which the server remembers
 * for 30 seconds.
 */
import { createHash, createHmac } from "node:crypto";
import type {
  Channel,
  ChannelAnswer,
  ChannelRequest,
  Door,
  Outgoing,
  PlatformEvent,
} from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { isSameSecret, trimEndCharacters, truthy } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { asNumber, asObject, asText } from "../api.ts";
import { Lines } from "../lines.ts";
import { MattermostClient, PAGE, type Post, parsePost } from "./client.ts";
import type { MattermostAccount } from "./config.ts";
import { openStream, type StreamEvent } from "./stream.ts";

const STYLES: Readonly<Record<string, string>> = { yes: "good", no: "danger" };

/** Posts of several chats are not done in the order of their times: one may wait for its files, each for a minute at most. */
const OVERLAP_MS = 600_000;
const MOST_KNOWN = 2000;
/** How far back a post of ours is looked for: longer than any message waits to be sent, with room for clocks that differ. */
const FAR_BACK_MS = 26 * 3_600_000;
const MOST_PAGES = 10;
/** Chats read side by side after a break: with hundreds of them one after another takes long. */
const AT_ONCE = 8;
/** Emoji are words here; these stand for answers to a question. */
const EMOJI: Record<string, string> = {
  "+1": "👍",
  "-1": "👎",
  white_check_mark: "✅",
  x: "❌",
  eyes: "👀",
  hourglass_flowing_sand: "⏳",
};

/** The newest post taken, and where this account began. */
type Position = { since: number; begin: number };

export function create({ account, config, clock }: AdapterParts<MattermostAccount>): Channel {
  const client = new MattermostClient(config.url, config.token);
  const kinds = new Map<string, "direct" | "group">();
  let me = { id: "", name: "" };

  async function run(door: Door, signal: AbortSignal): Promise<void> {
    me = await client.me(signal);
    door.known(me.name);
    const life = new AbortController();
    const lines = new Lines((error) => life.abort(error));
    const both = AbortSignal.any([signal, life.signal]);
    try {
      const stream = openStream(client.streamUrl, config.token, { alive: () => door.alive(), signal: both });
      await stream.opened;
      const position = await catchUp(door, signal);
      for await (const event of stream.events()) {
        const { events, at } = await fromStream(door, event, signal);
        position.since = Math.max(position.since, at);
        const now = { ...position };
        const [first] = events;
        if (first) void lines.push(first.chat.id, async () => void (await door.hear(events, now)));
      }
    } finally {
      lines.end();
      life.abort();
    }
  }

  /** Reads over REST what was posted since the cursor. */
  async function catchUp(door: Door, signal: AbortSignal): Promise<Position> {
    const kept = asObject(await door.cursor());
    const channels = await client.channels(signal);
    for (const one of channels) keep(kinds, one.id, one.type === "D" ? "direct" : "group");
    const [since, begin] = [asNumber(kept.since), asNumber(kept.begin)];
    if (since === undefined || begin === undefined) {
      // What was said before this account was added is not ours to answer.
      const newest = Math.max(0, ...channels.map((c) => c.lastPostAt));
      const fresh = { since: newest, begin: newest };
      await door.hear([], fresh);
      return fresh;
    }
    const from = Math.max(begin, since - OVERLAP_MS);
    const missed: Post[] = [];
    const spoken = channels.filter((one) => one.lastPostAt >= from);
    for (let i = 0; i < spoken.length; i += AT_ONCE) {
      const some = spoken.slice(i, i + AT_ONCE).map((one) => client.posts(one.id, from, signal));
      missed.push(...(await Promise.all(some)).flat());
    }
    missed.sort((a, b) => a.createdAt - b.createdAt);
    const events: PlatformEvent[] = [];
    const at = { since, begin };
    for (const post of missed) {
      // An old post is among them when it was changed.
      const event =
        post.createdAt > begin || post.editedAt > begin ? await toEvent(door, post, undefined, signal) : undefined;
      if (event) events.push(event);
      at.since = Math.max(at.since, post.createdAt);
    }
    if (events.length || at.since !== since) await door.hear(events, at);
    return at;
  }

  async function fromStream(
    door: Door,
    event: StreamEvent,
    signal: AbortSignal,
  ): Promise<{ events: PlatformEvent[]; at: number }> {
    const nothing = { events: [], at: 0 };
    if (event.name === "posted" || event.name === "post_edited" || event.name === "post_deleted") {
      const given = parse(event.data.post);
      const id = asText(asObject(given).id);
      const read = door.read({ kind: event.name, id, value: given }, () => parsePost(given) ?? "unreadable");
      if (read === "unreadable") door.unreadable(event.name, id ?? "");
      if (!read || read === "unreadable") return nothing;
      // Told as it was before it was deleted.
      const post = event.name === "post_deleted" ? { ...read, deletedAt: read.deletedAt || 1 } : read;
      const type = asText(event.data.channel_type);
      if (type) keep(kinds, post.channel, type === "D" ? "direct" : "group");
      const one = await toEvent(door, post, asText(event.data.sender_name)?.replace(/^@/, ""), signal);
      return { events: one ? [one] : [], at: event.name === "posted" ? post.createdAt : 0 };
    }
    if (event.name === "reaction_added" || event.name === "reaction_removed") {
      const one = await toReaction(event, signal);
      return { events: one ? [one] : [], at: 0 };
    }
    return nothing;
  }

  async function toEvent(
    door: Door,
    post: Post,
    name: string | undefined,
    signal: AbortSignal,
  ): Promise<PlatformEvent | undefined> {
    // Notes of the server ("joined the channel") have a type.
    if (post.user === me.id || post.type !== "") return undefined;
    const kind = await readKind(post.channel, signal);
    if (post.deletedAt) {
      const chat = { id: post.channel, kind, ...truthy({ thread: post.root }) };
      return { kind: "delete", id: `${post.id}:deleted`, chat, sender: { id: post.user }, message: post.id };
    }
    const isBot = post.props.from_bot === "true";
    // A post of a webhook carries the id of whoever made the webhook, not of who wrote it.
    const isHook = post.props.from_webhook === "true";
    const words = door.read({ kind: "post", id: post.id, value: post }, () => withoutName(post.message, me.name));
    if (!words) return undefined;
    const { text, named } = words;
    const addressed = kind === "direct" || named || (post.root !== "" && (await isMine(post.root, signal)));
    const base = {
      at: post.createdAt,
      chat: { id: post.channel, kind, ...truthy({ thread: post.root }) },
      sender: {
        id: isHook ? `webhook:${post.user}` : post.user,
        ...truthy({ name }),
        ...(isBot || isHook ? { isBot: true } : {}),
      },
    };
    if (post.editedAt) {
      return { ...base, kind: "edit", id: `${post.id}:${post.editedAt}`, message: post.id, text, addressed };
    }
    const files = post.files.map(({ id, ...about }) => ({
      ...about,
      open: (stop: AbortSignal) => client.file(id, stop),
    }));
    return { ...base, kind: "message", id: post.id, text, addressed, ...(files.length ? { files } : {}) };
  }

  async function toReaction(event: StreamEvent, signal: AbortSignal): Promise<PlatformEvent | undefined> {
    const raw = asObject(parse(event.data.reaction));
    const [user, message, emoji] = [asText(raw.user_id), asText(raw.post_id), asText(raw.emoji_name)];
    if (!user || !message || !emoji || user === me.id) return undefined;
    const post = await client.post(message, signal);
    if (!post) return undefined;
    const chat = {
      id: post.channel,
      kind: await readKind(post.channel, signal),
      ...truthy({ thread: post.root }),
    };
    const removed = event.name === "reaction_removed";
    const id = `${message}:${user}:${emoji}:${removed ? "removed" : ""}`;
    return {
      kind: "reaction",
      id,
      chat,
      sender: { id: user },
      message,
      emoji: EMOJI[emoji] ?? emoji,
      ...truthy({ removed }),
    };
  }

  async function readKind(channel: string, signal: AbortSignal): Promise<"direct" | "group"> {
    const known = kinds.get(channel);
    if (known) return known;
    const kind = (await client.channelType(channel, signal)) === "D" ? "direct" : "group";
    keep(kinds, channel, kind);
    return kind;
  }

  const roots = new Map<string, boolean>();
  async function isMine(root: string, signal: AbortSignal): Promise<boolean> {
    const known = roots.get(root) ?? (await client.post(root, signal))?.user === me.id;
    keep(roots, root, known);
    return known;
  }

  /** A press of a button: the server calls us with the context we made the post with. */
  async function receive(request: ChannelRequest, door: Door): Promise<ChannelAnswer> {
    if (request.method !== "POST") return { status: 405 };
    const body = asObject(parse(request.body.toString("utf8")));
    const context = asObject(body.context);
    const [button, chat, given] = [asText(context.button), asText(context.chat), asText(context.proof)];
    const [user, post, channel] = [asText(body.user_id), asText(body.post_id), asText(body.channel_id)];
    const isOurs = button && chat && given && isSameSecret(given, makeProof(config.token, button, chat));
    if (!isOurs || !user || !post || channel !== chat) {
      throw new AppError("UNAUTHORIZED", {
        message: "This press does not come from a button of ours.",
        hint: "Only the Mattermost server calls this address.",
      });
    }
    const kind = await readKind(chat, AbortSignal.timeout(10_000));
    const trigger = asText(body.trigger_id) ?? "";
    const [heard] = await door.hear([
      {
        kind: "button",
        id: `press:${post}:${user}:${trigger}`,
        chat: { id: chat, kind },
        sender: { id: user },
        message: post,
        button,
      },
    ]);
    return { status: 200, body: heard?.say ? { ephemeral_text: heard.say } : {} };
  }

  function content(message: Outgoing): { message: string; props: Record<string, unknown> } {
    const key = makePendingId(message.key);
    const { chat } = message.route;
    const actions = (message.buttons ?? []).map((one) => ({
      id: one.id.replace(/[^A-Za-z0-9]/g, ""),
      name: one.label,
      type: "button",
      style: STYLES[one.kind] ?? "default",
      integration: {
        url: `${trimEndCharacters(config.callback!, "/")}/channels/mattermost/${account}`,
        context: { button: one.id, chat, proof: makeProof(config.token, one.id, chat) },
      },
    }));
    return { message: message.text, props: { lares_key: key, attachments: actions.length ? [{ actions }] : [] } };
  }

  /** The post of an earlier try carries its key. Null only when we have looked far enough back to be sure. */
  async function find(message: Outgoing, signal: AbortSignal): Promise<string | null | undefined> {
    if (!me.id) me = await client.me(signal);
    const key = makePendingId(message.key);
    for (let page = 0; page < MOST_PAGES; page++) {
      const posts = await client.page(message.route.chat, page, signal);
      const found = posts.find((p) => p.user === me.id && p.props.lares_key === key);
      if (found) return found.id;
      const oldest = posts[0]?.createdAt ?? 0;
      if (posts.length < PAGE || oldest < clock.now() - FAR_BACK_MS) return null;
    }
    return undefined;
  }

  return {
    name: "mattermost",
    account,
    run,
    ...(config.callback ? { receive } : {}),
    async check(signal) {
      const { id, name } = await client.me(signal);
      return { id, name };
    },

    async send(message, signal) {
      if (!me.id) me = await client.me(signal);
      const { chat, thread } = message.route;
      const files: string[] = [];
      for (const file of message.files ?? []) {
        files.push(await client.upload(chat, { ...file, data: await file.read() }, signal));
      }
      const json = {
        channel_id: chat,
        ...content(message),
        ...truthy({ root_id: thread }),
        ...(files.length ? { file_ids: files } : {}),
        pending_post_id: `${me.id}:${makePendingId(message.key)}`,
      };
      const made = await client.change({ method: "POST", path: "/posts", json }, signal);
      return { platformId: asText(made.id) ?? null };
    },

    find,

    async edit(at, message, signal) {
      const path = `/posts/${encodeURIComponent(at.platformId)}/patch`;
      await client.change({ method: "PUT", path, json: content(message) }, signal);
    },

    async remove(at, signal) {
      await client.change({ method: "DELETE", path: `/posts/${encodeURIComponent(at.platformId)}` }, signal);
    },

    async react(at, emoji, signal) {
      if (!me.id) me = await client.me(signal);
      const json = { user_id: me.id, post_id: at.platformId, emoji_name: emojiName(emoji) };
      await client.change({ method: "POST", path: "/reactions", json }, signal);
    },

    async unreact(at, emoji, signal) {
      const [post, name] = [at.platformId, emojiName(emoji)].map(encodeURIComponent);
      await client.change({ method: "DELETE", path: `/users/me/posts/${post}/reactions/${name}` }, signal);
    },

    async typing(route, signal) {
      const json = { channel_id: route.chat, ...truthy({ parent_id: route.thread }) };
      await client.change({ method: "POST", path: "/users/me/typing", json }, signal);
    },
  };
}

/** As Mattermost calls it. */
function emojiName(emoji: string): string {
  return Object.entries(EMOJI).find(([, sign]) => sign === emoji)?.[0] ?? emoji.replaceAll(":", "");
}

/** Takes "@lares" from the text; anywhere in it counts as being addressed. */
function withoutName(text: string, name: string): { text: string; named: boolean } {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const at = new RegExp(`(^|[^\\w@])@${escaped}(?![\\w.-]*\\w)[:,]?\\s*`, "i");
  return at.test(text) ? { text: text.replace(at, "$1").trim(), named: true } : { text, named: false };
}

function makePendingId(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 40);
}

/** The server does not sign its calls: a button carries what only we can have made, bound to its chat. */
function makeProof(token: string, button: string, chat: string): string {
  return createHmac("sha256", token).update(`lares button ${button} ${chat}`).digest("hex");
}

function parse(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST_KNOWN) map.delete(map.keys().next().value as string);
}
