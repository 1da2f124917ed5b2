/** What leaves for Discord: its Markdown, buttons as components, files, reactions. One call each, never repeated here (CHANNEL-2). */
import { createHash } from "node:crypto";
import type { Outgoing, Placed } from "../../../core/contracts/index.ts";
import type { JsonObject, ReplyRoute } from "../../../core/domain/index.ts";
import { asList, asObject, asText } from "../api.ts";
import type { DiscordApi } from "./api.ts";

/** Nobody is called by an answer: an agent that repeats "@everyone" must not wake a thousand people. */
const NO_PINGS = { parse: [] };
const STYLE = { yes: 3, no: 4, plain: 2 } as const;
/** A message only the presser of a button sees. */
const HIDDEN = 64;

export class DiscordMessages {
  private readonly api: DiscordApi;

  constructor(api: DiscordApi) {
    this.api = api;
  }

  async send(message: Outgoing, signal: AbortSignal): Promise<{ platformId: string | null }> {
    // For a few minutes Discord answers the same nonce with the same message.
    const once = { nonce: makeNonce(message.key), enforce_nonce: true };
    const json = { content: message.text, allowed_mentions: NO_PINGS, ...once, ...makeComponents(message) };
    const path = `/channels/${toChannel(message.route)}/messages`;
    const sent = await this.api.call("POST", path, signal, { json, files: message.files ?? [] });
    return { platformId: asText(sent.id) ?? null };
  }

  /** By its nonce. The same words of ours without one are no proof either way. */
  async find(message: Outgoing, me: string, signal: AbortSignal): Promise<string | null | undefined> {
    const found = await this.api.call("GET", `/channels/${toChannel(message.route)}/messages?limit=50`, signal);
    const mine = asList(found.list)
      .map(asObject)
      .filter((one) => asObject(one.author).id === me);
    const same = mine.find((one) => one.nonce !== undefined && String(one.nonce) === makeNonce(message.key));
    if (same) return asText(same.id);
    const isAlike = mine.some((one) => one.nonce === undefined && one.content === message.text);
    return isAlike ? undefined : null;
  }

  async edit(at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
    const components = makeComponents(message).components ?? [];
    const json = { content: message.text, allowed_mentions: NO_PINGS, components };
    await this.api.call("PATCH", toPath(at), signal, { json });
  }

  async remove(at: Placed, signal: AbortSignal): Promise<void> {
    await this.api.call("DELETE", toPath(at), signal);
  }

  async react(at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
    await this.api.call("PUT", `${toPath(at)}/reactions/${encodeURIComponent(emoji)}/@me`, signal);
  }

  async unreact(at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
    await this.api.call("DELETE", `${toPath(at)}/reactions/${encodeURIComponent(emoji)}/@me`, signal);
  }

  async typing(route: ReplyRoute, signal: AbortSignal): Promise<void> {
    await this.api.call("POST", `/channels/${toChannel(route)}/typing`, signal);
  }

  /** With a word only the presser sees, or with nothing to see. */
  async answerPress(path: string, say: string | undefined, signal: AbortSignal): Promise<void> {
    const json: JsonObject = say ? { type: 4, data: { content: say.slice(0, 2000), flags: HIDDEN } } : { type: 6 };
    await this.api.call("POST", path, signal, { json });
  }
}

/** A thread is a channel of its own there. */
function toChannel({ chat, thread }: ReplyRoute): string {
  return encodeURIComponent(thread ?? chat);
}

function toPath({ route, platformId }: Placed): string {
  return `/channels/${toChannel(route)}/messages/${encodeURIComponent(platformId)}`;
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
