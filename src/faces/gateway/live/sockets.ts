/**
 * The WebSocket door `/ws`: requests and answers as frames, and live events with numbers.
 *
 * LIVE-1: nothing is answered before the client has shown a credential; until then frames are small and time is short (DO-01).
 * LIVE-5: a credential that is revoked closes its sockets at once; frames that were on their way are not served.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, WebSocketServer } from "ws";
import type { Peer, Speaker } from "../../../core/contracts/index.ts";
import { AppError, isObject, type JsonObject, toErrorShape } from "../../../core/domain/index.ts";
import { parseJson } from "../../../core/kit/index.ts";
import type { Principal, RequestFrame } from "../../../core/protocol/index.ts";
import { canonicalAddress } from "../auth/address.ts";
import { guard, type ServedHosts } from "../auth/guard.ts";
import type { Identifier } from "../auth/identify.ts";
import type { sayOnce } from "../auth/once.ts";
import { callMethod, withKey } from "../call.ts";
import { mustBeReady, publicShape, WITHOUT_RECORDS } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { SocketOutput } from "./outgoing.ts";
import { SocketClient } from "./socket-client.ts";
import { Strangers } from "./strangers.ts";

const LOGIN_MS = 10_000;
const LOGIN_FRAME = 4096;
const LARGEST_FRAME = 1_048_576;
/** Requests one socket may have under way. */
const MOST_UNDER_WAY = 256;
/** A client that does not answer two pings in a row is gone, however quiet its network is about it. */
const PING_MS = 30_000;

interface Security {
  doors: ServedHosts;
  who: Identifier;
  refused: ReturnType<typeof sayOnce>;
}

/** Who a socket belongs to before it has said anything. */
type Known = ReturnType<Identifier["upgrade"]>;

export function attachSockets(server: Server, parts: GatewayParts, security: Security): Sockets {
  const sockets = new Sockets(parts, security);
  server.on("upgrade", (request: IncomingMessage, raw: Duplex, head: Buffer) => sockets.upgrade(request, raw, head));
  return sockets;
}

class Sockets {
  readonly #parts: GatewayParts;
  readonly #security: Security;
  readonly #wss = new WebSocketServer({ noServer: true, maxPayload: LARGEST_FRAME, perMessageDeflate: false });
  readonly #clients = new Set<SocketClient>();
  readonly #strangers = new Strangers();
  readonly #stops: readonly (() => void)[];

  constructor(parts: GatewayParts, security: Security) {
    this.#parts = parts;
    this.#security = security;
    const pinging = setInterval(() => this.#ping(), PING_MS);
    pinging.unref();
    this.#stops = [
      parts.events.on((event) => {
        for (const { outgoing, principal } of this.#clients) {
          if (outgoing && principal?.scopes.has("read")) outgoing.push(event);
        }
      }),
      parts.door.onRevoked((credential) => {
        for (const client of this.#clients) {
          if (client.principal?.credential === credential) this.#end(client, 4004, "the credential was revoked");
        }
      }),
      () => clearInterval(pinging),
    ];
  }

  count(): number {
    return this.#clients.size;
  }

  close(): void {
    for (const stop of this.#stops) stop();
    for (const client of [...this.#clients]) this.#end(client, 1001, "Lares is stopping");
    this.#wss.close();
  }

  upgrade(request: IncomingMessage, raw: Duplex, head: Buffer): void {
    raw.on("error", () => raw.destroy());
    const address = canonicalAddress(request.socket.remoteAddress);
    const admitted = this.#admit(request, address);
    if ("refused" in admitted) {
      raw.end(`HTTP/1.1 ${admitted.refused}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.#wss.handleUpgrade(request, raw, head, (socket) =>
      this.#open(new SocketClient(socket, request, address), admitted.known),
    );
  }

  /** Who asks, or the status line that refuses. */
  #admit(request: IncomingMessage, address: string): { known: Known } | { refused: string } {
    const { doors, who, refused } = this.#security;
    try {
      guard(request, doors);
      if (new URL(request.url ?? "/", "http://x").pathname !== "/ws") return { refused: "404 Not Found" };
      const known = who.upgrade(request);
      return known || !this.#strangers.isFull(address) ? { known } : { refused: "503 Service Unavailable" };
    } catch (error) {
      refused("a socket was refused", {
        why: error instanceof Error ? error.message : String(error),
        ...(request.headers.origin ? { origin: request.headers.origin.slice(0, 200) } : {}),
      });
      return { refused: toStatusLine(error) };
    }
  }

  #open(client: SocketClient, known: Known): void {
    const { socket } = client;
    this.#clients.add(client);
    socket.on("error", () => socket.terminate());
    socket.on("pong", () => {
      client.isAlive = true;
    });
    socket.on("close", () => this.#forget(client));
    socket.on("message", (data) => this.#receive(client, data));
    if (known && known !== "unproven") {
      this.#welcome(client, known, undefined);
      return;
    }
    // A browser with a known cookie has its place: a crowd of strangers must not keep the owner's page out.
    if (!known) {
      client.isStranger = true;
      this.#strangers.add(client.address);
    }
    client.login = setTimeout(() => this.#end(client, 4001, "no credential in time"), LOGIN_MS);
    this.#limitStranger(client);
  }

  /** Counts bytes as they come: a large frame is not even collected before there is a credential. */
  #limitStranger(client: SocketClient): void {
    const wire = client.incoming.socket;
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (client.principal || client.speaker) wire.off("data", count);
      else if (bytes > 2 * LOGIN_FRAME) {
        wire.off("data", count);
        this.#end(client, 4009, "too much before login");
      }
    };
    wire.on("data", count);
  }

  #receive(client: SocketClient, data: RawData): void {
    if (client.isGone) return;
    client.isAlive = true;
    const bytes = data as Buffer;
    if (client.speaker) this.#speak(client, client.speaker, bytes);
    else if (!client.principal && bytes.length > LOGIN_FRAME) this.#end(client, 4009, "frame too large before login");
    else this.#take(client, readFrame(bytes));
  }

  #take(client: SocketClient, frame: RequestFrame | undefined): void {
    if (!frame) this.#end(client, 4002, "not a request frame");
    else if (frame.method === "connect" && (frame.params as { role?: unknown } | undefined)?.role === "channel")
      void this.#becomeSpeaker(client, frame);
    else if (frame.method === "connect") this.#connect(client, frame);
    else if (client.principal) void this.#serve(client, client.principal, frame);
    else this.#end(client, 4003, "connect first");
  }

  /** Logs in, or says where a client that is logged in left off. */
  #connect(client: SocketClient, frame: RequestFrame): void {
    const { events, version } = this.#parts;
    const params = (frame.params ?? {}) as { token?: unknown; proof?: unknown; lastSeq?: unknown; boot?: unknown };
    let found: Principal | undefined;
    try {
      found = client.principal ?? this.#identify(client, params);
    } catch {
      this.#end(client, 4029, "too many wrong credentials");
      return;
    }
    if (!found) {
      this.#end(client, 4003, "wrong credential");
      return;
    }
    // The rights are ours to say, whatever the client asked for (AU-01).
    client.answer(frame.id, { scopes: [...found.scopes], name: found.name, version, boot: events.boot });
    const sameBoot = params.boot === events.boot;
    const lastSeq = sameBoot && typeof params.lastSeq === "number" ? params.lastSeq : undefined;
    this.#welcome(client, found, lastSeq, params.boot);
  }

  #identify({ incoming }: SocketClient, { token, proof }: { token?: unknown; proof?: unknown }): Principal | undefined {
    const { who } = this.#security;
    if (typeof token === "string") return who.token(incoming, token);
    return typeof proof === "string" ? who.proof(incoming, proof) : undefined;
  }

  #welcome(client: SocketClient, principal: Principal, lastSeq: number | undefined, boot?: unknown): void {
    const { events } = this.#parts;
    if (!client.principal) this.#acquaint(client);
    client.principal = principal;
    const { seq } = events;
    const payload = { boot: events.boot, seq };
    client.send({ type: "event", event: "hello", payload, seq });
    if (!client.outgoing) {
      client.outgoing = new SocketOutput(client.pipe((code, reason) => this.#end(client, code, reason)));
      client.from = seq;
    }
    const isOtherBoot = boot !== undefined && boot !== events.boot;
    const reads = lastSeq !== undefined && principal.scopes.has("read");
    if (!isOtherBoot && !reads) return;
    const missed = isOtherBoot || lastSeq === undefined ? "reload" : events.since(lastSeq, client.from);
    if (missed === "reload") client.send({ type: "event", event: "reload", payload, seq });
    else for (const text of missed) client.socket.send(text);
  }

  /** A program that is a channel shows the token of its account instead. */
  async #becomeSpeaker(client: SocketClient, frame: RequestFrame): Promise<void> {
    const { channelId, token } = frame.params as { channelId?: unknown; token?: unknown };
    const isAsked = typeof channelId === "string" && typeof token === "string" && !client.principal;
    const peer: Peer = {
      send: (out) => client.reply(out),
      close: (why) => this.#end(client, 4010, why),
    };
    try {
      if (this.#parts.notReady()) return this.#end(client, 1013, "not ready");
      // Answered before anything is sent, which a speaker may do at once.
      const early: JsonObject[] = [];
      let isAnswered = false;
      const ordered: Peer = { ...peer, send: (out) => (isAnswered ? peer.send(out) : void early.push(out)) };
      const speaker = isAsked
        ? await this.#security.who.other(client.incoming, () => this.#parts.speak(channelId, token, ordered))
        : undefined;
      if (!speaker) return this.#end(client, 4003, "wrong token");
      if (client.isGone) return speaker.gone();
      this.#acquaint(client);
      client.speaker = speaker;
      client.gone.signal.addEventListener("abort", () => speaker.gone(), { once: true });
      client.answer(frame.id, { name: channelId, version: this.#parts.version, boot: this.#parts.events.boot });
      isAnswered = true;
      for (const out of early) peer.send(out);
    } catch (error) {
      const isTooOften = error instanceof AppError && error.code === "TOO_MANY";
      this.#end(client, isTooOften ? 4029 : 1011, isTooOften ? "too many wrong credentials" : "not now");
    }
  }

  #speak(client: SocketClient, speaker: Speaker, bytes: Buffer): void {
    let frame: unknown;
    try {
      frame = parseJson(bytes.toString("utf8"));
    } catch {
      frame = undefined;
    }
    if (isObject(frame)) speaker.take(frame as JsonObject);
    else this.#end(client, 4002, "not a frame");
  }

  async #serve(client: SocketClient, principal: Principal, frame: RequestFrame): Promise<void> {
    const parts = this.#parts;
    const { signal } = client.gone;
    try {
      if (!WITHOUT_RECORDS.has(frame.method)) mustBeReady(parts);
      if (client.underWay >= MOST_UNDER_WAY) {
        throw new AppError("TOO_MANY", {
          message: "Too many requests are in progress on this connection.",
          retry: "later",
        });
      }
      client.underWay++;
      try {
        const params = withKey(frame.method, frame.params, frame.key);
        client.answer(frame.id, await callMethod(parts, frame.method, params, { principal, channel: "ws", signal }));
      } finally {
        client.underWay--;
      }
    } catch (error) {
      const shape = toErrorShape(error);
      if (shape.code === "INTERNAL")
        parts.log.error("request broke", { error: String((error as Error).stack ?? error) });
      client.reply({ type: "res", id: frame.id, ok: false, error: publicShape(shape, parts.redact) });
    }
  }

  #ping(): void {
    for (const client of this.#clients) {
      if (!client.isAlive) client.socket.terminate();
      client.isAlive = false;
      client.socket.ping();
    }
  }

  /** It has shown a credential, or is gone, so it no longer counts as a stranger. */
  #acquaint(client: SocketClient): void {
    clearTimeout(client.login);
    client.login = undefined;
    if (!client.isStranger) return;
    client.isStranger = false;
    this.#strangers.remove(client.address);
  }

  #forget(client: SocketClient): void {
    this.#acquaint(client);
    client.outgoing?.stop();
    client.gone.abort();
    this.#clients.delete(client);
  }

  /** Closes with a reason; from now on nothing of this client is served. */
  #end(client: SocketClient, code: number, reason: string): void {
    this.#forget(client);
    client.close(code, reason);
  }
}

function toStatusLine(error: unknown): string {
  switch (error instanceof AppError ? error.status : 500) {
    case 400:
      return "400 Bad Request";
    case 401:
      return "401 Unauthorized";
    case 403:
      return "403 Forbidden";
    case 429:
      return "429 Too Many Requests";
    default:
      return "500 Internal Server Error";
  }
}

function readFrame(data: Buffer): RequestFrame | undefined {
  try {
    const frame = parseJson(data.toString("utf8")) as Partial<RequestFrame>;
    const good = frame.type === "req" && typeof frame.id === "string" && frame.id.length <= 128;
    return good && typeof frame.method === "string" ? (frame as RequestFrame) : undefined;
  } catch {
    return undefined;
  }
}
