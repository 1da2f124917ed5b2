/**
 * The fake homeserver's state: users, rooms, and one stream of events that every position of `/sync` counts in.
 *
 * Documentation: see server.ts
 */

export interface RoomEvent {
  event_id: string;
  type: string;
  sender: string;
  origin_server_ts: number;
  content: Record<string, unknown>;
  state_key?: string;
  redacts?: string;
  unsigned?: Record<string, unknown>;
}

export interface Room {
  id: string;
  /** The whole timeline with the stream position of each event. */
  timeline: { at: number; event: RoomEvent }[];
  members: Map<string, "join" | "invite" | "leave">;
  state: Map<string, RoomEvent>;
  typing: Set<string>;
}

export class World {
  readonly server = "fake.test";
  readonly rooms = new Map<string, Room>();
  readonly media = new Map<string, { type: string; name?: string; data: Buffer }>();
  readonly accountData = new Map<string, Record<string, unknown>>();
  /** Event id by device and transaction: the same transaction again is the same event, as the specification says. */
  readonly transactions = new Map<string, string>();
  position = 0;
  private counter = 0;
  private readonly waiters = new Set<() => void>();

  /** Adds an event to a room and wakes every waiting `/sync`. */
  add(room: Room, event: Omit<RoomEvent, "event_id" | "origin_server_ts">): RoomEvent {
    const full: RoomEvent = { event_id: `$e${++this.counter}`, origin_server_ts: Date.now(), ...event };
    room.timeline.push({ at: ++this.position, event: full });
    if (full.state_key !== undefined) {
      room.state.set(`${full.type}|${full.state_key}`, full);
      if (full.type === "m.room.member") {
        room.members.set(full.state_key, full.content.membership as "join" | "invite" | "leave");
      }
    }
    this.wake();
    return full;
  }

  room(id: string): Room {
    const found = this.rooms.get(id);
    if (found) return found;
    const room: Room = { id, timeline: [], members: new Map(), state: new Map(), typing: new Set() };
    this.rooms.set(id, room);
    return room;
  }

  member(room: Room, user: string, membership: "join" | "invite" | "leave", more: Record<string, unknown> = {}): void {
    this.add(room, { type: "m.room.member", sender: user, state_key: user, content: { membership, ...more } });
  }

  id(prefix: string): string {
    return `${prefix}${++this.counter}`;
  }

  wake(): void {
    for (const waiter of this.waiters) waiter();
    this.waiters.clear();
  }

  /** Resolves at the next event, after `ms`, or when the caller is gone. */
  next(ms: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      const waiters = this.waiters;
      function done(): void {
        clearTimeout(timer);
        waiters.delete(done);
        gone.removeEventListener("abort", done);
        resolve();
      }
      waiters.add(done);
      gone.addEventListener("abort", done);
    });
  }
}
