/** What leaves for Mattermost: posts, edits, reactions. One call each, never repeated here (CHANNEL-2). */
import { createHash } from "node:crypto";
import type { Outgoing, Placed } from "../../../core/contracts/index.ts";
import { asText, type ReplyRoute } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { PAGE } from "./api.ts";
import { makeButtons } from "./buttons.ts";
import { toEmojiName } from "./emoji.ts";
import type { MattermostState } from "./state.ts";

/** How far back a post of ours is looked for: longer than any message waits to be sent, with room for clocks that differ. */
const FAR_BACK_MS = 26 * 3_600_000;
const MOST_PAGES = 10;

export async function send(
  state: MattermostState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
  const me = await state.self.get(signal);
  const { chat, thread } = message.route;
  const files: string[] = [];
  for (const file of message.files ?? []) {
    files.push(await state.api.upload(chat, { ...file, data: await file.read() }, signal));
  }
  const json = {
    channel_id: chat,
    ...makeContent(state, message),
    ...truthy({ root_id: thread }),
    ...(files.length ? { file_ids: files } : {}),
    pending_post_id: `${me.id}:${makePendingId(message.key)}`,
  };
  const made = await state.api.change({ method: "POST", path: "/posts", json }, signal);
  return { platformId: asText(made.id) ?? null };
}

/** The post of an earlier try carries its key. Null only when the search went far enough back to be sure. */
export async function find(
  { api, self, clock }: MattermostState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  const me = await self.get(signal);
  const key = makePendingId(message.key);
  for (let page = 0; page < MOST_PAGES; page++) {
    const posts = await api.page(message.route.chat, page, signal);
    const found = posts.find((post) => post.user === me.id && post.props.lares_key === key);
    if (found) return found.id;
    const oldest = posts[0]?.createdAt ?? 0;
    if (posts.length < PAGE || oldest < clock.now() - FAR_BACK_MS) return null;
  }
  return undefined;
}

export async function edit(state: MattermostState, at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
  const path = `/posts/${encodeURIComponent(at.platformId)}/patch`;
  await state.api.change({ method: "PUT", path, json: makeContent(state, message) }, signal);
}

export async function remove({ api }: MattermostState, at: Placed, signal: AbortSignal): Promise<void> {
  await api.change({ method: "DELETE", path: `/posts/${encodeURIComponent(at.platformId)}` }, signal);
}

export async function react(
  { api, self }: MattermostState,
  at: Placed,
  emoji: string,
  signal: AbortSignal,
): Promise<void> {
  const me = await self.get(signal);
  const json = { user_id: me.id, post_id: at.platformId, emoji_name: toEmojiName(emoji) };
  await api.change({ method: "POST", path: "/reactions", json }, signal);
}

export async function unreact({ api }: MattermostState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  const [post, name] = [at.platformId, toEmojiName(emoji)].map(encodeURIComponent);
  await api.change({ method: "DELETE", path: `/users/me/posts/${post}/reactions/${name}` }, signal);
}

export async function typing({ api }: MattermostState, route: ReplyRoute, signal: AbortSignal): Promise<void> {
  const json = { channel_id: route.chat, ...truthy({ parent_id: route.thread }) };
  await api.change({ method: "POST", path: "/users/me/typing", json }, signal);
}

function makeContent(state: MattermostState, message: Outgoing): { message: string; props: Record<string, unknown> } {
  const actions = makeButtons(state, message);
  const attachments = actions.length ? [{ actions }] : [];
  return { message: message.text, props: { lares_key: makePendingId(message.key), attachments } };
}

function makePendingId(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 40);
}
