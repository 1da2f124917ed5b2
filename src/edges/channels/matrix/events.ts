/** From a Matrix event to what the door understands. Pure: what has to be looked up is handed in. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { asList, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";

export interface RoomEvent {
  id: string;
  type: string;
  sender: string;
  at: number | undefined;
  content: Record<string, unknown>;
  stateKey: string | undefined;
  /** The event that a redaction removes: up to room version 10 beside the content, later in it. */
  redacts: string | undefined;
}

/** What is looked up beforehand. */
export interface Setting {
  me: { id: string; name: string | undefined };
  room: { id: string; isDirect: boolean };
  /** The message this one answers. */
  replied: { sender: string; text: string } | undefined;
  names: ReadonlyMap<string, string>;
}

type File = { url: string; name: string | undefined; mediaType: string | undefined; bytes: number | undefined };
/** A file as the event names it; the adapter adds how it is opened. */
export type MatrixMapped = { event: PlatformEvent; file?: File };

const FILES = new Set(["m.file", "m.image", "m.audio", "m.video"]);
const UNREADABLE = "[An encrypted message. It cannot be read: Lares reads unencrypted Matrix rooms only.]";

export function roomEvent(value: unknown): RoomEvent | undefined {
  const raw = asObject(value);
  const [id, type, sender] = [asText(raw.event_id), asText(raw.type), asText(raw.sender)];
  if (!id || !type || !sender) return undefined;
  const content = asObject(raw.content);
  const redacts = asText(content.redacts) ?? asText(raw.redacts);
  return { id, type, sender, at: asNumber(raw.origin_server_ts), content, stateKey: asText(raw.state_key), redacts };
}

/** The id of the message an event answers, if its writer chose one to answer. */
export function repliedTo(event: RoomEvent): string | undefined {
  const relation = asObject(event.content["m.relates_to"]);
  // In a thread every message names the one before it, for clients that don't know threads.
  if (relation.rel_type === "m.thread" && relation.is_falling_back === true) return undefined;
  return asText(asObject(relation["m.in_reply_to"]).event_id);
}

/** The words of a message, without the quote that clients put before them to show what it answers. */
export function plainBody(content: Record<string, unknown>): string {
  const body = asText(content.body) ?? "";
  if (!repliesIn(content) || !body.startsWith("> ")) return body;
  const lines = body.split("\n");
  const from = lines.findIndex((line) => !line.startsWith(">"));
  return from < 0 ? "" : lines.slice(lines[from] === "" ? from + 1 : from).join("\n");
}

export function mapEvent(event: RoomEvent, at: Setting): MatrixMapped | undefined {
  if (event.sender === at.me.id) return undefined;
  const relation = asObject(event.content["m.relates_to"]);
  const thread = relation.rel_type === "m.thread" ? asText(relation.event_id) : undefined;
  const name = at.names.get(event.sender);
  const isNotice = event.content.msgtype === "m.notice";
  const base = {
    id: event.id,
    ...defined({ at: event.at }),
    chat: {
      id: at.room.id,
      kind: at.room.isDirect ? ("direct" as const) : ("group" as const),
      ...truthy({ thread }),
    },
    // Bots write notices; answering one could start a loop.
    sender: { id: event.sender, ...truthy({ name, isBot: isNotice }) },
  };
  switch (event.type) {
    case "m.room.message":
      return relation.rel_type === "m.replace"
        ? edited(event, relation, base, at)
        : {
            event: { ...base, kind: "message", ...said(event, at), ...voiceIn(event.content) },
            ...readFile(event.content),
          };
    case "m.room.encrypted":
      return { event: { ...base, kind: "message", text: UNREADABLE } };
    case "m.reaction": {
      const [message, emoji] = [asText(relation.event_id), asText(relation.key)];
      return message && emoji ? { event: { ...base, kind: "reaction", message, emoji } } : undefined;
    }
    case "m.room.redaction":
      return event.redacts ? { event: { ...base, kind: "delete", message: event.redacts } } : undefined;
    case "m.room.member": {
      const change = event.content.membership === "join" ? "joined" : "left";
      if (event.stateKey === at.me.id || event.content.membership === "invite") return undefined;
      return { event: { ...base, kind: "member", change } };
    }
    default:
      return undefined;
  }
}

type Base = Omit<Extract<PlatformEvent, { kind: "member" }>, "kind" | "change">;

function edited(
  event: RoomEvent,
  relation: Record<string, unknown>,
  base: Base,
  at: Setting,
): MatrixMapped | undefined {
  const message = asText(relation.event_id);
  const content = asObject(event.content["m.new_content"]);
  if (!message || asText(content.body) === undefined) return undefined;
  const { text, addressed } = said(
    { ...event, content: { ...content, "m.mentions": event.content["m.mentions"] } },
    at,
  );
  return { event: { ...base, kind: "edit", message, text, addressed } };
}

function said(event: RoomEvent, at: Setting) {
  const { me, replied } = at;
  const isFile = FILES.has(asText(event.content.msgtype) ?? "");
  const body = plainBody(event.content);
  // A file's body is its name, unless the name is given separately: then the body is its caption.
  const hasWords = !isFile || (asText(event.content.filename) !== undefined && event.content.filename !== body);
  const mentioned = asList(asObject(event.content["m.mentions"]).user_ids).includes(me.id);
  const { text, named } = withoutName(hasWords ? body : "", [me.id, me.name]);
  return {
    text,
    addressed: mentioned || named || replied?.sender === me.id,
    ...(replied && replied.sender !== me.id ? { quote: { sender: replied.sender, text: replied.text } } : {}),
    ...(replied?.sender === me.id ? { quote: { text: replied.text } } : {}),
  };
}

/** MSC3245: a sound that was recorded for this message; clients mark it with an empty object. */
function voiceIn(content: Record<string, unknown>): { voice?: "recorded" } {
  const isMarked = content["org.matrix.msc3245.voice"] !== undefined || content["m.voice"] !== undefined;
  return content.msgtype === "m.audio" && isMarked ? { voice: "recorded" } : {};
}

/** Takes "lares: " or "@lares:example.org " off the beginning. */
function withoutName(body: string, names: readonly (string | undefined)[]): { text: string; named: boolean } {
  for (const name of names) {
    if (!name) continue;
    const at = name.startsWith("@") ? [name] : [`@${name}`, name];
    for (const one of at) {
      if (!body.toLowerCase().startsWith(one.toLowerCase())) continue;
      const rest = body.slice(one.length);
      if (!/^([:,]|\s|$)/.test(rest)) continue;
      return { text: rest.replace(/^[:,]?\s*/, ""), named: true };
    }
  }
  return { text: body, named: false };
}

function readFile(content: Record<string, unknown>): { file?: File } {
  const url = asText(content.url);
  if (!url || !FILES.has(asText(content.msgtype) ?? "")) return {};
  const info = asObject(content.info);
  const name = asText(content.filename) ?? asText(content.body);
  return { file: { url, name, mediaType: asText(info.mimetype), bytes: asNumber(info.size) } };
}

function repliesIn(content: Record<string, unknown>): boolean {
  return asText(asObject(asObject(content["m.relates_to"])["m.in_reply_to"]).event_id) !== undefined;
}
