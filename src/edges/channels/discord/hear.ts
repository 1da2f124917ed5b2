/** From Discord's dispatches to the door: live ones and those read back go the same way. */
import type { ChannelHost, Heard, PlatformEvent } from "../../../core/contracts/index.ts";
import { asObject, asText, type Json, type JsonObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { isWorthReadingBack, readRaw } from "../incoming.ts";
import type { Lines } from "../lines.ts";
import type { Positions } from "../positions.ts";
import type { DiscordSession } from "./connection.ts";
import { type DiscordPress, toEvent, toPress } from "./events.ts";
import { answerPress } from "./send.ts";
import type { DiscordMe, DiscordState } from "./state.ts";
import type { Watermark } from "./watermark.ts";

/** What is being read: it outlives a connection, since a session can be resumed by the next one. */
export interface DiscordProgress {
  session: DiscordSession | undefined;
  positions: Positions;
}

/** One connection, with what taking its dispatches needs. */
export interface DiscordReading {
  door: ChannelHost;
  me: DiscordMe;
  progress: DiscordProgress;
  mark: Watermark;
  lines: Lines;
}

export interface DiscordDispatch {
  type: string;
  body: unknown;
  seq: number;
}

/** Takes a dispatch in its chat's line, after what came before it there. */
export function takeDispatch(
  state: DiscordState,
  reading: DiscordReading,
  dispatch: DiscordDispatch,
  signal: AbortSignal,
): void {
  const { mark, lines } = reading;
  const { seq } = dispatch;
  const { press, event } = readDispatch(state, reading, dispatch) ?? {};
  if (!event) {
    mark.skip(seq);
    return;
  }
  mark.begin(seq);
  const channel = event.chat.id;
  void lines.push(channel, async () => {
    const heard = await hear(state, reading, { event, channel, seq }, signal);
    if (press) tellPresser(state, press, heard.say);
  });
}

function readDispatch(state: DiscordState, { door, me, progress }: DiscordReading, dispatch: DiscordDispatch) {
  const { type, body, seq } = dispatch;
  // What has no id of its own is known by the session and its number in it, which is how it would come again.
  const nth = `${progress.session?.id}:${seq}`;
  return readRaw<{ press?: DiscordPress; event?: PlatformEvent }>(
    door,
    { kind: type, id: asText(asObject(body).id) ?? nth, value: body },
    () => {
      const press = type === "INTERACTION_CREATE" ? toPress(body) : undefined;
      if (press) return { press, event: press.event };
      const event = toEvent(type, body, nth, me.id, state.api);
      return event === "unreadable" ? event : truthy({ event });
    },
  );
}

/** Durable when it resolves, together with how far the session and the chat were read. `seq`: its number, if it came live. */
export async function hear(
  { places, policy }: DiscordState,
  { door, progress, mark }: DiscordReading,
  given: { event: PlatformEvent; channel: string; seq?: number },
  signal: AbortSignal,
): Promise<Heard> {
  const { channel, seq } = given;
  const event = await places.put(given.event, channel, signal);
  const moves = isWorthReadingBack(event, policy);
  const at = moves ? makeCursor(progress, mark.upTo(seq), progress.positions.with(channel, event.id)) : undefined;
  const [heard] = await door.hear([event], at);
  if (seq !== undefined) mark.finish(seq);
  if (moves) progress.positions.moved(channel, event.id);
  return heard!;
}

export function makeCursor({ session }: DiscordProgress, seq: number, last: JsonObject): Json {
  return { ...(session ? { session: { ...session, seq } } : {}), last };
}

/** One that can't be answered does no harm: Discord shows that the press failed. */
function tellPresser(state: DiscordState, press: DiscordPress, say: string | undefined): void {
  answerPress(state, press.answerAt, say, AbortSignal.timeout(10_000)).catch((error: unknown) => {
    state.log.debug("a button press could not be answered", { error: String(error) });
  });
}
