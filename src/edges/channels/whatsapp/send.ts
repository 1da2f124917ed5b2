/** What leaves for WhatsApp: text, files, buttons and reactions. Never repeated here (CHANNEL-2). */
import type { Button, Outgoing, Placed } from "../../../core/contracts/index.ts";
import type { ReplyRoute } from "../../../core/domain/index.ts";
import { sendInOrder } from "../sending.ts";
import type { Graph } from "./api.ts";
import type { WhatsAppState } from "./state.ts";

/** Meta's limit for the text of a message with buttons, and for a caption. */
const MOST_WITH_BUTTONS = 1024;
/** Meta's limit for a button's label. */
const MOST_LABEL = 20;
/** How long a status is waited for: Meta sends it within seconds, and again when we were away. */
const STATUS_PATIENCE_MS = 10_000;

export async function send(
  { graph }: WhatsAppState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
  const calls = (await toPieces(graph, message, signal)).map((piece) => {
    const whole = { ...toRecipient(message.route), ...piece, biz_opaque_callback_data: message.key };
    return () => graph.message(whole, signal);
  });
  return sendInOrder(calls, "WhatsApp");
}

/** By a status event. Never null: without one, nobody can tell that the message wasn't taken. */
export function find({ receipts }: WhatsAppState, message: Outgoing, signal: AbortSignal): Promise<string | undefined> {
  return receipts.find(message.key, STATUS_PATIENCE_MS, signal);
}

/** An empty emoji takes our reaction back. */
export async function react({ graph }: WhatsAppState, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
  const reaction = { message_id: at.platformId, emoji };
  await graph.message({ ...toRecipient(at.route), type: "reaction", reaction }, signal);
}

/** Meta knows it only together with marking a message as read. */
export async function typing(
  { graph, lastMessages }: WhatsAppState,
  route: ReplyRoute,
  signal: AbortSignal,
): Promise<void> {
  const message = lastMessages.get(route.chat);
  if (!message) return;
  await graph.message({ status: "read", message_id: message, typing_indicator: { type: "text" } }, signal);
}

function toRecipient({ chat }: ReplyRoute): Record<string, unknown> {
  return { recipient_type: "individual", to: chat };
}

/** The messages that one of ours becomes, in order: Meta has no text with files and no long text with buttons. */
async function toPieces(graph: Graph, message: Outgoing, signal: AbortSignal): Promise<Record<string, unknown>[]> {
  const { text, buttons = [], files = [] } = message;
  const pieces: Record<string, unknown>[] = [];
  const fits = text.length <= MOST_WITH_BUTTONS;
  const isCaption = files.length === 1 && !buttons.length && fits && canCaption(files[0]!.mediaType);
  if (text && !isCaption && !(buttons.length && fits)) pieces.push({ type: "text", text: { body: text } });
  for (const file of files) {
    const id = await graph.upload({ ...file, data: await file.read() }, signal);
    const type = toMediaKind(file.mediaType);
    const caption = isCaption && text ? { caption: text } : {};
    pieces.push({ type, [type]: { id, ...(type === "document" ? { filename: file.name } : {}), ...caption } });
  }
  if (buttons.length) pieces.push(toQuestion(fits && text ? text : "Your answer?", buttons));
  return pieces;
}

function toQuestion(text: string, buttons: readonly Button[]): Record<string, unknown> {
  const action = {
    buttons: buttons.map(({ id, label }) => ({ type: "reply", reply: { id, title: shorten(label) } })),
  };
  return { type: "interactive", interactive: { type: "button", body: { text }, action } };
}

function toMediaKind(mediaType: string): "image" | "video" | "audio" | "document" {
  if (/^image\/(jpeg|png)$/.test(mediaType)) return "image";
  if (/^video\/(mp4|3gpp)$/.test(mediaType)) return "video";
  if (/^audio\/(aac|mp4|mpeg|amr|ogg)$/.test(mediaType)) return "audio";
  return "document";
}

function canCaption(mediaType: string): boolean {
  return toMediaKind(mediaType) !== "audio";
}

function shorten(label: string): string {
  const characters = [...label];
  return characters.length <= MOST_LABEL ? label : `${characters.slice(0, MOST_LABEL - 1).join("")}…`;
}
