/**
 * A FAKE of WhatsApp as a linked device sees it through Baileys: a server that a stand-in for the library (library.mjs) talks to. It
 * is not WhatsApp and proves nothing about it; it keeps these of its semantics:
 *
 * - what is sent to the device while it is away is delivered when it connects; a message counts as delivered when its receipt came,
 *   and the library sends that before it hands the message on.
 * - `sendMessage` resolves when the server has the message. Whether a second message with the same id is shown is not known of
 *   WhatsApp; here it is shown.
 * - edits, reactions (an empty text takes one back), presence, documents and pictures; mentions by number in `contextInfo`.
 * NOT COVERED: encryption, keys, linking a device, and everything WhatsApp may refuse.
 *
 * Acknowledgement: the receipt; what has none is delivered on the next connection.
 *
 * Documentation: https://baileys.wiki/concepts/events
 * Documentation: https://www.mintlify.com/whiskeysockets/baileys/receiving/event-handling
 */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

type Loose = Record<string, unknown>;
type Bytes = { $bytes: string };

export interface WebShown {
  jid: string;
  id: string;
  text: string;
  file?: { name: string; bytes: Buffer };
}

export interface BaileysFake {
  shown: WebShown[];
  /** Every reaction the device set, in order; an empty one takes the last back. */
  reactions: { target: string; emoji: string }[];
  composed: number;
  connections: number;
  /** Puts the stand-in for the library where Lares looks for the package. */
  install(home: string): void;
  /** Somebody writes; the message's id. */
  say(chat: string, from: { id: string; name: string }, content: Loose, file?: Buffer): string;
  /** The next file that arrives is neither taken nor answered. */
  holdFile(): () => boolean;
  close(): Promise<void>;
}

const SELF = { id: "15550000001:7@s.whatsapp.net", lid: "99900001:7@lid", name: "Lares" };
/** What a person's app writes to mention the device. */
export const MENTION = { text: "@15550000001", jid: "15550000001@s.whatsapp.net" };

export async function startBaileysFake(): Promise<BaileysFake> {
  const undelivered = new Map<string, Loose>();
  const media = new Map<string, Buffer>();
  const open = new Set<Socket>();
  let messages = 0;
  let held: { arrived: boolean } | undefined;
  const write = (socket: Socket, frame: object) => void socket.write(`${JSON.stringify(frame)}\n`);

  const server = createServer((socket) => {
    open.add(socket);
    fake.connections = open.size;
    socket.on("error", () => {});
    socket.on("close", () => {
      open.delete(socket);
      fake.connections = open.size;
    });
    // A killed program resets the connection; the lines say so as well as the socket.
    createInterface({ input: socket })
      .on("line", (line) => take(socket, JSON.parse(line) as Loose))
      .on("error", () => {});
    write(socket, { open: SELF });
    for (const message of undelivered.values()) write(socket, { message });
  });

  function take(socket: Socket, frame: Loose): void {
    if (typeof frame.receipt === "string") return void undelivered.delete(frame.receipt);
    const [first, content, id] = frame.given as [string, Loose, string | undefined];
    if (frame.call === "media") {
      write(socket, { n: frame.n, result: media.get(first)?.toString("base64") ?? "" });
      return;
    }
    if (frame.call === "presence") fake.composed++;
    if (frame.call === "send") {
      if (held && !held.arrived && (content.document || content.image)) {
        held.arrived = true;
        return;
      }
      put(first, content, id ?? `made-${++messages}`);
    }
    write(socket, { n: frame.n, result: { key: { id } } });
  }

  function put(jid: string, content: Loose, id: string): void {
    const { react, edit } = content as { react?: { text: string; key: { id: string } }; edit?: { id: string } };
    if (react) return void fake.reactions.push({ target: react.key.id, emoji: react.text });
    const text = typeof content.text === "string" ? content.text : "";
    const before = edit && fake.shown.find((one) => one.id === edit.id);
    if (before) return void Object.assign(before, { text });
    const bytes = (content.document ?? content.image) as Bytes | undefined;
    const name = typeof content.fileName === "string" ? content.fileName : "";
    const file = bytes ? { file: { name, bytes: Buffer.from(bytes.$bytes, "base64") } } : {};
    fake.shown.push({ jid, id, text, ...file });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const fake: BaileysFake = {
    shown: [],
    reactions: [],
    composed: 0,
    connections: 0,
    install(home) {
      const dir = join(home, "packages/node_modules/@whiskeysockets/baileys");
      mkdirSync(dir, { recursive: true });
      copyFileSync(fileURLToPath(new URL("library.mjs", import.meta.url)), join(dir, "library.mjs"));
      writeFileSync(join(dir, "port.json"), JSON.stringify({ port: (server.address() as AddressInfo).port }));
      const about = {
        name: "@whiskeysockets/baileys",
        version: "0.0.0-fake",
        type: "module",
        exports: "./library.mjs",
      };
      writeFileSync(join(dir, "package.json"), JSON.stringify(about));
      // As `lares channels add` leaves it.
      writeFileSync(join(home, "packages/load.mjs"), "export const load = (name) => import(name);\n");
    },
    say(chat, from, content, file) {
      const id = `W${++messages}`;
      if (file) media.set(id, file);
      const isGroup = chat.endsWith("@g.us");
      const message = {
        key: { id, fromMe: false, remoteJid: chat, ...(isGroup ? { participant: from.id } : {}) },
        messageTimestamp: Math.floor(Date.now() / 1000),
        pushName: from.name,
        message: content,
      };
      undelivered.set(id, message);
      for (const socket of open) write(socket, { message });
      return id;
    },
    holdFile() {
      const mine = { arrived: false };
      held = mine;
      return () => mine.arrived;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}
