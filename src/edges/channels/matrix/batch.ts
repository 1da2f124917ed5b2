/** From one answer of `/sync` to events: every room's timeline, with the gaps filled, in one order. */
import type { ChannelHost, PlatformEvent } from "../../../core/contracts/index.ts";
import { asList, asObject, asText } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { readRaw } from "../incoming.ts";
import { readWholeTimeline } from "./catch-up.ts";
import { type MatrixMapped, mapEvent, type RoomEvent, repliedTo, roomEvent } from "./events.ts";
import type { MatrixMe, MatrixState } from "./state.ts";

export interface MatrixBatch {
  batch: Record<string, unknown>;
  /** The position it begins at. */
  since: string;
  me: MatrixMe;
}

export async function toEvents(
  state: MatrixState,
  door: ChannelHost,
  { batch, since, me }: MatrixBatch,
  signal: AbortSignal,
): Promise<PlatformEvent[]> {
  const found: { at: number; event: PlatformEvent }[] = [];
  for (const [room, value] of Object.entries(asObject(asObject(batch.rooms).join))) {
    const { timeline, state: before } = asObject(value);
    const whole = await readWholeTimeline(state, { room, timeline: asObject(timeline), since, me }, signal);
    const fresh = whole.flatMap((one) => readRoomEvent(door, one) ?? []);
    const known = [...asList(asObject(before).events).map(roomEvent), ...fresh];
    for (const one of known) if (one) state.rooms.note(room, one);
    for (const one of sinceInvited(fresh, me.id)) {
      const event = await toEvent(state, door, { room, event: one, me }, signal);
      if (event) found.push({ at: one.at ?? 0, event });
    }
  }
  // Each room keeps its order; between rooms, the order of the server's clock is the fairest.
  return found.sort((a, b) => a.at - b.at).map((one) => one.event);
}

function readRoomEvent(door: ChannelHost, value: unknown): RoomEvent | undefined {
  const { type, event_id } = asObject(value);
  const raw = { kind: asText(type) ?? "event", id: asText(event_id), value };
  return readRaw(door, raw, () => roomEvent(value) ?? "unreadable");
}

async function toEvent(
  { rooms, api }: MatrixState,
  door: ChannelHost,
  { room, event, me }: { room: string; event: RoomEvent; me: MatrixMe },
  signal: AbortSignal,
): Promise<PlatformEvent | undefined> {
  const replied = await rooms.replied(room, repliedTo(event), signal);
  const isDirect = await rooms.isDirect(room, signal);
  const mapped = door.read({ kind: `${event.type} to map`, id: event.id, value: event }, () =>
    mapEvent(event, { me, room: { id: room, isDirect }, replied, names: rooms.names }),
  );
  return mapped && withFile(mapped, (url, stop) => api.download(url, stop));
}

function withFile(
  { event, file }: MatrixMapped,
  download: (url: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>,
): PlatformEvent {
  if (!file || event.kind !== "message") return event;
  const { url, name, mediaType, bytes } = file;
  return { ...event, files: [{ ...truthy({ name, mediaType, bytes }), open: (stop) => download(url, stop) }] };
}

/** Only what came after we were invited: the room's past wasn't said to us. */
function sinceInvited(events: readonly RoomEvent[], me: string): readonly RoomEvent[] {
  const isOurs = (event: RoomEvent) => event.type === "m.room.member" && event.stateKey === me;
  const invited = events.findLastIndex((event) => isOurs(event) && event.content.membership === "invite");
  const joined = events.findLastIndex(isOurs);
  return events.slice((invited >= 0 ? invited : joined) + 1);
}
