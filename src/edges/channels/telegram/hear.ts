/** From Telegram's updates to the door: polled ones, those of the webhook and whole albums all go this way. */
import type { ChannelHost, Heard, PlatformEvent } from "../../../core/contracts/index.ts";
import { asObject, type Json, type JsonObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { readRaw } from "../incoming.ts";
import { byChat } from "../lines.ts";
import { findAlbum, joinAlbums } from "./albums.ts";
import { readKind, toEvent } from "./events.ts";
import type { TelegramState } from "./state.ts";

/** An album that came by webhook is heard after its request was answered: nothing else would end a download that hangs. */
const ALBUM_MS = 60_000;
/** Telegram shows at most this much of an answer to a press. */
const MOST_PRESS_ANSWER = 200;

interface Given {
  updates: readonly unknown[];
  /** For polled updates: committed with the last of them. */
  cursor?: { offset: number };
}

interface Taken {
  event: PlatformEvent;
  heard: Heard;
}

/** One batch, its chats side by side so that a slow file holds up only its own chat; then the position behind it. */
export async function hearUpdates(
  state: TelegramState,
  door: ChannelHost,
  { updates, cursor }: Given,
  signal: AbortSignal,
): Promise<Taken[]> {
  const lines = byChat(await readEvents(state, door, updates, signal));
  // With one chat the position goes into the transaction of its last message.
  const isOne = lines.length === 1;
  const taken = await Promise.all(
    lines.map(async (line) => {
      const heard = await door.hear(line, isOne ? cursor : undefined);
      return line.map((event, i) => ({ event, heard: heard[i]! }));
    }),
  );
  if (!isOne && cursor) await door.hear([], cursor);
  const all = taken.flat();
  // A press that came by webhook is answered in the request's answer.
  if (cursor) for (const one of all) if (one.event.kind === "button") answerPress(state, one);
  return all;
}

export async function hearAlbum(state: TelegramState, door: ChannelHost, parts: Json[]): Promise<void> {
  await hearUpdates(state, door, { updates: parts }, AbortSignal.timeout(ALBUM_MS));
}

async function readEvents(
  { api, self }: TelegramState,
  door: ChannelHost,
  updates: readonly unknown[],
  signal: AbortSignal,
): Promise<PlatformEvent[]> {
  const me = await self.get(signal);
  const parts = updates.flatMap((update) => {
    const raw = { kind: readKind(update), id: String(asObject(update).update_id ?? ""), value: update };
    const event = readRaw(door, raw, () => toEvent(update, me, api));
    return event ? { event, album: findAlbum(update) } : [];
  });
  return joinAlbums(parts);
}

/** Telegram shows a spinner on the button until it gets an answer. One that comes too late does no harm. */
function answerPress({ api, log }: TelegramState, press: Taken): void {
  api.call("answerCallbackQuery", toPressAnswer(press), AbortSignal.timeout(10_000)).catch((error: unknown) => {
    log.debug("a button press could not be answered", { error: String(error) });
  });
}

export function toPressAnswer({ event, heard }: Taken): JsonObject {
  return { callback_query_id: event.id.slice(1), ...truthy({ text: heard.say?.slice(0, MOST_PRESS_ANSWER) }) };
}
