/** How far each archive was read, and reading on from there. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { asObject, asText, type JsonObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Archive } from "./archive.ts";
import { toEvent, type XmppGiven } from "./events.ts";
import { bare, NS } from "./library.ts";
import type { XmppState } from "./state.ts";

/**
 * The last archive id taken: of our own archive under "", of a room's under its address. Beside each, under the same name and `time`, when that was
 * said: servers delete old messages, and then the id leads nowhere.
 */
export type XmppPositions = JsonObject & Record<string, string>;

export function readPositions(cursor: unknown): XmppPositions {
  const known = Object.entries(asObject(cursor)).filter(([, id]) => asText(id) !== undefined);
  return Object.fromEntries(known) as XmppPositions;
}

/** Reads an archive from its position on: a room's, or without one our own. What is said meanwhile waits, and is known by its id. */
export async function catchUp(
  state: XmppState,
  { archive, door, at }: { archive: Archive; door: ChannelHost; at: XmppPositions },
  room: string | undefined,
): Promise<void> {
  const where = room ?? "";
  if (at[where] === undefined) {
    // What was said before this account was added isn't ours to answer.
    const page = await archive.ask({ room, newest: 1 });
    if (!page) {
      return state.log.warn("no archive: what is said while Lares is away may be lost", { where: room ?? state.me });
    }
    at[where] = page.last ?? "";
    at[timeKey(where)] = String(page.items.at(-1)?.at ?? state.clock.now());
    await door.hear([], { ...at });
    return;
  }
  let since: number | undefined;
  for (let after: string | undefined = at[where]; ; ) {
    const page = await archive.ask({ room, since, ...truthy({ after }) });
    if (!page) return;
    if (page.isLost) {
      const known = Number(at[timeKey(where)]);
      if (since !== undefined || !known) {
        return state.log.warn("the archive no longer has the last message: what was said since may be lost", {
          where: room ?? state.me,
        });
      }
      // Some of it is known by its id already; nothing of it is missed.
      [since, after] = [known, undefined];
      continue;
    }
    for (const one of page.items) await take(state, { door, at }, one);
    if (page.isComplete || !page.last) return;
    after = page.last;
  }
}

function timeKey(where: string): string {
  return `${where} time`;
}

/** Hands one message to the door, together with the position behind it. */
export async function take(
  state: XmppState,
  { door, at }: { door: ChannelHost; at: XmppPositions },
  given: XmppGiven,
): Promise<void> {
  const { message } = given;
  const isRoom = message.attrs.type === "groupchat";
  const by = isRoom ? bare(message.attrs.from) : state.me;
  // Live messages carry the archive's id, too. Only the archive's owner may say it.
  const stamped = message.getChildren("stanza-id", NS.stanzaId).find((one) => bare(one.attrs.by) === by)?.attrs.id;
  const id = given.id ?? stamped;
  const raw = { kind: "message", id, value: message.toString() };
  const event = door.read(raw, () => toEvent(state, { ...given, id }));
  const moves = id !== undefined && (!isRoom || state.rooms.has(by));
  if (!event && !moves) return;
  const where = isRoom ? by : "";
  const next = moves ? { ...at, [where]: id, [timeKey(where)]: String(given.at ?? state.clock.now()) } : undefined;
  await door.hear(event ? [event] : [], next);
  if (next) Object.assign(at, next);
}
