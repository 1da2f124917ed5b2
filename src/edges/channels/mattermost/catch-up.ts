/** What was posted while Lares was away: read over REST, from the cursor on. */
import type { ChannelHost, PlatformEvent } from "../../../core/contracts/index.ts";
import { asNumber, asObject } from "../../../core/domain/index.ts";
import type { Post } from "./api.ts";
import { fromPost } from "./events.ts";
import { type MattermostState, rememberKind } from "./state.ts";

/** When the newest post that was taken was written, and when this account was added. */
export type MattermostPosition = { since: number; begin: number };

/** Posts of different chats aren't finished in the order of their times: each may wait a minute for each of its files. */
const OVERLAP_MS = 600_000;
/** Chats read side by side: one after another, hundreds of them would take long. */
const AT_ONCE = 8;

export async function catchUp(
  state: MattermostState,
  door: ChannelHost,
  signal: AbortSignal,
): Promise<MattermostPosition> {
  const kept = asObject(await door.cursor());
  const channels = await state.api.channels(signal);
  for (const { id, type } of channels) rememberKind(state, id, type);
  const [since, begin] = [asNumber(kept.since), asNumber(kept.begin)];
  if (since === undefined || begin === undefined) {
    // What was said before this account was added isn't ours to answer.
    const newest = Math.max(0, ...channels.map((channel) => channel.lastPostAt));
    const first = { since: newest, begin: newest };
    await door.hear([], first);
    return first;
  }
  const from = Math.max(begin, since - OVERLAP_MS);
  const active = channels.filter((channel) => channel.lastPostAt >= from);
  const missed = await postsSince(state, { channels: active.map(({ id }) => id), from }, signal);
  const events: PlatformEvent[] = [];
  const at = { since, begin };
  for (const post of missed) {
    at.since = Math.max(at.since, post.createdAt);
    // A post from before the account was added is here when something about it changed, such as its reactions.
    if (post.createdAt <= begin && post.editedAt <= begin) continue;
    const event = await fromPost(state, door, { post }, signal);
    if (event) events.push(event);
  }
  if (events.length || at.since !== since) await door.hear(events, at);
  return at;
}

async function postsSince(
  { api }: MattermostState,
  { channels, from }: { channels: readonly string[]; from: number },
  signal: AbortSignal,
): Promise<Post[]> {
  const found: Post[] = [];
  for (let i = 0; i < channels.length; i += AT_ONCE) {
    const some = channels.slice(i, i + AT_ONCE).map((channel) => api.posts(channel, from, signal));
    found.push(...(await Promise.all(some)).flat());
  }
  return found.sort((a, b) => a.createdAt - b.createdAt);
}
