/** From a message stanza to what the door understands. */
import { createHash } from "node:crypto";
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { addressedIn } from "../named.ts";
import { bare, NS, readResource, type Xml } from "./library.ts";
import type { XmppState } from "./state.ts";

/** A message as it came: live, or from an archive, which knows its own id and the time. */
export interface XmppGiven {
  message: Xml;
  id: string | undefined;
  at: number | undefined;
}

type Base = Pick<PlatformEvent, "id" | "at" | "chat" | "sender">;

export function toEvent(state: XmppState, { message, id, at }: XmppGiven): PlatformEvent | undefined {
  const from = findWriter(state, message);
  if (!from) return undefined;
  const { isRoom, address } = from;
  const base: Base = {
    id: id ?? `${address}:${message.attrs.id ?? createHash("sha256").update(message.toString()).digest("hex")}`,
    at: at ?? state.clock.now(),
    chat: { id: bare(address), kind: isRoom ? "group" : "direct" },
    sender: { id: isRoom ? readOccupant(state, message) : bare(address), ...truthy({ name: from.name }) },
  };
  const reactions = message.getChild("reactions", NS.reactions);
  if (reactions?.attrs.id) {
    const emoji = reactions.getChildText("reaction") ?? "";
    return { ...base, kind: "reaction", message: reactions.attrs.id, emoji, ...truthy({ removed: emoji === "" }) };
  }
  const retracted = message.getChild("retract", NS.retract)?.attrs.id;
  if (retracted) {
    // Only what the same person wrote: anybody can name any id.
    const gone = state.written.get(makeWrittenKey(base, retracted));
    return gone ? { ...base, kind: "delete", message: gone } : undefined;
  }
  return toWords(state, message, base);
}

/** Undefined for what isn't a person's message to us or to one of our rooms. */
function findWriter({ me, nick, rooms }: XmppState, message: Xml) {
  const { type = "normal", from: address } = message.attrs;
  if (!address || type === "error" || type === "headline") return undefined;
  const isOurRoom = rooms.has(bare(address));
  if (type === "groupchat") {
    const name = readResource(address);
    return name && name !== nick && isOurRoom ? { isRoom: true, address, name } : undefined;
  }
  // A private message within a room comes from the room's address: nobody says who wrote it.
  return bare(address) === me || isOurRoom ? undefined : { isRoom: false, address, name: undefined };
}

function toWords(state: XmppState, message: Xml, base: Base): PlatformEvent | undefined {
  const { log, nick, written, origins } = state;
  const body = message.getChildText("body")?.trim();
  if (!body) return undefined;
  if (NS.omemo.test(message.getChild("encrypted")?.attrs.xmlns ?? "")) {
    log.info("an encrypted message can't be read", { from: base.chat.id });
    return undefined;
  }
  const isRoom = base.chat.kind === "group";
  const said = isRoom ? addressedIn(body, nick) : { text: body, addressed: true };
  const corrected = message.getChild("replace", NS.correct)?.attrs.id;
  if (corrected) {
    const earlier = written.get(makeWrittenKey(base, corrected));
    return earlier ? { ...base, ...said, kind: "edit", message: earlier } : { ...base, ...said, kind: "message" };
  }
  const original = message.attrs.id;
  if (original) {
    written.set(makeWrittenKey(base, original), base.id);
    // In a direct chat people's clients know it by its writer's id, in a room by the room's.
    if (!isRoom) origins.set(base.id, original);
  }
  written.set(makeWrittenKey(base, base.id), base.id);
  return { ...base, ...said, kind: "message" };
}

function makeWrittenKey({ sender }: Base, id: string): string {
  return `${sender.id}\n${id}`;
}

/** The real address where the room shows it; otherwise what is stable inside the room (CH-01: a nick is not). */
function readOccupant({ occupants }: XmppState, message: Xml): string {
  const from = message.attrs.from!;
  const shown = message.getChild("x", NS.mucUser)?.getChild("item")?.attrs.jid ?? occupants.get(from.toLowerCase());
  if (shown) return bare(shown);
  const occupant = message.getChild("occupant-id", NS.occupant)?.attrs.id;
  return occupant ? `${bare(from)}#${occupant}` : from;
}
