/**
 * How far each chat was read, for platforms whose stream forgets what happened while nobody listened: after a long stop the
 * adapter reads each chat from here on. Bounded: the chats that have been silent longest are forgotten first.
 */
import { asObject, type JsonObject } from "../../core/domain/index.ts";

/** More chats than an account talks in at a time; a position is about forty bytes of the cursor. */
const MOST = 100;

export class Positions {
  private readonly last = new Map<string, string>();

  constructor(kept: unknown) {
    for (const [chat, id] of Object.entries(asObject(kept))) if (typeof id === "string") this.last.set(chat, id);
  }

  /** All positions, this one moved on: they are committed with the message. */
  with(chat: string, id: string): JsonObject {
    const all = new Map(this.last);
    move(all, chat, id);
    return Object.fromEntries(all);
  }

  /** After the commit. */
  moved(chat: string, id: string): void {
    move(this.last, chat, id);
  }

  all(): JsonObject {
    return Object.fromEntries(this.last);
  }

  /** The chats, the one talked in last first. */
  chats(): [chat: string, id: string][] {
    return [...this.last].reverse();
  }
}

function move(map: Map<string, string>, chat: string, id: string): void {
  const before = map.get(chat);
  map.delete(chat);
  map.set(chat, before !== undefined && isNewer(before, id) ? before : id);
  if (map.size > MOST) map.delete(map.keys().next().value as string);
}

/** Ids that grow with time: decimal digits, of any length. */
function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}
