/** From a webhook event of the Cloud API to our events. Pure. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { asList, asObject, asText } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";

export interface MediaRef {
  id: string;
  name?: string;
  mediaType?: string;
}
export type WhatsAppMapped = { event: PlatformEvent; media?: MediaRef };

export interface MessageStatus {
  message: string;
  state: string;
  /** The key that we sent along with the message. */
  key: string | undefined;
  code: number | undefined;
  why: string | undefined;
}

const MEDIA = new Set(["image", "document", "audio", "video", "sticker"]);

/** What concerns this number, in the order it happened. Other numbers of the same app are not ours (CH-05). */
export function mapBody(
  body: unknown,
  phoneNumberId: string,
): { events: WhatsAppMapped[]; statuses: MessageStatus[]; unreadable: { kind: string; id: string }[] } {
  const values = asList(asObject(body).entry)
    .flatMap((entry) => asList(asObject(entry).changes))
    .map((change) => asObject(asObject(change).value))
    .filter((value) => asObject(value.metadata).phone_number_id === phoneNumberId);
  const messages = values.flatMap((value) => asList(value.messages)).map(asObject);
  return {
    // Without an id, a sender and a type it can't be distinguished from others, answered or read.
    unreadable: messages
      .filter((raw) => ![raw.id, raw.from, raw.type].every(asText))
      .map((raw) => ({ kind: asText(raw.type) ?? "message", id: asText(raw.id) ?? "" })),
    events: values.flatMap((value) => {
      const names = readNames(value);
      return asList(value.messages).flatMap((message) => mapMessage(asObject(message), names) ?? []);
    }),
    statuses: values.flatMap((value) => asList(value.statuses).map(asObject)).flatMap(mapStatus),
  };
}

function mapMessage(raw: Record<string, unknown>, names: Map<string, string>): WhatsAppMapped | undefined {
  const [id, from, type] = [asText(raw.id), asText(raw.from), asText(raw.type)];
  if (!id || !from || !type) return undefined;
  const seconds = Number(raw.timestamp);
  const name = names.get(from);
  const base = {
    id,
    ...(Number.isFinite(seconds) ? { at: seconds * 1000 } : {}),
    chat: { id: from, kind: "direct" as const },
    sender: { id: from, ...truthy({ name }) },
  };
  const part = asObject(raw[type]);
  const answered = asText(asObject(raw.context).id);
  switch (type) {
    case "interactive": {
      const reply = asObject(part.button_reply ?? part.list_reply);
      const button = asText(reply.id);
      return button ? { event: { ...base, kind: "button", button, ...truthy({ message: answered }) } } : undefined;
    }
    case "reaction": {
      const [message, emoji] = [asText(part.message_id), asText(part.emoji)];
      if (!message) return undefined;
      return { event: { ...base, kind: "reaction", message, emoji: emoji ?? "", ...(emoji ? {} : { removed: true }) } };
    }
    // WhatsApp's own notes, such as that a person changed their number.
    case "system":
      return undefined;
    default:
      return {
        event: {
          ...base,
          kind: "message",
          text: readText(type, part),
          ...forwardedIn(asObject(raw.context)),
          ...(type === "audio" && part.voice === true ? { voice: "recorded" } : {}),
        },
        ...readMedia(type, part),
      };
  }
}

function forwardedIn(context: Record<string, unknown>): { forwarded?: true } {
  return context.forwarded === true || context.frequently_forwarded === true ? { forwarded: true } : {};
}

/** The name of a place is chosen by the sender: it is data, like everything else they say (PI-01). */
function readText(type: string, part: Record<string, unknown>): string {
  switch (type) {
    case "text":
      return asText(part.body) ?? "";
    case "button":
      return asText(part.text) ?? "";
    case "location": {
      const label = [asText(part.name), asText(part.address)].filter(Boolean).join(", ");
      return `[A place: ${part.latitude}, ${part.longitude}${label ? ` (${label})` : ""}]`;
    }
    case "contacts":
      return "[A contact card]";
    default:
      return MEDIA.has(type)
        ? (asText(part.caption) ?? "")
        : `[A message of a kind that Lares can't read: ${type.slice(0, 40)}]`;
  }
}

function readMedia(type: string, part: Record<string, unknown>): { media?: MediaRef } {
  const id = asText(part.id);
  if (!MEDIA.has(type) || !id || !/^\w+$/.test(id)) return {};
  const [name, mediaType] = [asText(part.filename), asText(part.mime_type)?.split(";")[0]];
  return { media: { id, ...truthy({ name, mediaType }) } };
}

function mapStatus(raw: Record<string, unknown>): MessageStatus[] {
  const [message, state] = [asText(raw.id), asText(raw.status)];
  if (!message || !state) return [];
  const error = asObject(asList(raw.errors)[0]);
  const why = asText(asObject(error.error_data).details) ?? asText(error.title);
  const code = typeof error.code === "number" ? error.code : undefined;
  return [{ message, state, key: asText(raw.biz_opaque_callback_data), code, why }];
}

function readNames(value: Record<string, unknown>): Map<string, string> {
  const names = new Map<string, string>();
  for (const contact of asList(value.contacts).map(asObject)) {
    const [id, name] = [asText(contact.wa_id), asText(asObject(contact.profile).name)];
    if (id && name) names.set(id, name);
  }
  return names;
}
