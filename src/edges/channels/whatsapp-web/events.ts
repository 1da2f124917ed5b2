/** From a message of Baileys to our events. Pure. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { asList, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { MessageKey, WebMessage } from "./library.ts";

export interface Self {
  id: string;
  lid: string | undefined;
}

const WRAPPED = [
  "ephemeralMessage",
  "viewOnceMessage",
  "viewOnceMessageV2",
  "documentWithCaptionMessage",
  "editedMessage",
];
const MEDIA = ["imageMessage", "videoMessage", "audioMessage", "documentMessage", "stickerMessage"];
/** proto.Message.ProtocolMessage.Type.MESSAGE_EDIT */
const EDIT = 14;

export function mapMessage(message: WebMessage, me: Self): PlatformEvent | undefined {
  const { key } = message;
  const id = key.id;
  const chat = toChat(key);
  if (!id || !chat || key.fromMe) return undefined;
  const sender = chat.kind === "group" ? pickPerson(key.participant, key.participantAlt) : chat.id;
  const content = unwrap(asObject(message.message));
  if (!sender || !Object.keys(content).length) return undefined;
  const seconds = Number(String(message.messageTimestamp ?? ""));
  const base = {
    id,
    ...(seconds > 0 ? { at: seconds * 1000 } : {}),
    chat,
    sender: { id: sender, ...truthy({ name: message.pushName }) },
  };
  const reaction = asObject(content.reactionMessage);
  const target = asText(asObject(reaction.key).id);
  if (target) {
    const emoji = asText(reaction.text) ?? "";
    return { ...base, kind: "reaction", message: target, emoji, ...(emoji ? {} : { removed: true }) };
  }
  const protocol = asObject(content.protocolMessage);
  const edited = asText(asObject(protocol.key).id);
  if (protocol.type === EDIT && edited) {
    const words = readText(unwrap(asObject(protocol.editedMessage)));
    return words ? { ...base, kind: "edit", message: edited, ...words.said(me, chat.kind) } : undefined;
  }
  const words = readText(content);
  if (!words) return undefined;
  const isVoice = asObject(content.audioMessage).ptt === true;
  return {
    ...base,
    kind: "message",
    ...words.said(me, chat.kind),
    ...words.quote(me),
    ...(isVoice ? { voice: "recorded" } : {}),
  };
}

/** The file a message carries, as far as it says. */
export function readFile(message: WebMessage): { name?: string; mediaType?: string; bytes?: number } | undefined {
  const content = unwrap(asObject(message.message));
  const kind = MEDIA.find((one) => content[one]);
  if (!kind) return undefined;
  const part = asObject(content[kind]);
  const [name, mediaType] = [asText(part.fileName), asText(part.mimetype)?.split(";")[0]];
  const bytes = asNumber(part.fileLength) ?? (Number(String(part.fileLength ?? "")) || undefined);
  return truthy({ name, mediaType, bytes });
}

/** Channels and status stories are not conversations. */
function toChat(key: MessageKey): { id: string; kind: "direct" | "group" } | undefined {
  const jid = key.remoteJid ?? "";
  if (jid.endsWith("@g.us")) return { id: jid, kind: "group" };
  const person = pickPerson(key.remoteJid, key.remoteJidAlt);
  return person ? { id: person, kind: "direct" } : undefined;
}

/**
 * WhatsApp knows a person by number and by a hidden id, and messages may come under either with the other beside it. The
 * number is preferred, so that one person is one id (and the one an owner can write down).
 */
export function pickPerson(...jids: (string | null | undefined)[]): string | undefined {
  const plain = jids.flatMap((jid) => {
    const match = /^(\d+)(?:_\d+)?(?::\d+)?@(s\.whatsapp\.net|lid|hosted|hosted\.lid)$/.exec(jid ?? "");
    return match ? [`${match[1]}@${match[2]!.endsWith("lid") ? "lid" : "s.whatsapp.net"}`] : [];
  });
  return plain.find((jid) => jid.endsWith("@s.whatsapp.net")) ?? plain[0];
}

function unwrap(content: Record<string, unknown>): Record<string, unknown> {
  const wrapper = WRAPPED.find((one) => content[one]);
  const inner = wrapper ? asObject(asObject(content[wrapper]).message) : undefined;
  return inner && Object.keys(inner).length ? unwrap(inner) : content;
}

function readText(content: Record<string, unknown>) {
  const media = MEDIA.find((one) => content[one]);
  const part = asObject(content.extendedTextMessage ?? (media ? content[media] : undefined));
  const text = asText(content.conversation) ?? asText(part.text) ?? asText(part.caption);
  if (text === undefined && !media) return undefined;
  const context = asObject(part.contextInfo);
  const quotedBy = pickPerson(asText(context.participant));
  const isMe = (me: Self, jid: unknown) => {
    const person = pickPerson(asText(jid));
    return person !== undefined && (person === pickPerson(me.id) || person === pickPerson(me.lid));
  };
  return {
    said(me: Self, kind: "direct" | "group") {
      const named = asList(context.mentionedJid).some((jid) => isMe(me, jid));
      const addressed = kind === "direct" || named || isMe(me, context.participant);
      const own = [me.id, me.lid].map((jid) => /^\d+/.exec(jid ?? "")?.[0]).filter((digits) => digits !== undefined);
      const plain = own.reduce((said, digits) => said.replaceAll(`@${digits}`, ""), text ?? "");
      return { text: plain.trim(), addressed, ...(context.isForwarded === true ? { forwarded: true } : {}) };
    },
    quote(me: Self): { quote?: { sender?: string; text: string } } {
      const quoted = wordsText(unwrap(asObject(context.quotedMessage)));
      if (quoted === undefined) return {};
      const sender = isMe(me, context.participant) ? undefined : quotedBy;
      return { quote: { ...truthy({ sender }), text: quoted } };
    },
  };
}

function wordsText(content: Record<string, unknown>): string | undefined {
  const media = MEDIA.find((one) => content[one]);
  const part = asObject(content.extendedTextMessage ?? (media ? content[media] : undefined));
  return asText(content.conversation) ?? asText(part.text) ?? asText(part.caption);
}
