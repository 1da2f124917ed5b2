/**
 * WhatsApp by Meta's Cloud API: events come to a webhook, messages go to the Graph API.
 *
 * In: Meta repeats an event until it is answered with 200, and that answer leaves after the commit. Events are signed over the
 * raw body with the app's secret; nothing is parsed before the signature is checked.
 * Out: there is no idempotency key, so an unknown outcome is not repeated. Every message carries its key as
 * `biz_opaque_callback_data`, which Meta says again in the message's status events: from them an unknown send is known to have
 * been taken, and a message that was taken is known to have failed after all.
 * It has no edits; buttons are at most three.
 */
import { createHmac } from "node:crypto";
import type {
  Channel,
  ChannelAnswer,
  ChannelRequest,
  Door,
  Outgoing,
  Placed,
  PlatformEvent,
} from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { isSameSecret } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { parseBody } from "../incoming.ts";
import { byChat } from "../lines.ts";
import { RecentMap } from "../recent.ts";
import { sendInOrder } from "../sending.ts";
import { Graph } from "./api.ts";
import type { WhatsAppAccount } from "./config.ts";
import { mapBody, type WhatsAppMapped } from "./events.ts";
import { Receipts } from "./receipts.ts";

/** A message with buttons, and a caption, may have this many characters. */
const MOST_WITH_BUTTONS = 1024;
const MOST_BUTTON = 20;
const MOST_CHATS = 2000;
/** How long a status is waited for: Meta says it within seconds, and again when we were away. */
const STATUS_PATIENCE_MS = 10_000;

export function create({ account, config }: AdapterParts<WhatsAppAccount>): Channel {
  const graph = new Graph(config);
  /** The last message of each chat: the typing sign hangs on it. */
  const last = new RecentMap<string>(MOST_CHATS);
  const receipts = new Receipts();

  async function receive(request: ChannelRequest, door: Door): Promise<ChannelAnswer> {
    if (request.method === "GET") return challenge(request);
    verify(request);
    const body = parseBody(request.body);
    const read = door.read({ kind: "body", id: undefined, value: body }, () => mapBody(body, config.phoneNumberId));
    // Answered as taken: Meta would send it again for days.
    if (!read) return { status: 200, body: "" };
    const { events, statuses, unreadable } = read;
    for (const { kind, id } of unreadable) door.unreadable(kind, id);
    for (const { key, message, state, code, why } of statuses) {
      if (!key) continue;
      if (state !== "failed") receipts.learn(key, message);
      else await door.undelivered(key, `WhatsApp could not deliver it: ${why ?? "no reason"} (${code ?? "?"}).`);
    }
    if (events.length) {
      // A slow file holds up its own chat and no other.
      await Promise.all(byChat(events.map(withFiles)).map((line) => door.hear(line)));
      for (const { event } of events) last.set(event.chat.id, event.id);
    }
    door.alive();
    return { status: 200, body: "" };
  }

  function withFiles({ event, media }: WhatsAppMapped): PlatformEvent {
    if (!media || event.kind !== "message") return event;
    const { id, ...about } = media;
    return { ...event, files: [{ ...about, open: (signal) => graph.download(id, signal) }] };
  }

  /** Meta asks once, when the webhook is set up, whether this address is meant. */
  function challenge({ query }: ChannelRequest): ChannelAnswer {
    const isMeant =
      query["hub.mode"] === "subscribe" && isSameSecret(query["hub.verify_token"] ?? "", config.verifyToken);
    if (!isMeant) throw unauthorized("The verify token is another one.");
    return { status: 200, body: query["hub.challenge"] ?? "", headers: { "content-type": "text/plain" } };
  }

  const knock: Channel["knock"] = ({ method, headers }) => {
    if (method === "POST" && !headers["x-hub-signature-256"]) throw unauthorized("The signature is missing.");
  };

  function verify({ headers, body }: ChannelRequest): void {
    const expected = `sha256=${createHmac("sha256", config.appSecret).update(body).digest("hex")}`;
    if (!isSameSecret(headers["x-hub-signature-256"] ?? "", expected)) throw unauthorized("The signature is wrong.");
  }

  /** The messages one of ours becomes, in order: Meta has no text with files and no long text with buttons. */
  async function pieces(message: Outgoing, signal: AbortSignal): Promise<Record<string, unknown>[]> {
    const { text, buttons = [], files = [] } = message;
    const list: Record<string, unknown>[] = [];
    const fits = text.length <= MOST_WITH_BUTTONS;
    const captioned = files.length === 1 && !buttons.length && fits && canCaption(files[0]!.mediaType);
    if (text && !captioned && !(buttons.length && fits)) list.push({ type: "text", text: { body: text } });
    for (const file of files) {
      const id = await graph.upload({ ...file, data: await file.read() }, signal);
      const type = toMediaKind(file.mediaType);
      const caption = captioned && text ? { caption: text } : {};
      list.push({ type, [type]: { id, ...(type === "document" ? { filename: file.name } : {}), ...caption } });
    }
    if (buttons.length) {
      const body = { text: fits && text ? text : "Your answer?" };
      const action = {
        buttons: buttons.map(({ id, label }) => ({ type: "reply", reply: { id, title: short(label) } })),
      };
      list.push({ type: "interactive", interactive: { type: "button", body, action } });
    }
    return list;
  }

  async function reaction(at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
    const reaction = { message_id: at.platformId, emoji };
    await graph.message({ recipient_type: "individual", to: at.route.chat, type: "reaction", reaction }, signal);
  }

  return {
    name: "whatsapp",
    account,
    knock,
    receive,
    async check(signal) {
      const { number, name } = await graph.number(signal);
      return { id: config.phoneNumberId, name: `${name} (${number})`, note: `Events: /channels/whatsapp/${account}` };
    },

    async send(message, signal) {
      const to = { recipient_type: "individual", to: message.route.chat };
      const calls = (await pieces(message, signal)).map((piece) => {
        const whole = { ...to, ...piece, biz_opaque_callback_data: message.key };
        return () => graph.message(whole, signal);
      });
      return sendInOrder(calls, "WhatsApp");
    },

    // Nobody can tell that it was not taken: without a status it stays unknown.
    find: (message, signal) => receipts.find(message.key, STATUS_PATIENCE_MS, signal),

    react: (at, emoji, signal) => reaction(at, emoji, signal),
    // An empty one takes ours back.
    unreact: (at, _emoji, signal) => reaction(at, "", signal),

    async typing(route, signal) {
      const message = last.get(route.chat);
      if (message)
        await graph.message({ status: "read", message_id: message, typing_indicator: { type: "text" } }, signal);
    },
  };
}

function unauthorized(message: string): AppError {
  const hint = "App secret and verify token must be those of the app at Meta.";
  return new AppError("UNAUTHORIZED", { message, hint });
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

function short(label: string): string {
  const signs = [...label];
  return signs.length <= MOST_BUTTON ? label : `${signs.slice(0, MOST_BUTTON - 1).join("")}…`;
}
