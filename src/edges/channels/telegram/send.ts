/** What leaves for Telegram: text as its HTML, buttons, files, reactions. One call each, never repeated here (CHANNEL-2). */
import type { Outgoing, OutgoingFile, Placed } from "../../../core/contracts/index.ts";
import type { JsonObject, ReplyRoute } from "../../../core/domain/index.ts";
import { sendInOrder } from "../sending.ts";
import { type TelegramApi, TelegramRefusal } from "./api.ts";

/** Of a file's caption, in Telegram; longer text goes before the file as a message of its own. */
const MOST_CAPTION = 1024;
/** What Telegram shows as a picture; its limit for those is 10 MB. */
const PICTURE = /^image\/(png|jpeg|webp)$/;
const MOST_PICTURE = 10 * 1024 * 1024;

interface Sent {
  message_id?: number;
}

export class TelegramMessages {
  private readonly api: TelegramApi;

  constructor(api: TelegramApi) {
    this.api = api;
  }

  async send(message: Outgoing, signal: AbortSignal): Promise<{ platformId: string | null }> {
    const files = [...(message.files ?? [])];
    const fitsCaption = files.length > 0 && message.text.length <= MOST_CAPTION && !message.buttons?.length;
    const calls: (() => Promise<Sent>)[] = [];
    if (fitsCaption) {
      const first = files.shift()!;
      calls.push(() => this.file(message, first, true, signal));
    } else if (message.text) {
      calls.push(() => this.put("sendMessage", message, "text", signal));
    }
    for (const file of files) calls.push(() => this.file(message, file, false, signal));
    return sendInOrder(
      calls.map((call) => async () => readId(await call())),
      "Telegram",
    );
  }

  async edit(at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
    try {
      await this.put("editMessageText", message, "text", signal, { message_id: Number(at.platformId) });
    } catch (error) {
      if (error instanceof TelegramRefusal && /message is not modified/.test(error.said)) return;
      throw error;
    }
  }

  async remove(at: Placed, signal: AbortSignal): Promise<void> {
    await this.api.call("deleteMessage", { chat_id: at.route.chat, message_id: Number(at.platformId) }, signal);
  }

  async react(at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
    await this.setReactions(at, [{ type: "emoji", emoji }], signal);
  }

  /** A bot has one reaction on a message; an empty list is none. */
  async unreact(at: Placed, _emoji: string, signal: AbortSignal): Promise<void> {
    await this.setReactions(at, [], signal);
  }

  private async setReactions(at: Placed, reaction: JsonObject[], signal: AbortSignal): Promise<void> {
    const params = { chat_id: at.route.chat, message_id: Number(at.platformId), reaction };
    await this.api.call("setMessageReaction", params, signal);
  }

  async typing(route: ReplyRoute, signal: AbortSignal): Promise<void> {
    await this.api.call("sendChatAction", { ...placing(route), action: "typing" }, signal);
  }

  private file(message: Outgoing, file: OutgoingFile, withText: boolean, signal: AbortSignal): Promise<Sent> {
    const isPicture = PICTURE.test(file.mediaType) && file.bytes <= MOST_PICTURE;
    const [method, field] = isPicture ? ["sendPhoto", "photo"] : ["sendDocument", "document"];
    const options = { file: { field: field!, file }, patienceMs: 120_000 };
    if (withText && message.text) return this.put(method!, message, "caption", signal, {}, options);
    return this.api.call(method!, placing(message.route), signal, options);
  }

  /** With its HTML; where Telegram cannot read that, the same words plainly; where the group moved, at its new place. */
  private async put(
    method: string,
    message: Outgoing,
    field: "text" | "caption",
    signal: AbortSignal,
    more: JsonObject = {},
    options: Parameters<TelegramApi["call"]>[3] = {},
  ): Promise<Sent> {
    // Telegram's HTML has no tag for a line's end.
    const html = message.html?.replace(/<br\s*\/?>/g, "\n");
    const rich: JsonObject = html === undefined ? {} : { [field]: html, parse_mode: "HTML" };
    const params: JsonObject = {
      ...placing(message.route),
      [field]: message.text,
      ...rich,
      ...keyboard(message),
      ...more,
    };
    try {
      return await this.api.call(method, params, signal, options);
    } catch (error) {
      if (!(error instanceof TelegramRefusal)) throw error;
      if (error.movedTo) return this.api.call(method, { ...params, chat_id: error.movedTo }, signal, options);
      if (!/can't parse entities/.test(error.said) || message.html === undefined) throw error;
      const { parse_mode: _, ...plain } = { ...params, [field]: message.text };
      return this.api.call(method, plain, signal, options);
    }
  }
}

function readId({ message_id }: Sent): string | null {
  return message_id === undefined ? null : String(message_id);
}

function placing({ chat, thread }: ReplyRoute): JsonObject {
  return { chat_id: chat, ...(thread ? { message_thread_id: Number(thread) } : {}) };
}

function keyboard({ buttons }: Outgoing): JsonObject {
  if (!buttons?.length) return {};
  const row = buttons.map(({ id, label }) => ({ text: label, callback_data: id }));
  return { reply_markup: { inline_keyboard: [row] } };
}
