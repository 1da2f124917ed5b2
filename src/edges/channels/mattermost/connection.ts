/**
 * One connection to Mattermost's event stream. Its events are numbered; a gap in the numbers means that something was missed, and
 * the connection ends: the next one begins by reading over REST what happened in between.
 */
import { WebSocket } from "ws";
import { asJson, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { Queue } from "../queue.ts";

export interface StreamEvent {
  name: string;
  data: Record<string, unknown>;
}

/** Well below the minute or so after which proxies close a silent connection. */
const PING_MS = 20_000;

export interface MattermostConnection {
  /** Resolves once the server has said hello: from here on every event is in the stream. */
  opened: Promise<void>;
  /** One after another, in order; ends by throwing. */
  events(): AsyncGenerator<StreamEvent, never>;
}

export function connect(
  url: string,
  token: string,
  on: { alive: () => void; signal: AbortSignal },
): MattermostConnection {
  const socket = new WebSocket(url, { handshakeTimeout: 15_000, maxPayload: 8 * 1024 * 1024 });
  const queue = new Queue<StreamEvent>();
  let greet = () => {};
  let refuse = (_: Error) => {};
  const opened = new Promise<void>((resolve, reject) => {
    greet = resolve;
    refuse = reject;
  });
  // The same failure reaches the loop over the events: nobody needs to be waiting for the hello.
  opened.catch(() => {});
  let sent = 1;
  let expected = 0;

  const end = (error: Error) => {
    clearInterval(ping);
    socket.terminate();
    refuse(error);
    queue.end(error);
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
    const frame = asObject(asJson(raw.toString()));
    on.alive();
    const name = asText(frame.event);
    if (!name) return;
    const seq = asNumber(frame.seq) ?? -1;
    if (seq !== expected) return end(new Error(`The event stream skipped from ${expected} to ${seq}.`));
    expected++;
    if (name === "hello") greet();
    else queue.push({ name, data: asObject(frame.data) });
  });
  return { opened, events: () => queue.items() };
}
