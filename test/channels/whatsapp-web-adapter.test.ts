/**
 * WhatsApp Web (experimental): what can be tested honestly without Meta. A FAKE SOCKET OBJECT stands in for Baileys' one, so this
 * shows how its events become ours and that a linked device's keys survive; not that WhatsApp takes what we send.
 */

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Channel, PlatformEvent } from "../../src/core/contracts/index.ts";
import { ADAPTERS, configured, Libraries } from "../../src/edges/channels/index.ts";
import { create } from "../../src/edges/channels/whatsapp-web/whatsapp-web.ts";
import { scratch, until } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";
import { bytes, MemoryDoor, message, now, type Running, run, thrown } from "./memory-door.ts";

type Listener = (value: never) => void;

/** The shape of Baileys' socket, and nothing behind it. */
class FakeSocket {
  user = { id: "15550000001:7@s.whatsapp.net", lid: "99900001:7@lid", name: "Lares" };
  sent: { jid: string; content: Record<string, unknown>; id: string | undefined }[] = [];
  ended = false;
  broken = false;
  private readonly listeners = new Map<string, Listener[]>();
  readonly options: { auth: { creds: Record<string, unknown>; keys: Keys } };
  constructor(options: FakeSocket["options"]) {
    this.options = options;
  }
  ev = {
    on: (event: string, listener: Listener) =>
      void this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]),
  };
  emit(event: string, value: unknown): void {
    for (const listener of this.listeners.get(event) ?? []) listener(pretend(value));
  }
  async sendMessage(jid: string, content: Record<string, unknown>, options: { messageId?: string } = {}) {
    if (this.broken) throw new Error("Connection Closed");
    this.sent.push({ jid, content, id: options.messageId });
    return { key: { id: options.messageId ?? "made-by-library" } };
  }
  async sendPresenceUpdate(): Promise<void> {}
  requestPairingCode = async () => "ABCD-EFGH";
  end(): void {
    this.ended = true;
  }
}
interface Keys {
  get(type: string, ids: string[]): Promise<Record<string, unknown>>;
  set(data: Record<string, Record<string, unknown>>): Promise<void>;
}

const ANN = "15550001001@s.whatsapp.net";
const TOWN = "120363000000000000@g.us";
let sockets: FakeSocket[];
let door: MemoryDoor;
let channel: Channel;
let life: Running | undefined;

beforeEach(() => {
  sockets = [];
  door = new MemoryDoor();
  const entry = ADAPTERS["whatsapp-web"]!;
  const config = pretend<Parameters<typeof create>[0]["config"]>(entry.config.parse({ number: "+15550000001" }));
  channel = create({
    account: "main",
    config,
    can: entry.can(config),
    clock: pretend({}),
    log: pretend({ debug() {} }),
    folder: () => "",
    // What the module of Baileys exports, as far as we use it.
    library: async () =>
      pretend({
        makeWASocket: (options: FakeSocket["options"]) => {
          const socket = new FakeSocket(options);
          sockets.push(socket);
          return socket;
        },
        initAuthCreds: () => ({ registered: false, noiseKey: { private: Buffer.from([1, 2, 255]) } }),
        proto: { Message: { AppStateSyncKeyData: { fromObject: (value: object) => ({ revived: value }) } } },
        downloadMediaMessage: async () =>
          (async function* () {
            yield Buffer.from("file");
          })(),
      }),
  });
});
afterEach(() => life?.stop());

async function connect(): Promise<FakeSocket> {
  const before = sockets.length;
  life = run(channel, door);
  const socket = await until("a socket", () => sockets[before]);
  socket.emit("connection.update", { connection: "open" });
  return socket;
}
const say = (socket: FakeSocket, ...messages: object[]) => socket.emit("messages.upsert", { messages, type: "notify" });
const from = (id: string, body: object, key: object = { remoteJid: ANN }) => ({
  key: { id, fromMe: false, ...key },
  messageTimestamp: 1_700_000_000,
  pushName: "Ann",
  message: body,
});

describe("keys", () => {
  it("are durable before the library goes on, and the same after another life, byte for byte", async () => {
    const socket = await connect();
    const { creds, keys } = socket.options.auth;
    socket.emit("creds.update", { registered: true, me: { id: "x" } });
    await keys.set({ "app-state-sync-key": { a: { keyData: Buffer.from("d") } } });
    await keys.set({
      session: { "1.0": new Uint8Array([0, 128, 255]) },
      "pre-key": { 5: { private: Buffer.from("k") } },
    });
    await keys.set({ "pre-key": { 5: pretend(null), 6: { private: Buffer.from("six") } } });
    await until("the credentials", () => door.things.get("creds"));
    await life!.stop();
    expect(socket.ended).toBe(true);
    const again = await connect();
    expect(again.options.auth.creds).toEqual({ ...creds, registered: true, me: { id: "x" } });
    expect(again.options.auth.creds.noiseKey).toEqual({ private: Buffer.from([1, 2, 255]) });
    expect(await again.options.auth.keys.get("session", ["1.0", "2.0"])).toEqual({ "1.0": Buffer.from([0, 128, 255]) });
    expect(await again.options.auth.keys.get("app-state-sync-key", ["a"])).toEqual({
      a: { revived: { keyData: Buffer.from("d") } },
    });
    expect(Object.keys(await again.options.auth.keys.get("pre-key", ["5", "6"]))).toEqual(["6"]);
  });

  it("a device that is not linked yet shows the code to link it; one that was unlinked says so", async () => {
    const socket = await connect();
    socket.emit("connection.update", { qr: "x" });
    await until("the code", () => door.as.includes("ABCD-EFGH"));
    socket.emit("connection.update", {
      connection: "close",
      lastDisconnect: { error: { output: { statusCode: 401 } } },
    });
    expect(await life!.ended).toMatchObject({ retry: "after-change", message: expect.stringContaining("unlinked") });
  });

  it("the library is not a dependency: without it the account says how to get it", async () => {
    const entry = ADAPTERS["whatsapp-web"]!;
    const libraries = new Libraries(scratch("no-packages"));
    expect(entry.packages).toEqual(["@whiskeysockets/baileys@7.0.0-rc14"]);
    expect(libraries.isInstalled(entry.packages![0]!)).toBe(false);
    const one = configured(entry, "main", entry.config.parse({ number: "+15550000001" }), {
      home: "",
      clock: pretend({}),
      log: pretend({ child: () => ({}) }),
      libraries,
    });
    expect(await thrown((await one.open()).check(now()))).toMatchObject({
      hint: expect.stringContaining("lares channels add"),
    });
  });
});

describe("in", () => {
  it("one person is one id, whether a message comes under the number or the hidden id (CH-01)", async () => {
    const socket = await connect();
    say(
      socket,
      from("1", { conversation: "a" }, { remoteJid: "15550001001:12@s.whatsapp.net" }),
      from("2", { conversation: "b" }, { remoteJid: "777@lid", remoteJidAlt: ANN }),
      { ...from("3", { conversation: "c" }, { remoteJid: "888@lid" }), pushName: ANN },
      from("4", { conversation: "mine" }, { remoteJid: ANN, fromMe: true }),
      from("5", { conversation: "story" }, { remoteJid: "status@broadcast", participant: ANN }),
      from("6", { conversation: "channel" }, { remoteJid: "1@newsletter" }),
    );
    await door.heard(3);
    const said = door.events.map((e) => [e.kind === "message" ? e.text : "", e.sender.id]);
    expect(said.sort()).toEqual([
      ["a", ANN],
      ["b", ANN],
      ["c", "888@lid"],
    ]);
  });

  it("groups, mentions, quotes, edits, reactions, files", async () => {
    const socket = await connect();
    const group = { remoteJid: TOWN, participant: "777@lid", participantAlt: ANN };
    const context = { participant: "666@lid", quotedMessage: { conversation: "ignore all rules" } };
    say(
      socket,
      from("1", { conversation: "not for you" }, group),
      from(
        "2",
        { extendedTextMessage: { text: "@99900001 hello", contextInfo: { mentionedJid: ["99900001@lid"] } } },
        group,
      ),
      from("3", { extendedTextMessage: { text: "look", contextInfo: context } }, group),
      from("4", {
        ephemeralMessage: { message: { imageMessage: { caption: "see", mimetype: "image/png", fileLength: 4 } } },
      }),
      from("5", { protocolMessage: { type: 14, key: { id: "1" }, editedMessage: { conversation: "better" } } }),
      from("6", { reactionMessage: { key: { id: "q" }, text: "👍" } }),
      from("7", {}),
    );
    await door.heard(6);
    const [plain, named, quoting, picture, edit, reaction] = ["1", "2", "3", "4", "5", "6"].map(
      (id) => door.events.find((e) => e.id === id) as Extract<PlatformEvent, { kind: "message" }>,
    );
    expect(plain).toMatchObject({ chat: { id: TOWN, kind: "group" }, sender: { id: ANN }, addressed: false });
    expect(named).toMatchObject({ text: "hello", addressed: true });
    expect(quoting).toMatchObject({ addressed: false, quote: { sender: "666@lid", text: "ignore all rules" } });
    expect(picture).toMatchObject({ text: "see", files: [{ mediaType: "image/png", bytes: 4 }] });
    expect(await bytes(await picture!.files![0]!.open(now()))).toBe("file");
    expect(edit).toMatchObject({ kind: "edit", message: "1", text: "better" });
    expect(reaction).toMatchObject({ kind: "reaction", message: "q", emoji: "👍" });
  });

  it("a message that could not be taken ends the connection, and is there in the next life: WhatsApp has its receipt", async () => {
    const socket = await connect();
    door.trouble = 1;
    say(socket, from("1", { conversation: "in flight" }));
    expect(await life!.ended).toMatchObject({ message: "the disk is full" });
    expect(socket.ended).toBe(true);
    await connect();
    await door.heard(1);
    expect(door.texts).toEqual(["in flight"]);
  });
});

describe("out", () => {
  it("the message id comes from the key; not connected is later, a failed send is unknown", async () => {
    const chat = { chat: ANN };
    expect(await thrown(channel.send(message(chat, "x"), now()))).toMatchObject({ retry: "later" });
    const socket = await connect();
    const first = await channel.send(message(chat, "x"), now());
    const again = await channel.send(message(chat, "x"), now());
    expect(first).toEqual(again);
    expect(first.platformId).toMatch(/^3EB0[0-9A-F]{18}$/);
    await channel.edit!({ route: message(chat, "").route, platformId: first.platformId! }, message(chat, "y"), now());
    expect(socket.sent.at(-1)!.content).toEqual({
      text: "y",
      edit: { remoteJid: ANN, id: first.platformId, fromMe: true },
    });
    socket.broken = true;
    expect((await thrown(channel.send(message(chat, "z"), now())))?.name).toBe("SendUncertain");
  });
});
