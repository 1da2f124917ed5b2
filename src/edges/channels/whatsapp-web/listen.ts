/** Listening: messages are spooled the moment the library hands them over, then taken chat by chat. */
import type { ChannelHost, PlatformEvent } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { Lines } from "../lines.ts";
import { Spool, type Spooled } from "../spool.ts";
import { fromJson, loadCredentials, type Stored, toJson } from "./credentials.ts";
import { mapMessage, readFile } from "./events.ts";
import type { ConnectionUpdate, Library, Socket, WebMessage } from "./library.ts";
import type { WhatsAppWebState } from "./state.ts";

/** Baileys' DisconnectReason. */
const LOGGED_OUT = 401;

/** One connection: what its listeners share. */
interface Life {
  door: ChannelHost;
  library: Library;
  socket: Socket;
  credentials: Stored;
  spool: Spool;
  /** What an earlier life has left in the spool. */
  left: Spooled[];
  /** One message after another in each chat, in the library's order; the first failure ends the connection. */
  lines: Lines;
  /** The last change of the credentials; resolves when it is durable. */
  saved: Promise<void>;
  fail(error: unknown): void;
}

export async function listen(state: WhatsAppWebState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const library = await state.loadLibrary();
  const credentials = await loadCredentials(door, library);
  const { creds, keys } = credentials;
  // Nothing may fail between connecting and the `try` that closes the connection.
  const { spool, left } = await Spool.open(door);
  const socket = library.connect({ auth: { creds, keys }, browser: ["Lares", "Chrome", "1.0"] });
  const lines = new Lines((error) => life.fail(error));
  const saved = Promise.resolve();
  const life: Life = { door, library, socket, credentials, spool, left, lines, saved, fail: () => {} };
  try {
    await new Promise<void>((_, reject) => {
      life.fail = reject;
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      follow(state, life);
    });
  } finally {
    state.socket = undefined;
    // Keys that changed are stored, however the connection ended.
    await life.saved;
    lines.end();
    socket.end(undefined);
  }
}

function follow(state: WhatsAppWebState, life: Life): void {
  const { door, socket, credentials, spool, lines } = life;
  socket.ev.on("creds.update", (changed) => {
    Object.assign(credentials.creds, changed);
    life.saved = lines.push("", () => credentials.save());
  });
  socket.ev.on("connection.update", (update) => {
    if (update.connection === "open") open(state, life);
    if (update.qr && !credentials.creds.registered) void lines.push("link", () => showLinkCode(state, life));
    if (update.connection === "close") life.fail(toError(update));
  });
  socket.ev.on("messages.upsert", ({ messages }) => {
    door.alive();
    for (const message of messages) {
      if (!read(life, message)) continue;
      void spool.put(toJson(message)).then(
        (one) => take(life, one),
        (error: unknown) => life.fail(error),
      );
    }
  });
}

function open(state: WhatsAppWebState, life: Life): void {
  const { door, socket, left } = life;
  state.socket = socket;
  door.alive();
  for (const one of left.splice(0)) take(life, one);
  door.known(socket.user?.name ?? socket.user?.id ?? state.config.number);
}

/** The number's owner types this code on the phone. */
async function showLinkCode({ config }: WhatsAppWebState, { socket, door }: Life): Promise<void> {
  const code = await socket.requestPairingCode(config.number.slice(1));
  door.known(`not linked yet; on the phone: Linked devices, Link with phone number, ${code}`);
}

function take(life: Life, one: Spooled & { written?: Promise<void> }): void {
  const event = read(life, fromJson(one.value) as WebMessage);
  if (!event) return void life.lines.push("", () => one.done());
  void life.lines.push(event.chat.id, async () => {
    await one.written;
    await life.door.hear([event]);
    await one.done();
  });
}

function read({ door, socket, library }: Life, message: WebMessage): PlatformEvent | undefined {
  const raw = { kind: "message", id: message.key?.id ?? undefined, value: message.key };
  return door.read(raw, () => {
    const event = mapMessage(message, { id: socket.user?.id ?? "", lid: socket.user?.lid });
    const file = event?.kind === "message" ? readFile(message) : undefined;
    if (file && event?.kind === "message") event.files = [{ ...file, open: () => library.download(message, socket) }];
    return event;
  });
}

function toError(update: ConnectionUpdate): Error {
  const error = update.lastDisconnect?.error;
  if (error?.output?.statusCode === LOGGED_OUT) {
    return new AppError("CHANNEL_SEND", {
      message: "WhatsApp has unlinked this device.",
      hint: "To link it again, remove the account and add it again: lares channels remove whatsapp-web",
      retry: "after-change",
    });
  }
  return new Error(`WhatsApp closed the connection${error?.message ? `: ${error.message}` : ""}.`);
}
