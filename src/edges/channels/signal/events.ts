/** From an envelope of signal-cli to what the door understands. Pure. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { listOf, numberOf, objectOf, textOf } from "../api.ts";

export interface SignalFile {
  id: string;
  name?: string;
  mediaType?: string;
  bytes?: number;
}
export type Mapped = { event: PlatformEvent; files: SignalFile[] };

/** The sign that stands for a mention in the text. */
const PLACEHOLDER = "\ufffc";

export function mapEnvelope(value: unknown, number: string): Mapped | undefined {
  const envelope = objectOf(value);
  // The service id is a person's for good; a number can change hands, and a name is anybody's choice (CH-01).
  const sender = textOf(envelope.sourceUuid) ?? textOf(envelope.sourceNumber);
  const timestamp = numberOf(envelope.timestamp);
  if (!sender || timestamp === undefined || textOf(envelope.sourceNumber) === number) return undefined;
  const edit = objectOf(envelope.editMessage);
  const data = objectOf(edit.dataMessage ?? envelope.dataMessage);
  const group = textOf(objectOf(data.groupInfo).groupId);
  const name = textOf(envelope.sourceName);
  const base = {
    id: `${sender}:${timestamp}`,
    at: timestamp,
    chat: group ? { id: group, kind: "group" as const } : { id: sender, kind: "direct" as const },
    sender: { id: sender, ...(name ? { name } : {}) },
  };
  const reaction = objectOf(data.reaction);
  const emoji = textOf(reaction.emoji);
  if (emoji) {
    const message = messageId(reaction, "targetSentTimestamp", "targetAuthor", number);
    const removed = reaction.isRemove === true ? { removed: true } : {};
    return message ? { event: { ...base, kind: "reaction", message, emoji, ...removed }, files: [] } : undefined;
  }
  // Signal lets people delete their own messages only; an admin's deletion for others comes in another form.
  const deleted = numberOf(objectOf(data.remoteDelete).timestamp);
  if (deleted !== undefined) return { event: { ...base, kind: "delete", message: `${sender}:${deleted}` }, files: [] };
  const { text, mentioned } = wordsOf(data, number);
  const quote = quoteOf(data, number);
  const addressed = !group || mentioned || quote?.isMine === true;
  const target = numberOf(edit.targetSentTimestamp);
  if (target !== undefined) {
    return { event: { ...base, kind: "edit", message: `${sender}:${target}`, text, addressed }, files: [] };
  }
  const files = listOf(data.attachments).map(objectOf).flatMap(fileOf);
  if (!text && !files.length) return undefined;
  const quoted = quote ? { quote: { ...(quote.sender ? { sender: quote.sender } : {}), text: quote.text } } : {};
  const voice = !text && files.some(isVoiceNote) ? { voice: "recorded" as const } : {};
  return { event: { ...base, kind: "message", text, addressed, ...quoted, ...voice }, files };
}

/** signal-cli doesn't say which sound is a voice note; those are the ones without a name. */
function isVoiceNote({ name, mediaType }: SignalFile): boolean {
  return name === undefined && mediaType?.startsWith("audio/") === true;
}

/** Our own messages are known by their timestamp, others by author and timestamp. */
function messageId(raw: Record<string, unknown>, at: string, author: string, number: string): string | undefined {
  const timestamp = numberOf(raw[at]);
  if (timestamp === undefined) return undefined;
  if (textOf(raw[`${author}Number`]) === number || textOf(raw[author]) === number) return String(timestamp);
  return `${textOf(raw[`${author}Uuid`]) ?? textOf(raw[author])}:${timestamp}`;
}

function wordsOf(data: Record<string, unknown>, number: string): { text: string; mentioned: boolean } {
  let text = textOf(data.message) ?? "";
  let mentioned = false;
  // From behind, so that positions before stay true.
  const mentions = listOf(data.mentions).map(objectOf);
  mentions.sort((a, b) => (numberOf(b.start) ?? 0) - (numberOf(a.start) ?? 0));
  for (const one of mentions) {
    const isMe = textOf(one.number) === number;
    mentioned ||= isMe;
    const start = numberOf(one.start) ?? 0;
    const end = start + (numberOf(one.length) ?? 1);
    text =
      text.slice(0, start) + (isMe ? "" : `@${textOf(one.name) ?? textOf(one.number) ?? "someone"}`) + text.slice(end);
  }
  return { text: text.replaceAll(PLACEHOLDER, "").trim(), mentioned };
}

function quoteOf(data: Record<string, unknown>, number: string) {
  const quote = objectOf(data.quote);
  const text = textOf(quote.text);
  if (text === undefined) return undefined;
  const isMine = textOf(quote.authorNumber) === number || textOf(quote.author) === number;
  return { isMine, text, sender: isMine ? undefined : (textOf(quote.authorUuid) ?? textOf(quote.author)) };
}

function fileOf(raw: Record<string, unknown>): SignalFile[] {
  const id = textOf(raw.id);
  if (!id) return [];
  const [name, mediaType, bytes] = [textOf(raw.filename), textOf(raw.contentType), numberOf(raw.size)];
  return [{ id, ...(name ? { name } : {}), ...(mediaType ? { mediaType } : {}), ...(bytes ? { bytes } : {}) }];
}
