/**
 * What Lares uses of the package @whiskeysockets/baileys, as a file that stands in its place: no encryption, no linking, and a line of
 * JSON to the fake WhatsApp for everything else. As the real one, it sends a message's receipt before it hands the message on.
 *
 * Documentation: see server.ts
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";

const { port } = JSON.parse(readFileSync(new URL("./port.json", import.meta.url), "utf8"));
const pack = (value) =>
  JSON.stringify(value, function (name, plain) {
    const real = this[name];
    return real instanceof Uint8Array ? { $bytes: Buffer.from(real).toString("base64") } : plain;
  });

export const initAuthCreds = () => ({ registered: true });
export const proto = { Message: { AppStateSyncKeyData: { fromObject: (value) => value } } };

export function makeWASocket() {
  const listeners = new Map();
  const waiting = new Map();
  let calls = 0;
  const emit = (event, value) => {
    for (const listener of listeners.get(event) ?? []) listener(value);
  };
  const wire = connect(port, "127.0.0.1");
  const tell = (frame) => wire.write(`${pack(frame)}\n`);
  const call = (name, ...given) =>
    new Promise((resolve, reject) => {
      if (wire.destroyed) return reject(new Error("Connection Closed"));
      waiting.set(++calls, { resolve, reject });
      tell({ call: name, n: calls, given });
    });
  const socket = {
    user: undefined,
    /** The real one asks the sender's phone for the file again; here it is how the file is had at all. */
    updateMediaMessage: (message) => call("media", message.key.id),
    ev: { on: (event, listener) => void listeners.set(event, [...(listeners.get(event) ?? []), listener]) },
    sendMessage: (jid, content, options = {}) => call("send", jid, content, options.messageId),
    sendPresenceUpdate: (type, jid) => call("presence", type, jid),
    requestPairingCode: async () => "FAKE-CODE",
    end: () => wire.destroy(),
  };
  const lines = createInterface({ input: wire });
  lines.on("error", () => {});
  lines.on("line", (line) => {
    const frame = JSON.parse(line);
    if (frame.open) {
      socket.user = frame.open;
      emit("connection.update", { connection: "open" });
    } else if (frame.message) {
      tell({ receipt: frame.message.key.id });
      emit("messages.upsert", { messages: [frame.message], type: "notify" });
    } else {
      waiting.get(frame.n)?.resolve(frame.result);
      waiting.delete(frame.n);
    }
  });
  wire.on("error", () => {});
  wire.on("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("Connection Closed"));
    emit("connection.update", { connection: "close", lastDisconnect: { error: new Error("Connection Closed") } });
  });
  return socket;
}

export async function downloadMediaMessage(message, _as, _options, { reuploadRequest }) {
  const media = await reuploadRequest(message);
  return (async function* () {
    yield Buffer.from(media, "base64");
  })();
}
