/** From an envelope of signal-cli to our events. Pure. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { asList, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";

export interface SignalFile {
  id: string;
  name?: string;
  mediaType?: string;
  bytes?: number;
}
export type SignalMapped = { event: PlatformEvent; files: SignalFile[] };

/** The character that stands for a mention in the text. */
const PLACEHOLDER = "\ufffc";

export function mapEnvelope(value: unknown, number: string): SignalMapped | undefined {
  const envelope = asObject(value);
  // The service id belongs to a person for good; a number can change hands, and anybody can choose any name (CH-01).
  const sender = asText(envelope.sourceUuid) ?? asText(envelope.sourceNumber);
  const timestamp = asNumber(envelope.timestamp);
  if (!sender || timestamp === undefined || asText(envelope.sourceNumber) === number) return undefined;
  const edit = asObject(envelope.editMessage);
  const data = asObject(edit.dataMessage ?? envelope.dataMessage);
  const group = asText(asObject(data.groupInfo).groupId);
  const name = asText(envelope.sourceName);
  const base = {
    id: `${sender}:${timestamp}`,
    at: timestamp,
    chat: group ? { id: group, kind: "group" as const } : { id: sender, kind: "direct" as const },
    sender: { id: sender, ...truthy({ name }) },
  };
  const reaction = asObject(data.reaction);
  const emoji = asText(reaction.emoji);
  if (emoji) {
    const message = messageId(reaction, "targetSentTimestamp", "targetAuthor", number);
    const removed = reaction.isRemove === true ? { removed: true } : {};
    return message ? { event: { ...base, kind: "reaction", message, emoji, ...removed }, files: [] } : undefined;
  }
  // Signal lets people delete their own messages only; an admin's deletion for others comes in another form.
  const deleted = asNumber(asObject(data.remoteDelete).timestamp);
  if (deleted !== undefined) return { event: { ...base, kind: "delete", message: `${sender}:${deleted}` }, files: [] };
  const { text, mentioned } = readText(data, number);
  const quote = readQuote(data, number);
  const addressed = !group || mentioned || quote?.isMine === true;
  const target = asNumber(edit.targetSentTimestamp);
  if (target !== undefined) {
    return { event: { ...base, kind: "edit", message: `${sender}:${target}`, text, addressed }, files: [] };
  }
  const files = asList(data.attachments).map(asObject).flatMap(readFile);
  if (!text && !files.length) return undefined;
  const quoted = quote ? { quote: { ...truthy({ sender: quote.sender }), text: quote.text } } : {};
  const voice = !text && files.some(isVoiceNote) ? { voice: "recorded" as const } : {};
  return { event: { ...base, kind: "message", text, addressed, ...quoted, ...voice }, files };
}

/** signal-cli doesn't say which sound is a voice note; those are the ones without a name. */
function isVoiceNote({ name, mediaType }: SignalFile): boolean {
  return name === undefined && mediaType?.startsWith("audio/") === true;
}

/** Our own messages are known by their timestamp, others by author and timestamp. */
function messageId(raw: Record<string, unknown>, at: string, author: string, number: string): string | undefined {
  const timestamp = asNumber(raw[at]);
  if (timestamp === undefined) return undefined;
  if (asText(raw[`${author}Number`]) === number || asText(raw[author]) === number) return String(timestamp);
  return `${asText(raw[`${author}Uuid`]) ?? asText(raw[author])}:${timestamp}`;
}

function readText(data: Record<string, unknown>, number: string): { text: string; mentioned: boolean } {
  let text = asText(data.message) ?? "";
  let mentioned = false;
  // From the end, so that the positions before stay right.
  const mentions = asList(data.mentions).map(asObject);
  mentions.sort((a, b) => (asNumber(b.start) ?? 0) - (asNumber(a.start) ?? 0));
  for (const one of mentions) {
    const isMe = asText(one.number) === number;
    mentioned ||= isMe;
    const start = asNumber(one.start) ?? 0;
    const end = start + (asNumber(one.length) ?? 1);
    text =
      text.slice(0, start) + (isMe ? "" : `@${asText(one.name) ?? asText(one.number) ?? "someone"}`) + text.slice(end);
  }
  return { text: text.replaceAll(PLACEHOLDER, "").trim(), mentioned };
}

function readQuote(data: Record<string, unknown>, number: string) {
  const quote = asObject(data.quote);
  const text = asText(quote.text);
  if (text === undefined) return undefined;
  const isMine = asText(quote.authorNumber) === number || asText(quote.author) === number;
  return { isMine, text, sender: isMine ? undefined : (asText(quote.authorUuid) ?? asText(quote.author)) };
}

function readFile(raw: Record<string, unknown>): SignalFile[] {
  const id = asText(raw.id);
  if (!id) return [];
  const [name, mediaType, bytes] = [asText(raw.filename), asText(raw.contentType), asNumber(raw.size)];
  return [{ id, ...truthy({ name, mediaType, bytes }) }];
}
