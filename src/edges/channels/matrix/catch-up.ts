/** What `/sync` left out: in a busy room it returns only the newest events, and the gap before them is read back. */
import { asList, asObject, asText } from "../../../core/domain/index.ts";
import type { MatrixMe, MatrixState } from "./state.ts";

/** A gap longer than this many pages of 100 is cut off: what is older wasn't meant to be answered now. */
const MOST_PAGES = 20;

/** The events of one room since the last batch, oldest first. */
export async function readWholeTimeline(
  { api, log }: MatrixState,
  { room, timeline, since, me }: { room: string; timeline: Record<string, unknown>; since: string; me: MatrixMe },
  signal: AbortSignal,
): Promise<unknown[]> {
  const tail = asList(timeline.events);
  const older: unknown[] = [];
  // In a room we have just joined, what lies before isn't a gap but its past.
  const justJoined = tail.map(asObject).some((event) => event.type === "m.room.member" && event.state_key === me.id);
  let from = timeline.limited === true && !justJoined ? asText(timeline.prev_batch) : undefined;
  for (let page = 0; from && page < MOST_PAGES; page++) {
    const { chunk, end } = await api.messages(room, from, since, signal);
    older.push(...chunk);
    from = chunk.length ? end : undefined;
  }
  if (from) log.warn("a gap was too long to read back", { room });
  return [...older.reverse(), ...tail];
}
