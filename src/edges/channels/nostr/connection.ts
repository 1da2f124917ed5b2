/** One relay: questions, publishing with its answer, and login where it asks for one (NIP-01, NIP-42). */
import { WebSocket } from "ws";
import { SendUncertain } from "../../../core/contracts/index.ts";
import { asObject } from "../../../core/domain/index.ts";
import { refused, unreached } from "../sending.ts";

export interface NostrEvent {
  id: string;
  pubkey: string;
  kind: number;
  created_at: number;
  tags: string[][];
  content: string;
  sig: string;
}

const PATIENCE_MS = 15_000;
const PING_MS = 30_000;
const MOST_BYTES = 1024 * 1024;

export class Relay {
  readonly url: string;
  readonly opened: Promise<void>;
  readonly closed: Promise<void>;
  private readonly socket: WebSocket;
  private readonly subs = new Map<string, { filter: object; event: (e: NostrEvent) => void; end: () => void }>();
  private readonly oks = new Map<string, (ok: boolean, why: string) => void>();
  private n = 0;

  constructor(
    url: string,
    parts: { login: (challenge: string) => NostrEvent; alive: () => void; signal: AbortSignal },
  ) {
    this.url = url;
    this.socket = new WebSocket(url, { maxPayload: MOST_BYTES, handshakeTimeout: PATIENCE_MS });
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve()));
    this.opened = new Promise((resolve, reject) => {
      this.socket.once("open", () => resolve());
      this.socket.once("error", (error) => reject(unreached(`the relay ${url}`, error)));
      this.socket.once("close", () => reject(refused(`The relay ${url} closed the connection.`, "later")));
    });
    this.opened.catch(() => {});
    this.socket.on("error", () => {});
    this.socket.on("pong", parts.alive);
    this.socket.on("message", (data) => {
      parts.alive();
      this.take(String(data), parts.login);
    });
    const ping = setInterval(() => this.socket.readyState === WebSocket.OPEN && this.socket.ping(), PING_MS);
    void this.closed.then(() => clearInterval(ping));
    parts.signal.addEventListener("abort", () => this.socket.terminate(), { once: true });
  }

  close(): void {
    this.socket.close();
  }

  /** The events it has, then those that come; `end` is called in between. */
  subscribe(filter: object, heard: { event: (e: NostrEvent) => void; end: () => void }): () => void {
    const sub = `s${++this.n}`;
    this.subs.set(sub, { filter, ...heard });
    this.write(["REQ", sub, filter]);
    return () => {
      this.subs.delete(sub);
      this.write(["CLOSE", sub]);
    };
  }

  /** Everything it has for the filter. */
  async query(filter: object): Promise<NostrEvent[]> {
    const found: NostrEvent[] = [];
    let stop = () => {};
    await Promise.race([
      new Promise<void>((resolve) => {
        stop = this.subscribe(filter, { event: (e) => found.push(e), end: resolve });
      }),
      this.late("A relay didn't answer."),
    ]).finally(() => stop());
    return found;
  }

  /** Resolves when the relay says that it has the event. */
  async publish(event: NostrEvent): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) throw refused(`The relay ${this.url} is not connected.`, "later");
    const answer = new Promise<void>((resolve, reject) => {
      this.oks.set(event.id, (ok, why) => {
        // The relay has it already, which is as good as taken.
        if (ok || why.startsWith("duplicate")) return resolve();
        const passes = /^(rate-limited|error|auth-required)/.test(why);
        reject(refused(`A relay refused the message: ${why}`, passes ? "later" : "never"));
      });
    });
    this.write(["EVENT", event]);
    await Promise.race([answer, this.late("A relay didn't answer.")]).finally(() => this.oks.delete(event.id));
  }

  private late(what: string): Promise<never> {
    return new Promise((_resolve, reject) => {
      setTimeout(() => reject(new SendUncertain(what)), PATIENCE_MS).unref();
      void this.closed.then(() => reject(new SendUncertain("The relay closed the connection.")));
    });
  }

  private write(frame: unknown): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  private take(text: string, login: (challenge: string) => NostrEvent): void {
    let frame: unknown;
    try {
      frame = JSON.parse(text);
    } catch {
      return;
    }
    if (!Array.isArray(frame)) return;
    const [kind, first, second, third] = frame as unknown[];
    const event = kind === "EVENT" ? readEvent(second) : undefined;
    if (event && typeof first === "string") this.subs.get(first)?.event(event);
    else if (kind === "EOSE" && typeof first === "string") this.subs.get(first)?.end();
    else if (kind === "OK" && typeof first === "string") this.oks.get(first)?.(second === true, String(third ?? ""));
    else if (kind === "AUTH" && typeof first === "string") this.login(login(first));
    // Without the subscription nothing would arrive. One that needs a login is asked for again after the login.
    else if (kind === "CLOSED" && !String(second).startsWith("auth-required")) this.socket.terminate();
  }

  private login(event: NostrEvent): void {
    this.oks.set(event.id, () => {
      this.oks.delete(event.id);
      for (const [sub, { filter }] of this.subs) this.write(["REQ", sub, filter]);
    });
    this.write(["AUTH", event]);
  }
}

/** Undefined when it isn't an event. Whether its signature is good is another question. */
function readEvent(value: unknown): NostrEvent | undefined {
  const { id, pubkey, kind, created_at, tags, content, sig } = asObject(value);
  const isTag = (tag: unknown): tag is string[] => Array.isArray(tag) && tag.every((one) => typeof one === "string");
  if (typeof id !== "string" || typeof pubkey !== "string" || typeof sig !== "string") return undefined;
  if (typeof content !== "string" || typeof kind !== "number" || typeof created_at !== "number") return undefined;
  return Array.isArray(tags) && tags.every(isTag) ? { id, pubkey, kind, created_at, tags, content, sig } : undefined;
}
