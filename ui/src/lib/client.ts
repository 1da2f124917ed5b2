/**
 * The page's end of the wire: one WebSocket for questions, answers and live events; plain HTTP where no socket gets through.
 * What is said over it is the shared client's business (src/core/protocol/client.ts); here is when to connect, and what the
 * person sees of it. The cookie is HttpOnly and sent by the browser; its proof comes from `login.ts`.
 */
import {
  type Client,
  fetchSend,
  isRefused,
  LiveLine,
  nextTryMs,
  type Send,
  typedClient,
} from "../../../src/core/protocol/client.ts";
import type { Scope } from "../../../src/core/protocol/index.ts";

import { loginHeaders, shown } from "./login.ts";

export { AppError, newKey } from "../../../src/core/protocol/client.ts";

/** What an event carries, as far as the page reads it. */
export interface LiveEvent {
  event: string;
  session: string;
  turn: string;
  text: string;
  call: number;
  step: string;
  state: string;
  segment: number;
  id: string;
  name: string;
  input: unknown;
  isError: boolean;
  approval: string;
  by: string;
  what: string;
  model: string;
  failure: string;
  attempt: number;
  inMs: number;
  joined?: string;
  attachments?: { attachment: string; mediaType: string; name: string; bytes?: number }[];
  seq: number;
}

export type Connection =
  | { kind: "connecting" }
  | { kind: "online"; live: boolean }
  | { kind: "offline"; since: number; nextTry: number }
  | { kind: "signed-out"; wasIn: boolean };

export interface WireHooks {
  onConnection: (now: Connection) => void;
  /** A connection stands; missed events follow, unless Lares was restarted meanwhile. */
  onOnline: (info: { scopes: Scope[]; version: string; first: boolean; restarted: boolean }) => void;
  onLiveEvent: (liveEvent: LiveEvent) => void;
}

/** A connection that says nothing for so long is asked whether it is alive. */
const SILENCE_MS = 25_000;
const ANSWER_MS = 10_000;
/** So many sockets that never opened while HTTP works mean that something on the way blocks them. */
const BLOCKED_AFTER = 3;
const POLL_MS = 3000;

export class Wire {
  readonly client: Client;
  private readonly hooks: WireHooks;
  private readonly line: LiveLine;
  private socket: WebSocket | undefined;
  private failed = 0;
  private neverOpened = 0;
  private wasOnline = false;
  private since = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pulse: ReturnType<typeof setTimeout> | undefined;
  private poll: ReturnType<typeof setInterval> | undefined;
  private over = false;

  constructor(hooks: WireHooks) {
    this.hooks = hooks;
    this.line = new LiveLine({
      onOpen: (how) => this.online(how),
      onEvent: (event, seq) => hooks.onLiveEvent({ ...event, seq } as unknown as LiveEvent),
    });
    this.client = typedClient(this.line.send);
    addEventListener("online", () => this.tryNow());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.tryNow();
    });
    this.open();
  }

  tryNow(): void {
    const state = this.socket?.readyState;
    if (this.over || this.poll || state === WebSocket.OPEN || state === WebSocket.CONNECTING) return;
    clearTimeout(this.timer);
    this.open();
  }

  private open(): void {
    const address = new URL("/ws", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    this.socket = socket;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      this.neverOpened = 0;
      this.line.opened((text) => socket.send(text), shown());
      this.heard();
    };
    socket.onmessage = (message) => {
      this.heard();
      this.line.take(String(message.data));
    };
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      this.line.lost();
      clearTimeout(this.pulse);
      void this.closed(event.code, opened);
    };
  }

  private online(how: { scopes: Scope[]; version: string; restarted: boolean }): void {
    const first = !this.wasOnline;
    this.wasOnline = true;
    this.failed = 0;
    this.since = 0;
    this.hooks.onConnection({ kind: "online", live: true });
    this.hooks.onOnline({ ...how, first });
  }

  private async closed(code: number, opened: boolean): Promise<void> {
    if (!opened) this.neverOpened++;
    // A refused upgrade looks like a network failure to the browser; one plain question tells them apart.
    const door = await this.probe();
    if (isRefused(code) || door === "signed-out" || door === "was-in") {
      this.over = true;
      this.hooks.onConnection({ kind: "signed-out", wasIn: this.wasOnline || door === "was-in" });
      return;
    }
    if (door === "signed-in" && this.neverOpened >= BLOCKED_AFTER) return this.useHttp();
    this.since ||= Date.now();
    const delay = nextTryMs(this.failed++);
    this.hooks.onConnection({ kind: "offline", since: this.since, nextTry: Date.now() + delay });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), delay);
  }

  /** `was-in`: there is a login's cookie, but it is no longer a login. */
  private async probe(): Promise<"signed-in" | "signed-out" | "was-in" | "silent"> {
    try {
      const answer = await fetch("/session", {
        credentials: "same-origin",
        headers: loginHeaders(),
        signal: AbortSignal.timeout(4000),
      });
      const { signedIn, wasIn } = (await answer.json()) as { signedIn?: boolean; wasIn?: boolean };
      if (signedIn === undefined) return "silent";
      if (signedIn) return "signed-in";
      return wasIn ? "was-in" : "signed-out";
    } catch {
      return "silent";
    }
  }

  private heard(): void {
    clearTimeout(this.pulse);
    this.pulse = setTimeout(() => {
      this.client.call("health", {}).catch(() => {});
      this.pulse = setTimeout(() => this.socket?.close(), ANSWER_MS);
    }, SILENCE_MS);
  }

  /** No socket gets through: questions go over HTTP, and the stores look every few seconds. */
  private useHttp(): void {
    this.poll = setInterval(() => this.hooks.onLiveEvent({ event: "poll" } as LiveEvent), POLL_MS);
    this.wasOnline = true;
    this.hooks.onConnection({ kind: "online", live: false });
    this.hooks.onOnline({ scopes: [], version: "", first: true, restarted: false });
    const post = fetchSend({ url: "", shown, fetch: (...asked) => fetch(...asked) });
    const send: Send = async (asked) => {
      const answer = await post(asked);
      if (!answer.ok && answer.error.code === "UNAUTHORIZED")
        this.hooks.onConnection({ kind: "signed-out", wasIn: true });
      return answer;
    };
    this.line.divert(send);
  }
}
