/**
 * The WebSocket door `/ws`: requests and answers as frames, and live events with numbers.
 *
 * LIVE-1: nothing is answered before the client has shown a credential; until then frames are small and time is short (DO-01).
 * LIVE-5: a credential that is revoked closes its sockets at once; frames that were on their way are not served.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import type { Peer, Speaker } from "../../../core/contracts/index.ts";
import { AppError, type JsonObject, toErrorShape } from "../../../core/domain/index.ts";
import { parseJson } from "../../../core/kit/index.ts";
import type { EventFrame, Principal, RequestFrame } from "../../../core/protocol/index.ts";
import { canonicalAddress } from "../auth/address.ts";
import { guard, type ServedHosts } from "../auth/guard.ts";
import type { Identifier } from "../auth/identify.ts";
import type { sayOnce } from "../auth/once.ts";
import { callMethod, withKey } from "../call.ts";
import { publicShape } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { type Pipe, SocketOutput } from "./outgoing.ts";

/** Sockets that have not yet shown a credential: in all, and from one address. */
const MOST_STRANGERS = 64;
const MOST_STRANGERS_EACH = 32;
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

interface Client {
  socket: WebSocket;
  address: string;
  incoming: IncomingMessage;
  principal: Principal | undefined;
  outgoing: SocketOutput | undefined;
  /** It speaks for a channel: no methods, no events, only messages (see `edges/channels/external`). */
  speaker: Speaker | undefined;
  gone: AbortController;
  login: NodeJS.Timeout | undefined;
  /** Counted among those who have shown nothing yet. */
  isStranger: boolean;
  underWay: number;
  isAlive: boolean;
  /** Events up to this number were before its time; later ones it has been sent. */
  from: number;
}

export function attachSockets(server: Server, parts: GatewayParts, { doors, who, refused }: Security) {
  const wss = new WebSocketServer({ noServer: true, maxPayload: LARGEST_FRAME, perMessageDeflate: false });
  const { events } = parts;
  const clients = new Set<Client>();
  const strangers = new Map<string, number>();
  const strangerCount = () => [...strangers.values()].reduce((sum, n) => sum + n, 0);

  const off = events.on((event) => {
    for (const { outgoing, principal } of clients) {
      if (outgoing && principal?.scopes.has("read")) outgoing.push(event);
    }
  });
  const offRevoked = parts.door.onRevoked((credential) => {
    for (const client of clients) {
      if (client.principal?.credential === credential) end(client, 4004, "the credential was revoked");
    }
  });
  const pinging = setInterval(() => {
    for (const client of clients) {
      if (!client.isAlive) client.socket.terminate();
      client.isAlive = false;
      client.socket.ping();
    }
  }, PING_MS);
  pinging.unref();

  server.on("upgrade", (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    raw.on("error", () => raw.destroy());
    const refuse = (status: string) => raw.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    let known: ReturnType<Identifier["upgrade"]>;
    try {
      guard(request, doors);
      if (new URL(request.url ?? "/", "http://x").pathname !== "/ws") return refuse("404 Not Found");
      known = who.upgrade(request);
    } catch (error) {
      refused("a socket was refused", {
        why: error instanceof Error ? error.message : String(error),
        ...(request.headers.origin ? { origin: request.headers.origin.slice(0, 200) } : {}),
      });
      return refuse(toStatusLine(error));
    }
    const address = canonicalAddress(request.socket.remoteAddress);
    const tooMany = strangerCount() >= MOST_STRANGERS || (strangers.get(address) ?? 0) >= MOST_STRANGERS_EACH;
    if (!known && tooMany) return refuse("503 Service Unavailable");
    wss.handleUpgrade(request, raw, head, (socket) => open(socket, request, address, known));
  });

  function open(
    socket: WebSocket,
    incoming: IncomingMessage,
    address: string,
    known: ReturnType<Identifier["upgrade"]>,
  ) {
    const client: Client = {
      socket,
      address,
      incoming,
      principal: undefined,
      outgoing: undefined,
      speaker: undefined,
      gone: new AbortController(),
      login: undefined,
      isStranger: false,
      underWay: 0,
      isAlive: true,
      from: 0,
    };
    clients.add(client);
    socket.on("error", () => socket.terminate());
    socket.on("pong", () => {
      client.isAlive = true;
    });
    socket.on("close", () => forget(client));
    socket.on("message", (data) => receive(client, data));
    if (known && known !== "unproven") return welcome(client, known, undefined);
    // A browser with a known cookie has its place: a crowd of strangers must not keep the owner's page out.
    if (!known) {
      client.isStranger = true;
      strangers.set(address, (strangers.get(address) ?? 0) + 1);
    }
    client.login = setTimeout(() => end(client, 4001, "no credential in time"), LOGIN_MS);
    limitStranger(client);
  }

  function receive(client: Client, data: RawData) {
    if (client.gone.signal.aborted) return;
    client.isAlive = true;
    const bytes = data as Buffer;
    if (client.speaker) return speak(client, client.speaker, bytes);
    if (!client.principal && bytes.length > LOGIN_FRAME) return end(client, 4009, "frame too large before login");
    const frame = readFrame(bytes);
    if (!frame) return end(client, 4002, "not a request frame");
    if (frame.method === "connect" && (frame.params as { role?: unknown } | undefined)?.role === "channel")
      return void becomeSpeaker(client, frame);
    if (frame.method === "connect") return connect(client, frame);
    if (!client.principal) return end(client, 4003, "connect first");
    void serve(client, client.principal, frame);
  }

  /** Counts bytes as they come: a large frame is not even collected before there is a credential. */
  function limitStranger(client: Client): void {
    const wire = client.incoming.socket;
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (client.principal || client.speaker) wire.off("data", count);
      else if (bytes > 2 * LOGIN_FRAME) {
        wire.off("data", count);
        end(client, 4009, "too much before login");
      }
    };
    wire.on("data", count);
  }

  /** Logs in, or says where a client that is logged in left off. */
  function connect(client: Client, frame: RequestFrame) {
    const params = (frame.params ?? {}) as { token?: unknown; proof?: unknown; lastSeq?: unknown; boot?: unknown };
    const { token, proof } = params;
    let found = client.principal;
    try {
      if (!found && typeof token === "string") found = who.token(client.incoming, token);
      else if (!found && typeof proof === "string") found = who.proof(client.incoming, proof);
    } catch {
      return end(client, 4029, "too many wrong credentials");
    }
    if (!found) return end(client, 4003, "wrong credential");
    // The rights are ours to say, whatever the client asked for (AU-01).
    answer(client, frame.id, {
      scopes: [...found.scopes],
      name: found.name,
      version: parts.version,
      boot: events.boot,
    });
    const sameBoot = params.boot === events.boot;
    welcome(client, found, sameBoot && typeof params.lastSeq === "number" ? params.lastSeq : undefined, params.boot);
  }

  /** A program that is a channel shows the token of its account instead. */
  async function becomeSpeaker(client: Client, frame: RequestFrame): Promise<void> {
    const { channelId, token } = frame.params as { channelId?: unknown; token?: unknown };
    const isAsked = typeof channelId === "string" && typeof token === "string" && !client.principal;
    const peer: Peer = {
      send: (out) => reply(client, out),
      close: (why) => end(client, 4010, why),
    };
    try {
      const why = parts.notReady();
      if (why) return end(client, 1013, "not ready");
      // Answered before anything is sent, which a speaker may do at once.
      const early: JsonObject[] = [];
      let isAnswered = false;
      const ordered: Peer = { ...peer, send: (out) => (isAnswered ? peer.send(out) : void early.push(out)) };
      const speaker = isAsked
        ? await who.other(client.incoming, () => parts.speak(channelId, token, ordered))
        : undefined;
      if (!speaker) return end(client, 4003, "wrong token");
      if (client.gone.signal.aborted) return speaker.gone();
      acquainted(client);
      client.speaker = speaker;
      client.gone.signal.addEventListener("abort", () => speaker.gone(), { once: true });
      answer(client, frame.id, { name: channelId, version: parts.version, boot: events.boot });
      isAnswered = true;
      for (const out of early) peer.send(out);
    } catch (error) {
      const isTooOften = error instanceof AppError && error.code === "TOO_MANY";
      end(client, isTooOften ? 4029 : 1011, isTooOften ? "too many wrong credentials" : "not now");
    }
  }

  function speak(client: Client, speaker: Speaker, bytes: Buffer): void {
    let frame: unknown;
    try {
      frame = parseJson(bytes.toString("utf8"));
    } catch {
      frame = undefined;
    }
    if (typeof frame === "object" && frame !== null && !Array.isArray(frame)) speaker.take(frame as JsonObject);
    else end(client, 4002, "not a frame");
  }

  function welcome(client: Client, principal: Principal, lastSeq: number | undefined, boot?: unknown) {
    if (!client.principal) acquainted(client);
    client.principal = principal;
    const { seq } = events;
    const payload = { boot: events.boot, seq };
    send(client, { type: "event", event: "hello", payload, seq });
    if (!client.outgoing) {
      client.outgoing = new SocketOutput(pipeTo(client));
      client.from = seq;
    }
    if (boot !== undefined && boot !== events.boot)
      return send(client, { type: "event", event: "reload", payload, seq });
    if (lastSeq === undefined || !principal.scopes.has("read")) return;
    const missed = events.since(lastSeq, client.from);
    if (missed === "reload") return send(client, { type: "event", event: "reload", payload, seq });
    for (const text of missed) client.socket.send(text);
  }

  async function serve(client: Client, principal: Principal, frame: RequestFrame): Promise<void> {
    const { signal } = client.gone;
    try {
      const why = parts.notReady();
      if (why) throw new AppError("NOT_READY", { message: why, retry: "later" });
      if (client.underWay >= MOST_UNDER_WAY) {
        throw new AppError("TOO_MANY", { message: "Too many requests are under way on this socket.", retry: "later" });
      }
      client.underWay++;
      try {
        const params = withKey(frame.method, frame.params, frame.key);
        answer(client, frame.id, await callMethod(parts, frame.method, params, { principal, channel: "ws", signal }));
      } finally {
        client.underWay--;
      }
    } catch (error) {
      const shape = toErrorShape(error);
      if (shape.code === "INTERNAL")
        parts.log.error("request broke", { error: String((error as Error).stack ?? error) });
      reply(client, { type: "res", id: frame.id, ok: false, error: publicShape(shape, parts.redact) });
    }
  }

  function pipeTo(client: Client): Pipe {
    const { socket } = client;
    return {
      get bufferedAmount() {
        return socket.bufferedAmount;
      },
      send: (text) => socket.send(text),
      close: (code, reason) => end(client, code, reason),
    };
  }

  function acquainted(client: Client): void {
    clearTimeout(client.login);
    client.login = undefined;
    if (!client.isStranger) return;
    client.isStranger = false;
    const left = (strangers.get(client.address) ?? 1) - 1;
    if (left > 0) strangers.set(client.address, left);
    else strangers.delete(client.address);
  }

  function forget(client: Client): void {
    acquainted(client);
    client.outgoing?.stop();
    client.gone.abort();
    clients.delete(client);
  }

  /** Closes with a reason; from now on nothing of this client is served. */
  function end(client: Client, code: number, reason: string): void {
    forget(client);
    client.socket.close(code, reason);
    const cut = setTimeout(() => client.socket.terminate(), 1000);
    cut.unref();
    client.socket.once("close", () => clearTimeout(cut));
  }

  return {
    count: () => clients.size,
    close() {
      off();
      offRevoked();
      clearInterval(pinging);
      for (const client of [...clients]) end(client, 1001, "Lares is stopping");
      wss.close();
    },
  };
}

function answer(client: Client, id: string, payload: unknown): void {
  reply(client, { type: "res", id, ok: true, payload });
}

function reply(client: Client, frame: object): void {
  if (!client.gone.signal.aborted) client.socket.send(JSON.stringify(frame));
}

function send(client: Client, frame: EventFrame): void {
  client.socket.send(JSON.stringify(frame));
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
