/**
 * The WebSocket door `/ws`: requests and answers as frames, and live events with numbers.
 *
 * V1: nothing is answered before the client has shown a credential; until then frames are small and time is short.
 * V2: events are numbered; a client that comes back with its last number gets what it missed, or is told to reload.
 * V3: a slow client loses text deltas, never control events; beyond a bound it is closed with a reason.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { AppError, type LiveEvent, toErrorShape } from "../../core/domain/index.ts";
import type { EventFrame, RequestFrame } from "../../core/protocol/index.ts";
import { guard } from "./guard.ts";
import { bearer, publicShape } from "./http.ts";
import type { GatewayParts, Principal } from "./ports.ts";
import { callMethod } from "./server.ts";

/** Sockets that have not yet shown a credential. */
const MOST_STRANGERS = 64;
const LOGIN_MS = 10_000;
const LOGIN_FRAME = 4096;
const LARGEST_FRAME = 1_048_576;
/** Events kept for clients that come back. */
const KEPT = 5000;
/** Bytes a client may lag behind: past the first deltas are left out, past the second it is closed. */
const LAG_DELTAS = 262_144;
const LAG_CLOSE = 8_388_608;

export function attachSockets(server: Server, parts: GatewayParts): { close(): void } {
  const wss = new WebSocketServer({ noServer: true, maxPayload: LARGEST_FRAME });
  const boot = randomUUID();
  const ring: EventFrame[] = [];
  const clients = new Map<WebSocket, Principal>();
  let strangers = 0;
  let seq = 0;

  const off = parts.bus.on((event: LiveEvent) => {
    const { event: name, ...payload } = event;
    const frame: EventFrame = { type: "event", event: name, payload, seq: ++seq };
    const isDelta = name === "turn.delta" || name === "turn.thinking";
    if (!isDelta) {
      ring.push(frame);
      if (ring.length > KEPT) ring.shift();
    }
    if (!clients.size) return;
    const text = JSON.stringify(frame);
    for (const [socket, principal] of clients) {
      if (!principal.scopes.has("read")) continue;
      if (socket.bufferedAmount > LAG_CLOSE) socket.close(4008, "too slow");
      else if (!isDelta || socket.bufferedAmount < LAG_DELTAS) socket.send(text);
    }
  });

  server.on("upgrade", (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    const refuse = (status: string) => raw.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    if (new URL(request.url ?? "/", "http://x").pathname !== "/ws") return refuse("404 Not Found");
    try {
      guard(request, parts.config.bind);
    } catch {
      return refuse("403 Forbidden");
    }
    const token = bearer(request.headers.authorization);
    const principal = token === undefined ? undefined : parts.authenticate(token);
    if (token !== undefined && !principal) return refuse("401 Unauthorized");
    if (!principal && strangers >= MOST_STRANGERS) return refuse("503 Service Unavailable");
    wss.handleUpgrade(request, raw, head, (socket) => open(socket, principal));
  });

  function open(socket: WebSocket, known: Principal | undefined): void {
    let principal = known;
    let timer: NodeJS.Timeout | undefined;
    const gone = new AbortController();
    socket.on("error", () => socket.close());
    socket.on("close", () => {
      gone.abort();
      clients.delete(socket);
      if (!principal) strangers--;
      clearTimeout(timer);
    });
    if (principal) welcome(socket, principal, undefined);
    else {
      strangers++;
      timer = setTimeout(() => socket.close(4001, "no credential in time"), LOGIN_MS);
    }
    socket.on("message", (data: Buffer) => {
      if (!principal && data.length > LOGIN_FRAME) return socket.close(4009, "frame too large before login");
      const frame = readFrame(data);
      if (!frame) return socket.close(4002, "not a request frame");
      if (frame.method === "connect") {
        const params = (frame.params ?? {}) as { token?: unknown; lastSeq?: unknown; boot?: unknown };
        const found = principal ?? (typeof params.token === "string" ? parts.authenticate(params.token) : undefined);
        if (!found) return socket.close(4003, "wrong token");
        if (!principal) {
          strangers--;
          clearTimeout(timer);
        }
        principal = found;
        answer(socket, frame.id, { scopes: [...found.scopes], version: parts.version, boot });
        return welcome(socket, found, params.boot === boot && typeof params.lastSeq === "number" ? params.lastSeq : undefined);
      }
      if (!principal) return socket.close(4003, "connect first");
      void serve(socket, frame, principal, gone.signal);
    });
  }

  function welcome(socket: WebSocket, principal: Principal, lastSeq: number | undefined): void {
    clients.set(socket, principal);
    send(socket, { type: "event", event: "hello", payload: { boot, seq }, seq });
    if (lastSeq === undefined || lastSeq >= seq) return;
    const oldest = ring[0]?.seq ?? seq + 1;
    if (lastSeq + 1 < oldest && ring.length >= KEPT) {
      return send(socket, { type: "event", event: "reload", payload: { boot, seq }, seq });
    }
    for (const frame of ring) if (frame.seq > lastSeq) send(socket, frame);
  }

  async function serve(socket: WebSocket, frame: RequestFrame, principal: Principal, signal: AbortSignal): Promise<void> {
    try {
      const why = parts.notReady();
      if (why) throw new AppError("NOT_READY", { message: why, retry: "later" });
      answer(socket, frame.id, await callMethod(parts, frame.method, frame.params, { principal, channel: "ws", signal }));
    } catch (error) {
      const shape = toErrorShape(error);
      if (shape.code === "INTERNAL") parts.log.error("request broke", { error: String((error as Error).stack ?? error) });
      socket.send(JSON.stringify({ type: "res", id: frame.id, ok: false, error: publicShape(shape) }));
    }
  }

  return {
    close() {
      off();
      for (const socket of wss.clients) socket.close(1001, "Lares is stopping");
      wss.close();
    },
  };
}

function answer(socket: WebSocket, id: string, payload: unknown): void {
  socket.send(JSON.stringify({ type: "res", id, ok: true, payload }));
}

function send(socket: WebSocket, frame: EventFrame): void {
  socket.send(JSON.stringify(frame));
}

function readFrame(data: Buffer): RequestFrame | undefined {
  try {
    const frame = JSON.parse(data.toString("utf8")) as Partial<RequestFrame>;
    const good = frame.type === "req" && typeof frame.id === "string" && frame.id.length <= 128;
    return good && typeof frame.method === "string" ? (frame as RequestFrame) : undefined;
  } catch {
    return undefined;
  }
}
