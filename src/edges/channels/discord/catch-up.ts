/** What was said while Lares was away and Discord has forgotten the session: each chat is read from where it was left (DISCORD-2). */
import { asList, asObject, asText, type JsonObject } from "../../../core/domain/index.ts";
import { readRaw } from "../incoming.ts";
import { toEvent } from "./events.ts";
import { type DiscordReading, hear } from "./hear.ts";
import type { DiscordState } from "./state.ts";

/** Reading a chat back costs a call each; the ones talked in last are enough. */
const MOST_READ_BACK = 30;
/** A thousand messages of one chat. */
const MOST_PAGES = 10;
const PAGE = 100;

/** First in each chat's line, so that what was missed is taken before what comes now. */
export function catchUp(state: DiscordState, reading: DiscordReading, signal: AbortSignal): void {
  const { lines, progress } = reading;
  for (const [channel, since] of progress.positions.chats().slice(0, MOST_READ_BACK)) {
    void lines.push(channel, () => readBack(state, reading, { channel, since }, signal));
  }
}

async function readBack(
  state: DiscordState,
  reading: DiscordReading,
  { channel, since }: { channel: string; since: string },
  signal: AbortSignal,
): Promise<void> {
  const { door, me } = reading;
  const missed = await readMissed(state, { channel, since }, signal).catch((error: unknown) => {
    state.log.warn("a chat could not be read back", { chat: channel, error: String(error) });
    return [];
  });
  for (const one of missed) {
    const raw = { kind: "MESSAGE_CREATE", id: asText(one.id), value: one };
    const event = readRaw(door, raw, () => toEvent("MESSAGE_CREATE", one, "", me.id, state.api));
    if (event) await hear(state, reading, { event, channel }, signal);
  }
}

/** Oldest first. */
async function readMissed(
  { api, places }: DiscordState,
  { channel, since }: { channel: string; since: string },
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  // Messages read back don't say that they are from a server, and would be taken for direct ones.
  const guild = (await places.readKind(channel, signal)) === "direct" ? {} : { guild_id: "?" };
  for (let after = since, pages = 0; pages < MOST_PAGES; pages++) {
    const path = `/channels/${encodeURIComponent(channel)}/messages?after=${after}&limit=${PAGE}`;
    const page = asList((await api.call("GET", path, signal)).list).map((one) => ({ ...asObject(one), ...guild }));
    all.push(...(page.reverse() as JsonObject[]));
    if (page.length < PAGE) break;
    after = String(all.at(-1)!.id);
  }
  return all;
}
