/**
 * Mattermost's event stream. Events are numbered per connection; a hole in the numbers means that something was missed, and
 * the line is given up: whoever listens again reads the gap over REST.
 */
import { WebSocket } from "ws";
import { asNumber, asObject, asText } from "../api.ts";

export interface StreamEvent {
  name: string;
  data: Record<string, unknown>;
}

const PING_MS = 20_000;

export interface Stream {
  /** Resolves once the server has said hello: from here on nothing goes by unseen. */
  opened: Promise<void>;
  /** One after another, in order; ends by throwing. */
  events(): AsyncGenerator<StreamEvent, never>;
}

export function openStream(url: string, token: string, on: { alive: () => void; signal: AbortSignal }): Stream {
  const socket = new WebSocket(url, { handshakeTimeout: 15_000, maxPayload: 8 * 1024 * 1024 });
  const waiting: StreamEvent[] = [];
  let ended: Error | undefined;
  let wake = () => {};
  let sent = 1;
  let expected = 0;
  let greet = () => {};
  let refuse = (_: Error) => {};
  const opened = new Promise<void>((resolve, reject) => {
    greet = resolve;
    refuse = reject;
  });
  // Whoever waits for events hears of the same failure.
  opened.catch(() => {});

  const end = (error: Error) => {
    ended ??= error;
    clearInterval(ping);
    socket.terminate();
    refuse(ended);
    wake();
  };
  const say = (action: string, data: object) => socket.send(JSON.stringify({ seq: sent++, action, data }));
  const ping = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN) say("ping", {});
  }, PING_MS);
  const stopped = () => end(on.signal.reason instanceof Error ? on.signal.reason : new Error("stopped"));
  on.signal.addEventListener("abort", stopped, { once: true });
  socket.on("open", () => say("authentication_challenge", { token }));
  socket.on("error", (error) => end(error));
  socket.on("close", (code) => end(new Error(`The event stream was closed (${code}).`)));
  socket.on("message", (raw) => {
    const frame = asObject(parse(raw.toString()));
    on.alive();
    const name = asText(frame.event);
    if (!name) return;
    const seq = asNumber(frame.seq) ?? -1;
    if (seq !== expected) return end(new Error(`The event stream skipped from ${expected} to ${seq}.`));
    expected++;
    if (name === "hello") return greet();
    waiting.push({ name, data: asObject(frame.data) });
    wake();
  });

  async function* events(): AsyncGenerator<StreamEvent, never> {
    for (;;) {
      const next = waiting.shift();
      if (next) {
        yield next;
        continue;
      }
      if (ended) throw ended;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return { opened, events };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
