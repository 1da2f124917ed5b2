/** From a webhook event of the Cloud API to what the door understands. Pure. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { listOf, objectOf, textOf } from "../api.ts";

export interface MediaRef {
  id: string;
  name?: string;
  mediaType?: string;
}
export type Mapped = { event: PlatformEvent; media?: MediaRef };

export interface Status {
  message: string;
  state: string;
  /** What we gave along with the message. */
  key: string | undefined;
  code: number | undefined;
  why: string | undefined;
}

const MEDIA = new Set(["image", "document", "audio", "video", "sticker"]);

/** What concerns this number, in the order it was said. Other numbers of the same app are not ours (CH-05). */
export function mapBody(
  body: unknown,
  phoneNumberId: string,
): { events: Mapped[]; statuses: Status[]; unreadable: { kind: string; id: string }[] } {
  const values = listOf(objectOf(body).entry)
    .flatMap((entry) => listOf(objectOf(entry).changes))
    .map((change) => objectOf(objectOf(change).value))
    .filter((value) => objectOf(value.metadata).phone_number_id === phoneNumberId);
  const messages = values.flatMap((value) => listOf(value.messages)).map(objectOf);
  return {
    // Without these it is nobody's message.
    unreadable: messages
      .filter((raw) => ![raw.id, raw.from, raw.type].every(textOf))
      .map((raw) => ({ kind: textOf(raw.type) ?? "message", id: textOf(raw.id) ?? "" })),
    events: values.flatMap((value) => {
      const names = namesOf(value);
      return listOf(value.messages).flatMap((message) => mapMessage(objectOf(message), names) ?? []);
    }),
    statuses: values.flatMap((value) => listOf(value.statuses).map(objectOf)).flatMap(mapStatus),
  };
}

function mapMessage(raw: Record<string, unknown>, names: Map<string, string>): Mapped | undefined {
  const [id, from, type] = [textOf(raw.id), textOf(raw.from), textOf(raw.type)];
  if (!id || !from || !type) return undefined;
  const seconds = Number(raw.timestamp);
  const name = names.get(from);
  const base = {
    id,
    ...(Number.isFinite(seconds) ? { at: seconds * 1000 } : {}),
    chat: { id: from, kind: "direct" as const },
    sender: { id: from, ...(name ? { name } : {}) },
  };
  const part = objectOf(raw[type]);
  const answered = textOf(objectOf(raw.context).id);
  switch (type) {
    case "interactive": {
      const reply = objectOf(part.button_reply ?? part.list_reply);
      const button = textOf(reply.id);
      return button
        ? { event: { ...base, kind: "button", button, ...(answered ? { message: answered } : {}) } }
        : undefined;
    }
    case "reaction": {
      const [message, emoji] = [textOf(part.message_id), textOf(part.emoji)];
      if (!message) return undefined;
      return { event: { ...base, kind: "reaction", message, emoji: emoji ?? "", ...(emoji ? {} : { removed: true }) } };
    }
    // The platform's own notes, e.g. that a person changed the number.
    case "system":
      return undefined;
    default:
      return {
        event: {
          ...{ ...base, kind: "message", text: wordsOf(type, part), ...forwardedIn(objectOf(raw.context)) },
          ...(type === "audio" && part.voice === true ? { voice: "recorded" } : {}),
        },
        ...mediaOf(type, part),
      };
  }
}

function forwardedIn(context: Record<string, unknown>): { forwarded?: true } {
  return context.forwarded === true || context.frequently_forwarded === true ? { forwarded: true } : {};
}

/** Labels a person chose (a place's name, a contact's) are what the person said: data, like all of it (PI-01). */
function wordsOf(type: string, part: Record<string, unknown>): string {
  switch (type) {
    case "text":
      return textOf(part.body) ?? "";
    case "button":
      return textOf(part.text) ?? "";
    case "location": {
      const label = [textOf(part.name), textOf(part.address)].filter(Boolean).join(", ");
      return `[A place: ${part.latitude}, ${part.longitude}${label ? ` (${label})` : ""}]`;
    }
    case "contacts":
      return "[A contact card]";
    default:
      return MEDIA.has(type)
        ? (textOf(part.caption) ?? "")
        : `[A message of a kind that cannot be read here: ${type.slice(0, 40)}]`;
  }
}

function mediaOf(type: string, part: Record<string, unknown>): { media?: MediaRef } {
  const id = textOf(part.id);
  if (!MEDIA.has(type) || !id || !/^\w+$/.test(id)) return {};
  const [name, mediaType] = [textOf(part.filename), textOf(part.mime_type)?.split(";")[0]];
  return { media: { id, ...(name ? { name } : {}), ...(mediaType ? { mediaType } : {}) } };
}

function mapStatus(raw: Record<string, unknown>): Status[] {
  const [message, state] = [textOf(raw.id), textOf(raw.status)];
  if (!message || !state) return [];
  const error = objectOf(listOf(raw.errors)[0]);
  const why = textOf(objectOf(error.error_data).details) ?? textOf(error.title);
  const code = typeof error.code === "number" ? error.code : undefined;
  return [{ message, state, key: textOf(raw.biz_opaque_callback_data), code, why }];
}

function namesOf(value: Record<string, unknown>): Map<string, string> {
  const names = new Map<string, string>();
  for (const contact of listOf(value.contacts).map(objectOf)) {
    const [id, name] = [textOf(contact.wa_id), textOf(objectOf(contact.profile).name)];
    if (id && name) names.set(id, name);
  }
  return names;
}
