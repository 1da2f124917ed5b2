/**
 * One connection to Discord's gateway: hello, identify or resume, heartbeats, dispatches. It ends and says how to go on:
 * `resume` the session, or begin `anew`. What only a person can mend throws.
 */
import { WebSocket } from "ws";
import { AppError } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { asNumber, asObject, asText } from "../api.ts";

export interface DiscordSession {
  id: string;
  url: string;
  /** Everything up to this number is durable here. */
  seq: number;
}

export interface DiscordGatewayParts {
  token: string;
  intents: number;
  url: string;
  /** Goes on where this one was left; without it a new session is begun. */
  session: DiscordSession | undefined;
  clock: Clock;
  /** The session is open. `fresh`: it is a new one, which knows nothing of what came before. */
  onOpen(session: DiscordSession, fresh: boolean): void;
  onDispatch(type: string, body: unknown, seq: number): void;
  /** A heartbeat came back. */
  onBeat(): void;
}

export type DiscordEnd = "resume" | "identify";

const HANDSHAKE_MS = 15_000;
/** Close codes after which the session is gone and a new one may be begun. */
const GONE = new Set([4003, 4007, 4009]);
const FATAL: Readonly<Record<number, readonly [message: string, hint: string]>> = {
  4004: ["Discord rejected the bot token.", "Reset it in the developer portal: lares channels add discord"],
  4011: ["The bot is in too many servers for one connection.", "Use a bot of its own for some of them."],
  4012: ["Discord no longer speaks this version of its gateway.", "Update Lares."],
  4014: [
    "Discord refuses to show this bot what is said without naming it.",
    "Turn on the Message Content Intent in the developer portal, or set mention: true for every group.",
  ],
};
const PROPERTIES = { os: process.platform, browser: "lares", device: "lares" };

export function connect(
  parts: DiscordGatewayParts,
  signal: AbortSignal,
): { done: Promise<DiscordEnd>; fail(error: unknown): void } {
  const { clock } = parts;
  let session = parts.session;
  let seq = session?.seq ?? null;
  let isAnswered = true;
  let cancelBeat = () => {};
  const socket = new WebSocket(`${session?.url ?? parts.url}/?v=10&encoding=json`, { handshakeTimeout: HANDSHAKE_MS });
  let settle: { resolve(how: DiscordEnd): void; reject(error: unknown): void };
  const done = new Promise<DiscordEnd>((resolve, reject) => {
    settle = { resolve, reject };
  });

  const send = (op: number, d: unknown) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ op, d }));
  };
  const end = (how: DiscordEnd | { error: unknown }) => {
    cancelBeat();
    signal.removeEventListener("abort", stop);
    // Without a goodbye: a plain close would end the session, and with it what can be resumed.
    socket.terminate();
    if (typeof how === "string") settle.resolve(how);
    else settle.reject(how.error);
  };
  const stop = () => end("resume");
  const beat = (everyMs: number, firstMs = everyMs) => {
    cancelBeat = clock.after(firstMs, () => {
      // The last one was not answered: the line is dead, whatever the socket says.
      if (!isAnswered) return end("resume");
      isAnswered = false;
      send(1, seq);
      beat(everyMs);
    });
  };

  function frame({ op, d, s, t }: Record<string, unknown>): void {
    switch (op) {
      case 10: {
        const everyMs = asNumber(asObject(d).heartbeat_interval) ?? 41_250;
        // The first beat comes at a random moment, as Discord asks, so that crowds spread out.
        beat(everyMs, Math.floor(everyMs * Math.random()));
        if (session) send(6, { token: parts.token, session_id: session.id, seq });
        else send(2, { token: parts.token, intents: parts.intents, properties: PROPERTIES });
        return;
      }
      case 11:
        isAnswered = true;
        parts.onBeat();
        return;
      case 1:
        send(1, seq);
        return;
      case 7:
        end("resume");
        return;
      case 9:
        end(d === true ? "resume" : "identify");
        return;
      case 0:
        seq = asNumber(s) ?? seq;
        if (t === "READY") {
          const { resume_gateway_url, session_id } = asObject(d);
          session = { id: asText(session_id) ?? "", url: asText(resume_gateway_url) ?? parts.url, seq: seq ?? 0 };
          parts.onOpen(session, true);
        } else if (t === "RESUMED" && session) {
          parts.onOpen(session, false);
        }
        parts.onDispatch(asText(t) ?? "", d, seq ?? 0);
        return;
      default:
        return;
    }
  }

  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  socket.on("error", () => {});
  socket.on("close", (code) => {
    const fatal = FATAL[code];
    if (!fatal) return end(GONE.has(code) ? "identify" : "resume");
    const [message, hint] = fatal;
    end({ error: new AppError("CHANNEL_UNKNOWN", { message, hint, retry: "after-change" }) });
  });
  socket.on("message", (data) => {
    try {
      frame(asObject(JSON.parse(String(data))));
    } catch (error) {
      end({ error });
    }
  });
  return { done, fail: (error) => end({ error }) };
}
