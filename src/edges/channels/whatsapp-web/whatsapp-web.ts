/**
 * WhatsApp as a linked device, by Baileys. EXPERIMENTAL: the library is unofficial, and Meta may block the number.
 *
 * In: Baileys sends the delivery receipt before it hands a message on (its messages-recv.js). What it hands on is written down at
 * once (spool.ts), but what is between that receipt and the write when the power goes is lost; what came while we were away is
 * delivered when we are back.
 * Out: the message id is made from the key, so a repeated message has the same id; but an unknown outcome is not repeated.
 */
import { createHash } from "node:crypto";
import {
  type Channel,
  type Door,
  type Outgoing,
  type Placed,
  type PlatformEvent,
  SendUncertain,
} from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import type { AdapterParts } from "../account.ts";
import { Lines } from "../lines.ts";
import { refused, sendInOrder } from "../sending.ts";
import { Spool, type Spooled } from "../spool.ts";
import { fromBaileys } from "./baileys.ts";
import type { WhatsAppWebAccount } from "./config.ts";
import { fromJson, loadCredentials, toJson } from "./credentials.ts";
import { mapMessage, readFile } from "./events.ts";
import type { ConnectionUpdate, Library, Socket, WebMessage } from "./library.ts";

/** Baileys' DisconnectReason. */
const LOGGED_OUT = 401;

export function create(parts: AdapterParts<WhatsAppWebAccount>): Channel {
  const { account, config, log } = parts;
  const library = async () => fromBaileys(await parts.library("@whiskeysockets/baileys"));
  let socket: Socket | undefined;

  async function run(door: Door, signal: AbortSignal): Promise<void> {
    const lib = await library();
    const stored = await loadCredentials(door, lib);
    const { creds, keys } = stored;
    const live = lib.connect({ auth: { creds, keys }, browser: ["Lares", "Chrome", "1.0"] });
    const { spool, left } = await Spool.open(door);
    const read = (message: WebMessage) =>
      door.read({ kind: "message", id: message.key?.id ?? undefined, value: message.key }, () =>
        toEvent(message, live, lib),
      );
    const take = (one: Spooled & { written?: Promise<void> }) => {
      const event = read(fromJson(one.value) as WebMessage);
      if (!event) return void lines.push("", () => one.done());
      void lines.push(event.chat.id, async () => {
        await one.written;
        await door.hear([event]);
        await one.done();
      });
    };
    let fail = (_: unknown) => {};
    // One chat after another, in the order the library says them; the first failure ends the connection.
    const lines = new Lines((error) => fail(error));
    let saved = Promise.resolve();
    try {
      await new Promise<void>((_, reject) => {
        fail = reject;
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        live.ev.on("creds.update", (changed) => {
          Object.assign(creds, changed);
          saved = lines.push("", () => stored.save());
        });
        live.ev.on("connection.update", (update) => {
          if (update.connection === "open") {
            socket = live;
            door.alive();
            for (const one of left.splice(0)) take(one);
            door.known(live.user?.name ?? live.user?.id ?? config.number);
          }
          if (update.qr && !creds.registered) void lines.push("link", () => askForLink(live, door));
          if (update.connection === "close") reject(closed(update));
        });
        live.ev.on("messages.upsert", ({ messages }) => {
          door.alive();
          for (const message of messages) {
            if (read(message)) void spool.put(toJson(message)).then(take, reject);
          }
        });
      });
    } finally {
      socket = undefined;
      // Keys that changed are kept, whatever ended the connection.
      await saved;
      lines.end();
      live.end(undefined);
    }
  }

  /** The number's owner types this code on the phone: Linked devices, Link with phone number. */
  async function askForLink(live: Socket, door: Door): Promise<void> {
    const code = await live.requestPairingCode(config.number.slice(1));
    door.known(`not linked yet; on the phone: Linked devices, Link with phone number, ${code}`);
  }

  function toEvent(message: WebMessage, live: Socket, lib: Library): PlatformEvent | undefined {
    const event = mapMessage(message, { id: live.user?.id ?? "", lid: live.user?.lid });
    const file = event?.kind === "message" ? readFile(message) : undefined;
    if (file && event?.kind === "message") event.files = [{ ...file, open: () => lib.download(message, live) }];
    return event;
  }

  async function put(jid: string, content: Record<string, unknown>, key?: string): Promise<string | null> {
    if (!socket) throw refused("WhatsApp is not connected.", "later");
    try {
      const sent = await socket.sendMessage(jid, content, key ? { messageId: makeId(key) } : {});
      return sent?.key.id ?? null;
    } catch (cause) {
      throw new SendUncertain("WhatsApp did not confirm the message.", { cause });
    }
  }

  async function contents(message: Outgoing): Promise<Record<string, unknown>[]> {
    const files = await Promise.all(
      (message.files ?? []).map(async (file) => {
        const data = Buffer.from(await file.read());
        if (/^image\/(jpeg|png)$/.test(file.mediaType)) return { image: data, mimetype: file.mediaType };
        return { document: data, mimetype: file.mediaType, fileName: file.name };
      }),
    );
    return [...(message.text || !files.length ? [{ text: message.text }] : []), ...files];
  }

  return {
    name: "whatsapp-web",
    account,
    run,
    async check() {
      await library();
      const note =
        "EXPERIMENTAL and unofficial: Meta may block the number. The code to link it is in the account's status.";
      return { id: config.number, name: config.number, note };
    },

    async send(message) {
      const calls = (await contents(message)).map(
        (content, i) => () => put(message.route.chat, content, `${message.key} ${i}`),
      );
      return sendInOrder(calls, "WhatsApp");
    },

    async edit(at, message) {
      await put(at.route.chat, { text: message.text, edit: ownKey(at) });
    },

    async remove(at) {
      await put(at.route.chat, { delete: ownKey(at) });
    },

    async react(at, emoji) {
      await put(at.route.chat, { react: { text: emoji, key: { ...ownKey(at), fromMe: false } } });
    },

    async unreact(at) {
      await put(at.route.chat, { react: { text: "", key: { ...ownKey(at), fromMe: false } } });
    },

    async typing(route) {
      await socket?.sendPresenceUpdate("composing", route.chat).catch(() => log.debug("no typing sign"));
    },
  };
}

function closed(update: ConnectionUpdate): Error {
  const error = update.lastDisconnect?.error;
  if (error?.output?.statusCode === LOGGED_OUT) {
    return new AppError("CHANNEL_SEND", {
      message: "WhatsApp has unlinked this device.",
      hint: "Remove the account and add it again to link it anew: lares channels remove whatsapp-web",
      retry: "after-change",
    });
  }
  return new Error(`WhatsApp closed the connection${error?.message ? `: ${error.message}` : ""}.`);
}

function ownKey(at: Placed): { remoteJid: string; id: string; fromMe: boolean } {
  return { remoteJid: at.route.chat, id: at.platformId, fromMe: true };
}

/** In the form WhatsApp's own clients give. */
function makeId(key: string): string {
  return `3EB0${createHash("sha256").update(key).digest("hex").slice(0, 18).toUpperCase()}`;
}
