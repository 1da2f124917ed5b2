/**
 * The wire: one WebSocket for questions, answers and live events; plain HTTP where no socket gets through.
 *
 * C1: a question asked without a connection waits for it; one that was under way when the connection broke is asked again.
 *     That is safe: every question that changes something carries an idempotency key.
 * C2: events are news, the records are the truth. After every new connection `onOnline` tells the stores to read again.
 * C3: no credential is held here. The cookie is HttpOnly; the browser sends it.
 */
import type { Client, EventFrame, Frame, MethodName, Params, Result, Scope } from "../../../src/core/protocol/index.ts";

export type Methods = MethodName;
export interface Failure {
  code: string;
  message: string;
  hint?: string | undefined;
  retry?: string;
  details?: Record<string, unknown>;
}
export class WireError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly retry: string;
  constructor(f: Failure) {
    super(f.message);
    this.code = f.code;
    this.hint = f.hint;
    this.retry = f.retry ?? "later";
  }
}

/** What an event carries, as far as the page reads it. */
export interface News {
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
  joined?: string;
  seq: number;
}

export type Connection =
  | { kind: "connecting" }
  | { kind: "online"; live: boolean }
  | { kind: "offline"; since: number; nextTry: number }
  | { kind: "signed-out"; wasIn: boolean };

interface Waiting {
  method: string;
  params: unknown;
  resolve: (payload: unknown) => void;
  reject: (error: unknown) => void;
  sent: boolean;
}

export interface WireHooks {
  onConnection: (now: Connection) => void;
  /** A connection stands; what was missed follows as news, unless Lares was restarted meanwhile. */
  onOnline: (info: { scopes: Scope[]; version: string; first: boolean; restarted: boolean }) => void;
  onNews: (news: News) => void;
}

/** Quick at first, since most breaks are restarts; then patient. */
const DELAYS = [200, 400, 800, 1500, 3000, 5000, 8000, 15_000];
/** A connection that says nothing for so long is asked whether it is alive. */
const SILENCE_MS = 25_000;
const ANSWER_MS = 10_000;
/** So many sockets that never opened while HTTP works mean that something on the way blocks them. */
const BLOCKED_AFTER = 3;
const POLL_MS = 3000;

export class Wire implements Client {
  private readonly hooks: WireHooks;
  private socket: WebSocket | undefined;
  private readonly waiting = new Map<string, Waiting>();
  private boot: string | undefined;
  private seq = 0;
  private tries = 0;
  private neverOpened = 0;
  private wasOnline = false;
  private since = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pulse: ReturnType<typeof setTimeout> | undefined;
  private poll: ReturnType<typeof setInterval> | undefined;
  private over = false;
  private next = 0;

  constructor(hooks: WireHooks) {
    this.hooks = hooks;
    addEventListener("online", () => this.tryNow());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.tryNow();
    });
    this.open();
  }

  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  call(method: string, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = String(++this.next);
      const asked: Waiting = { method, params, resolve, reject, sent: false };
      this.waiting.set(id, asked);
      this.push(id, asked);
    });
  }

  /** Whether a question is still under way, so that a page can say "kept here". */
  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN || this.poll !== undefined;
  }

  tryNow(): void {
    if (this.over || this.isOpen || this.socket?.readyState === WebSocket.CONNECTING) return;
    clearTimeout(this.timer);
    this.open();
  }

  private push(id: string, asked: Waiting): void {
    if (this.poll) void this.overHttp(id, asked);
    else if (this.socket?.readyState === WebSocket.OPEN) {
      asked.sent = true;
      this.socket.send(JSON.stringify({ type: "req", id, method: asked.method, params: asked.params }));
    }
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
      const params = this.boot ? { boot: this.boot, lastSeq: this.seq } : {};
      socket.send(JSON.stringify({ type: "req", id: "connect", method: "connect", params }));
      this.heard();
    };
    socket.onmessage = (message) => {
      this.heard();
      this.read(JSON.parse(String(message.data)) as Frame);
    };
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      clearTimeout(this.pulse);
      void this.closed(event.code, opened);
    };
  }

  private read(frame: Frame): void {
    if (frame.type === "event") this.event(frame);
    if (frame.type !== "res") return;
    if (frame.id === "connect") {
      if (frame.ok) this.connected(frame.payload as { scopes: Scope[]; version: string; boot: string });
      return;
    }
    const asked = this.waiting.get(frame.id);
    if (!asked) return;
    this.waiting.delete(frame.id);
    if (frame.ok) asked.resolve(frame.payload);
    else asked.reject(new WireError(frame.error as Failure));
  }

  private connected(hello: { scopes: Scope[]; version: string; boot: string }): void {
    const restarted = this.boot !== undefined && this.boot !== hello.boot;
    const first = !this.wasOnline;
    if (this.boot !== hello.boot) this.seq = 0;
    this.boot = hello.boot;
    this.wasOnline = true;
    this.tries = 0;
    this.since = 0;
    this.hooks.onConnection({ kind: "online", live: true });
    for (const [id, asked] of this.waiting) this.push(id, asked);
    this.hooks.onOnline({ scopes: hello.scopes, version: hello.version, first, restarted });
  }

  private event(frame: EventFrame): void {
    const payload = frame.payload as Record<string, unknown>;
    if (frame.event === "hello" || frame.event === "reload") {
      // Both only follow a new connection, after which everything is read again anyway (C2).
      if (this.seq === 0 || frame.event === "reload") this.seq = frame.seq;
      return;
    }
    if (frame.seq > this.seq) this.seq = frame.seq;
    this.hooks.onNews({ ...payload, event: frame.event, seq: frame.seq } as unknown as News);
  }

  private async closed(code: number, opened: boolean): Promise<void> {
    for (const asked of this.waiting.values()) asked.sent = false;
    if (!opened) this.neverOpened++;
    // A refused upgrade looks like a network failure to the browser; one plain question tells them apart.
    const refused = code === 4001 || code === 4003 || code === 4004;
    const door = refused ? "signed-out" : await this.probe();
    if (door === "signed-out") {
      this.over = true;
      this.hooks.onConnection({ kind: "signed-out", wasIn: this.wasOnline });
      return;
    }
    if (door === "signed-in" && this.neverOpened >= BLOCKED_AFTER) return this.useHttp();
    this.since ||= Date.now();
    const base = DELAYS[Math.min(this.tries++, DELAYS.length - 1)]!;
    const delay = base * (0.85 + Math.random() * 0.3);
    this.hooks.onConnection({ kind: "offline", since: this.since, nextTry: Date.now() + delay });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), delay);
  }

  private async probe(): Promise<"signed-in" | "signed-out" | "silent"> {
    try {
      const answer = await fetch("/session", { credentials: "same-origin", signal: AbortSignal.timeout(4000) });
      const { signedIn } = (await answer.json()) as { signedIn?: boolean };
      return signedIn === undefined ? "silent" : signedIn ? "signed-in" : "signed-out";
    } catch {
      return "silent";
    }
  }

  private heard(): void {
    clearTimeout(this.pulse);
    this.pulse = setTimeout(() => {
      this.call("health", {}).catch(() => {});
      this.pulse = setTimeout(() => this.socket?.close(), ANSWER_MS);
    }, SILENCE_MS);
  }

  /** No socket gets through: questions go over HTTP, and the stores are told to look every few seconds. */
  private useHttp(): void {
    this.poll = setInterval(() => this.hooks.onNews({ event: "poll" } as News), POLL_MS);
    this.wasOnline = true;
    this.hooks.onConnection({ kind: "online", live: false });
    this.hooks.onOnline({ scopes: [], version: "", first: true, restarted: false });
    for (const [id, asked] of this.waiting) this.push(id, asked);
  }

  private async overHttp(id: string, asked: Waiting): Promise<void> {
    this.waiting.delete(id);
    try {
      const response = await post(asked.method, asked.params);
      const body = (await response.json().catch(() => undefined)) as { error?: Failure } | undefined;
      if (response.ok) return asked.resolve(body);
      if (response.status === 401) this.hooks.onConnection({ kind: "signed-out", wasIn: true });
      asked.reject(new WireError(body?.error ?? { code: "INTERNAL", message: `Lares answered ${response.status}.` }));
    } catch (cause) {
      asked.reject(new WireError({ code: "GATEWAY_DOWN", message: String(cause) }));
    }
  }
}

function post(method: string, params: unknown): Promise<Response> {
  return fetch(`/rpc/${method}`, {
    method: "POST",
    credentials: "same-origin",
    // The header cannot be sent by a form of another site: with the SameSite cookie it is the guard against forgery.
    headers: { "content-type": "application/json", "x-lares-csrf": "1" },
    body: JSON.stringify(params),
  });
}
