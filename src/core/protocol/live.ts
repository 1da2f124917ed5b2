/**
 * The protocol of a live connection, without the connection: a face opens sockets, hands in what they say and writes what it
 * is given. Here are the greeting, the numbers of events, and the questions that are under way.
 *
 * PROTOCOL-4: a client that reconnects sends the last number it saw and gets what it missed; after a gateway restart it learns
 * that instead.
 * PROTOCOL-5: a question asked without a connection waits for it; one under way when the connection broke is asked again under the
 *     same key (PROTOCOL-2).
 * PROTOCOL-6: events are news, the records are the truth: after every `onOpen` a face reads again what it shows.
 */
import type { LiveEvent } from "../domain/events.ts";
import type { ClientAnswer, ClientCall, Send, ShownCredential } from "./client.ts";
import type { EventFrame, Frame } from "./frames.ts";
import type { Scope } from "./principal.ts";

export interface LineHooks {
  /** Greeted. `first`: for the first time; `restarted`: by another process than before, whose numbers start over. */
  onOpen(how: { first: boolean; restarted: boolean; scopes: Scope[]; version: string }): void;
  onEvent(event: LiveEvent, seq: number): void;
}

interface Greeting {
  scopes: Scope[];
  version: string;
  boot: string;
}

interface Waiting {
  asked: ClientCall;
  resolve: (answer: ClientAnswer) => void;
  reject: (error: unknown) => void;
}

/** Quick at first, since most breaks are restarts; then patient. */
const DELAYS = [200, 400, 800, 1500, 3000, 5000, 8000, 15_000];
/** No credential in time, the wrong one, one that was revoked: trying again does not help. */
const REFUSED: readonly number[] = [4001, 4003, 4004];
const GREETING = "connect";

export const isRefused = (closeCode: number): boolean => REFUSED.includes(closeCode);

/** How long to wait after this many failed attempts, with jitter so that many clients don't return at once. */
export function nextTryMs(failed: number): number {
  return Math.round(DELAYS[Math.min(failed, DELAYS.length - 1)]! * (0.85 + Math.random() * 0.3));
}

export class LiveLine {
  private readonly hooks: LineHooks;
  private readonly waiting = new Map<string, Waiting>();
  private boot: string | undefined;
  private seq = 0;
  private next = 0;
  private write: ((text: string) => void) | undefined;
  private isGreeted = false;
  private otherWay: Send | undefined;

  constructor(hooks: LineHooks) {
    this.hooks = hooks;
  }

  /** A socket stands. The first frame shows who it is. */
  opened(write: (text: string) => void, shown: ShownCredential): void {
    this.write = write;
    const params = { ...shown, ...(this.boot ? { boot: this.boot, lastSeq: this.seq } : {}) };
    write(JSON.stringify({ type: "req", id: GREETING, method: "connect", params }));
  }

  /** What the socket said. */
  take(text: string): void {
    const frame = JSON.parse(text) as Frame;
    if (frame.type === "event") this.event(frame);
    if (frame.type !== "res") return;
    if (frame.id === GREETING) {
      if (frame.ok) this.greeted(frame.payload as Greeting);
      return;
    }
    const waiting = this.waiting.get(frame.id);
    this.waiting.delete(frame.id);
    waiting?.resolve(frame);
  }

  /** The socket is gone; what was asked over it waits for the next. */
  lost(): void {
    this.write = undefined;
    this.isGreeted = false;
  }

  /** No socket gets through: all questions, also those that wait, go this way from now on. */
  divert(send: Send): void {
    this.otherWay = send;
    for (const { asked, resolve, reject } of this.waiting.values()) send(asked).then(resolve, reject);
    this.waiting.clear();
  }

  readonly send: Send = (asked) => {
    if (this.otherWay) return this.otherWay(asked);
    return new Promise<ClientAnswer>((resolve, reject) => {
      const { signal } = asked;
      if (signal?.aborted) return reject(signal.reason);
      const id = String(++this.next);
      signal?.addEventListener("abort", () => this.waiting.delete(id) && reject(signal.reason), { once: true });
      this.waiting.set(id, { asked, resolve, reject });
      if (this.isGreeted) this.push(id, asked);
    });
  };

  private push(id: string, { method, params, key }: ClientCall): void {
    this.write?.(JSON.stringify({ type: "req", id, method, params, key }));
  }

  private greeted({ boot, scopes, version }: Greeting): void {
    const first = this.boot === undefined;
    const restarted = !first && this.boot !== boot;
    if (first || restarted) this.seq = 0;
    this.boot = boot;
    this.isGreeted = true;
    for (const [id, { asked }] of this.waiting) this.push(id, asked);
    this.hooks.onOpen({ first, restarted, scopes, version });
  }

  private event({ event, payload, seq }: EventFrame): void {
    if (event === "hello" || event === "reload") {
      // What was missed follows the greeting; only who has seen nothing yet, or missed too much, begins here.
      if (this.seq === 0 || event === "reload") this.seq = seq;
      return;
    }
    if (seq > this.seq) this.seq = seq;
    this.hooks.onEvent({ ...(payload as object), event } as LiveEvent, seq);
  }
}
