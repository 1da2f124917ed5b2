/** What leaves for Discord: its Markdown, buttons as components, files, reactions. One call each, never repeated here (CHANNEL-2). */
import { createHash } from "node:crypto";
import type { Outgoing, Placed } from "../../../core/contracts/index.ts";
import { asList, asObject, asText, type JsonObject, type ReplyRoute } from "../../../core/domain/index.ts";
import type { DiscordState } from "./state.ts";

/** An answer notifies nobody: an agent that repeats "@everyone" must not wake a thousand people. */
const NO_PINGS = { parse: [] };
const STYLE = { yes: 3, no: 4, plain: 2 } as const;
/** A message that only the person who pressed a button sees. */
const HIDDEN = 64;

export async function send(
  { api }: DiscordState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
  // For a few minutes Discord answers the same nonce with the same message.
  const once = { nonce: makeNonce(message.key), enforce_nonce: true };
  const json = { content: message.text, allowed_mentions: NO_PINGS, ...once, ...makeComponents(message) };
  const path = `/channels/${toChannel(message.route)}/messages`;
  const sent = await api.call("POST", path, signal, { json, files: message.files ?? [] });
  return { platformId: asText(sent.id) ?? null };
}

/** By its nonce. A message of ours with the same words but without a nonce proves nothing either way. */
export async function find(
  { api, self }: DiscordState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  const me = await self.get(signal);
  const found = await api.call("GET", `/channels/${toChannel(message.route)}/messages?limit=50`, signal);
  const ours = asList(found.list)
    .map(asObject)
    .filter((one) => asObject(one.author).id === me.id);
  const same = ours.find((one) => one.nonce !== undefined && String(one.nonce) === makeNonce(message.key));
  if (same) return asText(same.id);
  const isAlike = ours.some((one) => one.nonce === undefined && one.content === message.text);
  return isAlike ? undefined : null;
}

export async function edit({ api }: DiscordState, at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
  const components = makeComponents(message).components ?? [];
  const json = { content: message.text, allowed_mentions: NO_PINGS, components };
  await api.call("PATCH", toPath(at), signal, { json });
}

export async function remove({ api }: DiscordState, at: Placed, signal: AbortSignal): Promise<void> {
  await api.call("DELETE", toPath(at), signal);
}

export async function react({ api }: DiscordState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  await api.call("PUT", toReaction(at, emoji), signal);
}

export async function unreact({ api }: DiscordState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  await api.call("DELETE", toReaction(at, emoji), signal);
}

export async function typing({ api }: DiscordState, route: ReplyRoute, signal: AbortSignal): Promise<void> {
  await api.call("POST", `/channels/${toChannel(route)}/typing`, signal);
}

/** With a text that only the person who pressed sees, or with nothing to see. */
export async function answerPress(
  { api }: DiscordState,
  path: string,
  say: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const json: JsonObject = say ? { type: 4, data: { content: say.slice(0, 2000), flags: HIDDEN } } : { type: 6 };
  await api.call("POST", path, signal, { json });
}

/** A thread is a separate channel there. */
function toChannel({ chat, thread }: ReplyRoute): string {
  return encodeURIComponent(thread ?? chat);
}

function toPath({ route, platformId }: Placed): string {
  return `/channels/${toChannel(route)}/messages/${encodeURIComponent(platformId)}`;
}

function toReaction(at: Placed, emoji: string): string {
  return `${toPath(at)}/reactions/${encodeURIComponent(emoji)}/@me`;
}

/** At most 25 characters. */
function makeNonce(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 25);
}

function makeComponents({ buttons }: Outgoing): { components?: JsonObject[] } {
  if (!buttons?.length) return {};
  const row = buttons.map(({ id, label, kind }) => ({ type: 2, style: STYLE[kind], label, custom_id: id }));
  return { components: [{ type: 1, components: row }] };
}
