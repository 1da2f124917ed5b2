/** From Slack's events to the door: by socket, by request and read back, all go this way. */
import type { ChannelHost, PlatformEvent } from "../../../core/contracts/index.ts";
import { asObject, asText, type JsonObject } from "../../../core/domain/index.ts";
import { isWorthReadingBack, readRaw } from "../incoming.ts";
import { type SlackMe, toEvent, toPress } from "./events.ts";
import { whisper } from "./send.ts";
import { readPositions, type SlackState } from "./state.ts";

/** What Slack sends: `interactive` is a press of a button, `events_api` all the rest we read. */
export function readEnvelope(
  state: SlackState,
  door: ChannelHost,
  { type, payload }: { type: string; payload: JsonObject },
  me: SlackMe,
): PlatformEvent | undefined {
  if (type === "interactive") return readGuarded(door, payload, () => toPress(payload));
  return type === "events_api" ? readEvent(state, door, payload.event, me) : undefined;
}

export function readEvent(
  state: SlackState,
  door: ChannelHost,
  given: unknown,
  me: SlackMe,
): PlatformEvent | undefined {
  return readGuarded(door, given, () => toEvent(given, me, state.api));
}

function readGuarded(door: ChannelHost, given: unknown, read: () => PlatformEvent | "unreadable" | undefined) {
  const { type, event_ts, ts, trigger_id } = asObject(given);
  const id = asText(event_ts) ?? asText(ts) ?? asText(trigger_id);
  return readRaw(door, { kind: String(type), id, value: given }, read);
}

/** Durable when it resolves, together with how far the chat, or its thread, was read. */
export async function hear(state: SlackState, door: ChannelHost, event: PlatformEvent): Promise<void> {
  const positions = await readPositions(state, door);
  const key = toPositionKey(event.chat);
  const moves = isWorthReadingBack(event, state.policy);
  const [heard] = await door.hear([event], moves ? positions.with(key, event.id) : undefined);
  if (moves) positions.moved(key, event.id);
  if (event.kind === "button" && heard?.say) answerPress(state, event, heard.say);
}

/** A position is kept for each chat and each thread of it. */
function toPositionKey({ id, thread }: PlatformEvent["chat"]): string {
  return thread ? `${id}/${thread}` : id;
}

export function fromPositionKey(key: string): { channel: string; thread: string | undefined } {
  const [channel, thread] = key.split("/") as [string, string?];
  return { channel, thread };
}

/** Only the person who pressed sees it. One that can't be shown does no harm. */
function answerPress(state: SlackState, event: PlatformEvent, text: string): void {
  const { chat, sender } = event;
  whisper(state, { chat, user: sender.id, text }, AbortSignal.timeout(10_000)).catch((error: unknown) => {
    state.log.debug("a button press could not be answered", { error: String(error) });
  });
}
