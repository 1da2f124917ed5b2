/**
 * Socket mode: Slack sends envelopes over a connection we opened. Each is acknowledged after its contents are durable. One that
 * wasn't acknowledged comes again: on the next connection, or after three seconds with a retry number.
 */
import { WebSocket } from "ws";
import { AppError, asObject, asText, type JsonObject } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";

export interface SocketParts {
  /** An address that is good for one connection. */
  open(signal: AbortSignal): Promise<string>;
  /** Takes what an envelope carried; `done` acknowledges it. */
  take(envelope: { type: string; payload: JsonObject }, done: () => void): void;
  alive(): void;
  clock: Clock;
}

/** How often Slack is asked for a sign of life: a socket can look open long after the connection is dead. */
const PING_MS = 30_000;
const HANDSHAKE_MS = 15_000;

/** `done` resolves when the signal aborts and rejects when the connection is lost; `fail` ends it from outside. */
export function connect(parts: SocketParts, signal: AbortSignal): { done: Promise<void>; fail(error: unknown): void } {
  const sockets = new Set<WebSocket>();
  let settle: { resolve(): void; reject(error: unknown): void };
  const done = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const end = (error?: unknown) => {
    signal.removeEventListener("abort", stop);
    cancelPing();
    for (const socket of sockets) socket.terminate();
    sockets.clear();
    if (error === undefined) settle.resolve();
    else settle.reject(error);
  };
  const stop = () => end();
  let cancelPing = () => {};
  const ping = () => {
    cancelPing = parts.clock.after(PING_MS, () => {
      for (const socket of sockets) if (socket.readyState === WebSocket.OPEN) socket.ping();
      ping();
    });
  };

  /** `old`: the connection this one replaces. It is closed only when the new one works, so that nothing is missed. */
  async function openSocket(old?: WebSocket): Promise<void> {
    const url = await parts.open(signal);
    if (signal.aborted) return;
    const socket = new WebSocket(url, { handshakeTimeout: HANDSHAKE_MS });
    sockets.add(socket);
    socket.on("pong", () => parts.alive());
    socket.on("ping", () => parts.alive());
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      if (!sockets.size && !signal.aborted) end(new Error("Slack closed the connection."));
    });
    socket.on("message", (data) => {
      const frame = read(String(data));
      if (frame.type === "hello") {
        parts.alive();
        old?.close();
      } else if (frame.type === "disconnect") {
        if (frame.reason === "link_disabled") end(turnedOff());
        else openSocket(socket).catch(end);
      } else {
        const id = asText(frame.envelope_id);
        if (id === undefined) return;
        const envelope = { type: asText(frame.type) ?? "", payload: asObject(frame.payload) as JsonObject };
        parts.take(envelope, () => {
          if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ envelope_id: id }));
        });
      }
    });
  }

  signal.addEventListener("abort", stop, { once: true });
  ping();
  openSocket().catch(end);
  return { done, fail: end };
}

function read(text: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

function turnedOff(): AppError {
  return new AppError("CHANNEL_UNKNOWN", {
    message: "Socket mode is turned off for this Slack app.",
    hint: "Turn it on under Settings → Socket Mode.",
    retry: "after-change",
  });
}
