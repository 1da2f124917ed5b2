/**
 * The outbox: intended → sending → sent. Whatever leaves Lares unasked leaves through here.
 *
 * O1: an answer is intended in the transaction that ends its turn; a repeated intention is the same rows (I6).
 * O2: the claim is durable before the platform is called. A claim without an outcome after a crash is repeated only where the
 *     platform deduplicates; elsewhere it is `uncertain` and the person gets one honest note.
 * O3: one chat's messages go out one after another, in order; one chat's trouble touches no other.
 */
import { type Channel, type Records, SendUncertain, type Tx } from "../../core/contracts/index.ts";
import {
  AppError,
  asId,
  type DeliveryId,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import { type Bus, backoffMs, type Clock, type Crash, type Log } from "../../core/kit/index.ts";
import { chunk } from "./chunk.ts";
import type { OutboxConfig } from "./config.ts";
import {
  type Delivery,
  type DeliveryState,
  insertDelivery,
  outstanding,
  outstandingOf,
  updateDelivery,
} from "./store.ts";

export interface OutboxParts {
  records: Records;
  /** The channel a route names. `pull`: nothing is pushed there, the caller fetches the answer. */
  channel: (name: string, account: string) => Channel | "pull" | undefined;
  config: () => OutboxConfig;
  clock: Clock;
  crash: Crash;
  bus: Bus;
  log: Log;
}

/** A send that hangs longer than this may have been taken: it is uncertain. */
const SEND_TIMEOUT_MS = 30_000;

export class Outbox {
  private readonly parts: OutboxParts;
  private readonly routes = new Map<string, Delivery[]>();
  private readonly known = new Set<DeliveryId>();
  private stopped = false;
  private readonly stopping = new AbortController();

  constructor(parts: OutboxParts) {
    this.parts = parts;
  }

  /** Takes up everything that was intended and not confirmed before the last stop. */
  async start(): Promise<void> {
    for (const d of await outstanding(this.parts.records)) this.queue(d);
  }

  stop(): void {
    this.stopped = true;
    this.stopping.abort();
  }

  /** Writes the intention. Returns without a row where the caller fetches the answer itself. */
  intend(tx: Tx, m: { answer: string; turn: TurnId; session: SessionKey; route: ReplyRoute; text: string }): void {
    const channel = this.parts.channel(m.route.channel, m.route.account);
    if (channel === "pull") return;
    const now = this.parts.clock.now();
    const pieces = chunk(m.text, channel?.limit ?? 4000);
    pieces.forEach((text, part) => {
      const id = asId<DeliveryId>(`${m.answer}/${String(part).padStart(3, "0")}`);
      const expiresAt = now + this.parts.config().expireAfterHours * 3_600_000;
      insertDelivery(tx, { id, part, ...m, text, state: "intended", attempts: 0, nextAt: now, expiresAt }, now);
    });
  }

  /** After the intention is durable: sends what this turn left. */
  async wake(turn: TurnId): Promise<void> {
    for (const d of await outstandingOf(this.parts.records, turn)) this.queue(d);
  }

  private queue(d: Delivery): void {
    if (this.stopped || this.known.has(d.id)) return;
    this.known.add(d.id);
    const key = JSON.stringify([d.route.channel, d.route.account, d.route.chat, d.route.thread ?? null]);
    const line = this.routes.get(key);
    if (line) {
      line.push(d);
      return;
    }
    const fresh = [d];
    this.routes.set(key, fresh);
    void this.drain(key, fresh);
  }

  private async drain(key: string, line: Delivery[]): Promise<void> {
    while (line.length && !this.stopped) {
      const head = line[0]!;
      await this.until(head.nextAt);
      if (this.stopped) return;
      const done = await this.attempt(head).catch((error) => {
        this.parts.log.error("delivery broke", { delivery: head.id, error: String(error) });
        return true;
      });
      if (!done) continue;
      line.shift();
      this.known.delete(head.id);
    }
    this.routes.delete(key);
  }

  /** One try. True when this delivery needs no more tries. */
  private async attempt(d: Delivery): Promise<boolean> {
    const { clock, crash } = this.parts;
    if (clock.now() >= d.expiresAt) return this.close(d, "expired", "It could not be delivered in time.");
    const channel = this.parts.channel(d.route.channel, d.route.account);
    if (!channel || channel === "pull") return this.retry(d, `The channel "${d.route.channel}" is not configured.`);
    if (d.state === "sending" && !channel.dedupes) return this.uncertain(d, "Lares stopped while it was being sent.");
    crash.at("outbox.before");
    d.state = "sending";
    d.attempts++;
    await this.save(d);
    crash.at("outbox.claimed");
    try {
      const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
      const sent = await channel.send({ route: d.route, text: d.text, key: d.id }, signal);
      crash.at("send.after");
      d.state = "sent";
      await this.save(d, { platformId: sent.platformId });
      crash.at("outbox.recorded");
      this.tell(d);
      return true;
    } catch (error) {
      if (this.stopped) return true;
      const message = error instanceof Error ? error.message : String(error);
      const surelyNot = error instanceof AppError;
      if (surelyNot && error.retry === "never") return this.close(d, "failed", message);
      if (surelyNot || channel.dedupes) return this.retry(d, message);
      return this.uncertain(d, error instanceof SendUncertain ? message : `The send was cut: ${message}`);
    }
  }

  private async retry(d: Delivery, error: string): Promise<boolean> {
    const { firstRetryMs, mostRetryMs } = this.parts.config();
    d.state = "intended";
    d.nextAt =
      this.parts.clock.now() +
      backoffMs({ firstMs: firstRetryMs, mostMs: mostRetryMs, jitter: 0.2 }, Math.max(d.attempts, 1));
    await this.save(d, { error });
    this.tell(d, error);
    return false;
  }

  private async close(d: Delivery, state: DeliveryState, error: string): Promise<boolean> {
    d.state = state;
    await this.save(d, { error });
    this.tell(d, error);
    return true;
  }

  /** Not repeated blindly: marked, and one note says so. A note itself gets no note. */
  private async uncertain(d: Delivery, error: string): Promise<boolean> {
    d.state = "uncertain";
    const isNote = d.answer.endsWith(":note");
    const begin = d.text.length > 60 ? `${d.text.slice(0, 60)}…` : d.text;
    const at = this.parts.clock.now();
    // One transaction: a crash between the mark and its note would leave the person without a word.
    await this.parts.records.write((tx) => {
      updateDelivery(tx, d.id, { ...d, error }, at);
      if (isNote) return;
      this.intend(tx, {
        answer: `${d.id}:note`,
        turn: d.turn,
        session: d.session,
        route: d.route,
        text: `I could not confirm that my last message reached you. It begins: "${begin}". Ask me to repeat it if it is missing.`,
      });
    });
    this.tell(d, error);
    if (!isNote) await this.wake(d.turn);
    return true;
  }

  private save(d: Delivery, more: { platformId?: string | null; error?: string } = {}): Promise<void> {
    const at = this.parts.clock.now();
    return this.parts.records.write((tx) => updateDelivery(tx, d.id, { ...d, ...more }, at));
  }

  private tell(d: Delivery, error?: string): void {
    const { session, turn, id, state } = d;
    this.parts.bus.emit({ event: "delivery", session, turn, delivery: id, state, ...(error ? { error } : {}) });
  }

  private until(at: number): Promise<void> {
    const wait = at - this.parts.clock.now();
    if (wait <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.stopping.signal.removeEventListener("abort", wake);
        resolve();
      };
      const cancel = this.parts.clock.after(wait, wake);
      this.stopping.signal.addEventListener("abort", wake, { once: true });
    });
  }
}
