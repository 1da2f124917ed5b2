/** What leaves for WhatsApp by the open connection. Never repeated here (CHANNEL-2). */
import { createHash } from "node:crypto";
import { type Outgoing, type Placed, SendUncertain } from "../../../core/contracts/index.ts";
import type { ReplyRoute } from "../../../core/domain/index.ts";
import { refused, sendInOrder } from "../sending.ts";
import type { WhatsAppWebState } from "./state.ts";

type Content = Record<string, unknown>;

export async function send(state: WhatsAppWebState, message: Outgoing): Promise<{ platformId: string | null }> {
  const calls = (await toContents(message)).map(
    (content, i) => () => put(state, message.route, content, `${message.key} ${i}`),
  );
  return sendInOrder(calls, "WhatsApp");
}

export async function edit(state: WhatsAppWebState, at: Placed, message: Outgoing): Promise<void> {
  await put(state, at.route, { text: message.text, edit: toOwnKey(at) });
}

export async function remove(state: WhatsAppWebState, at: Placed): Promise<void> {
  await put(state, at.route, { delete: toOwnKey(at) });
}

/** An empty emoji takes our reaction back. */
export async function react(state: WhatsAppWebState, at: Placed, emoji: string): Promise<void> {
  await put(state, at.route, { react: { text: emoji, key: { ...toOwnKey(at), fromMe: false } } });
}

export async function typing({ socket, log }: WhatsAppWebState, route: ReplyRoute): Promise<void> {
  await socket?.sendPresenceUpdate("composing", route.chat).catch(() => log.debug("typing could not be shown"));
}

async function put(
  { socket }: WhatsAppWebState,
  route: ReplyRoute,
  content: Content,
  key?: string,
): Promise<string | null> {
  if (!socket) throw refused("WhatsApp is not connected.", "later");
  try {
    const sent = await socket.sendMessage(route.chat, content, key ? { messageId: makeId(key) } : {});
    return sent?.key.id ?? null;
  } catch (cause) {
    throw new SendUncertain("WhatsApp did not confirm the message.", { cause });
  }
}

async function toContents(message: Outgoing): Promise<Content[]> {
  const files = await Promise.all(
    (message.files ?? []).map(async (file) => {
      const data = Buffer.from(await file.read());
      if (/^image\/(jpeg|png)$/.test(file.mediaType)) return { image: data, mimetype: file.mediaType };
      return { document: data, mimetype: file.mediaType, fileName: file.name };
    }),
  );
  return [...(message.text || !files.length ? [{ text: message.text }] : []), ...files];
}

function toOwnKey(at: Placed): { remoteJid: string; id: string; fromMe: boolean } {
  return { remoteJid: at.route.chat, id: at.platformId, fromMe: true };
}

/** In the form that WhatsApp's own clients use. */
function makeId(key: string): string {
  return `3EB0${createHash("sha256").update(key).digest("hex").slice(0, 18).toUpperCase()}`;
}
