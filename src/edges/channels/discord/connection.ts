/**
 * One connection to Discord's gateway: hello, identify or resume, heartbeats, dispatches. It ends and says how to go on: `resume`
 * the session, or `identify` for a new one. What only a person can fix is thrown.
 */
import { WebSocket } from "ws";
import { AppError, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";

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
  /** The session to resume; without it a new one is begun. */
  session: DiscordSession | undefined;
  clock: Clock;
  /** The session is open. `fresh`: it is a new one, which knows nothing about what came before. */
  onOpen(session: DiscordSession, fresh: boolean): void;
  onDispatch(type: string, body: unknown, seq: number): void;
  /** A heartbeat was answered. */
  onBeat(): void;
}

export type DiscordEnd = "resume" | "identify";

const HANDSHAKE_MS = 15_000;
/** What Discord's documentation shows as an example; every hello brings the real one. */
const USUAL_BEAT_MS = 41_250;
/** Discord's opcodes. */
const DISPATCH = 0;
const HEARTBEAT = 1;
const IDENTIFY = 2;
const RESUME = 6;
const RECONNECT = 7;
const INVALID_SESSION = 9;
const HELLO = 10;
const HEARTBEAT_ACK = 11;
/** Close codes after which the session is gone and a new one may be begun. */
const GONE = new Set([4003, 4007, 4009]);
const FATAL: Readonly<Record<number, readonly [message: string, hint: string]>> = {
  4004: ["Discord rejected the bot token.", "Reset it in the developer portal: lares channels add discord"],
  4011: ["The bot is in too many servers for one connection.", "Use a second bot for some of them."],
  4012: ["Discord no longer speaks this version of its gateway.", "Update Lares."],
  4014: [
    "Discord refuses to show this bot messages that don't mention it.",
    "Turn on the Message Content Intent in the developer portal, or set mention: true for every group.",
  ],
};
const PROPERTIES = { os: process.platform, browser: "lares", device: "lares" };

export class DiscordConnection {
  readonly done: Promise<DiscordEnd>;
  private readonly parts: DiscordGatewayParts;
  private readonly signal: AbortSignal;
  private readonly socket: WebSocket;
  private session: DiscordSession | undefined;
  private seq: number | null;
  private isBeatAnswered = true;
  private cancelBeat = () => {};
  private resolve: (how: DiscordEnd) => void = () => {};
  private reject: (error: unknown) => void = () => {};
  private readonly stop = () => this.end("resume");

  constructor(parts: DiscordGatewayParts, signal: AbortSignal) {
    this.parts = parts;
    this.signal = signal;
    this.session = parts.session;
    this.seq = parts.session?.seq ?? null;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    const url = `${parts.session?.url ?? parts.url}/?v=10&encoding=json`;
    this.socket = new WebSocket(url, { handshakeTimeout: HANDSHAKE_MS });
    signal.addEventListener("abort", this.stop, { once: true });
    if (signal.aborted) this.stop();
    // The close event follows and says what it means.
    this.socket.on("error", () => {});
    this.socket.on("close", (code) => this.closed(code));
    this.socket.on("message", (data) => {
      try {
        this.take(asObject(JSON.parse(String(data))));
      } catch (error) {
        this.fail(error);
      }
    });
  }

  /** Ends it from outside: a message could not be taken. */
  fail(error: unknown): void {
    this.close();
    this.reject(error);
  }

  private end(how: DiscordEnd): void {
    this.close();
    this.resolve(how);
  }

  private close(): void {
    this.cancelBeat();
    this.signal.removeEventListener("abort", this.stop);
    // Without a goodbye: a proper close would end the session, and with it what can be resumed.
    this.socket.terminate();
  }

  private closed(code: number): void {
    const fatal = FATAL[code];
    if (!fatal) {
      this.end(GONE.has(code) ? "identify" : "resume");
      return;
    }
    const [message, hint] = fatal;
    this.fail(new AppError("CHANNEL_UNKNOWN", { message, hint, retry: "after-change" }));
  }

  private take({ op, d, s, t }: Record<string, unknown>): void {
    switch (op) {
      case HELLO:
        this.greet(asNumber(asObject(d).heartbeat_interval) ?? USUAL_BEAT_MS);
        break;
      case HEARTBEAT_ACK:
        this.isBeatAnswered = true;
        this.parts.onBeat();
        break;
      case HEARTBEAT:
        this.send(HEARTBEAT, this.seq);
        break;
      case RECONNECT:
        this.end("resume");
        break;
      case INVALID_SESSION:
        this.end(d === true ? "resume" : "identify");
        break;
      case DISPATCH:
        this.seq = asNumber(s) ?? this.seq;
        this.dispatch(asText(t) ?? "", d, this.seq ?? 0);
        break;
      default:
        break;
    }
  }

  private greet(everyMs: number): void {
    const { token, intents } = this.parts;
    // The first beat comes at a random moment, as Discord asks, so that its clients don't all beat at once.
    this.beat(everyMs, Math.floor(everyMs * Math.random()));
    if (this.session) this.send(RESUME, { token, session_id: this.session.id, seq: this.seq });
    else this.send(IDENTIFY, { token, intents, properties: PROPERTIES });
  }

  private dispatch(type: string, body: unknown, seq: number): void {
    if (type === "READY") {
      const { resume_gateway_url, session_id } = asObject(body);
      this.session = { id: asText(session_id) ?? "", url: asText(resume_gateway_url) ?? this.parts.url, seq };
      this.parts.onOpen(this.session, true);
    } else if (type === "RESUMED" && this.session) {
      this.parts.onOpen(this.session, false);
    }
    this.parts.onDispatch(type, body, seq);
  }

  private beat(everyMs: number, firstMs = everyMs): void {
    this.cancelBeat = this.parts.clock.after(firstMs, () => {
      // The last beat was not answered: the connection is dead, no matter what the socket says.
      if (!this.isBeatAnswered) return this.end("resume");
      this.isBeatAnswered = false;
      this.send(HEARTBEAT, this.seq);
      this.beat(everyMs);
    });
  }

  private send(op: number, d: unknown): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ op, d }));
  }
}
