/**
 * Observers hear what happened afterwards, from the place they have come to. No turn waits for them.
 *
 * HOOKED-7: each observer has its own place, written after it took an event; after a crash it goes on there, so an event may come
 *     twice under the same id, and none is left out.
 * HOOKED-8: an observer that is slow, down or broken holds up nobody else; it is tried again at growing intervals.
 */
import {
  FailedHook,
  type HookEventName,
  type HookPayload,
  type HookSource,
  type HookSubscription,
  type Records,
} from "../../core/contracts/index.ts";
import { type Backoff, backoffMs, type Clock, type Crash, type Log } from "../../core/kit/index.ts";
import {
  countAfter,
  eventsAfter,
  forgetOtherPlaces,
  type LoggedEvent,
  lastSeq,
  pruneEvents,
  readPlace,
  writePlace,
} from "./store.ts";

export interface ObserversParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  call(source: HookSource, subscription: HookSubscription, payload: HookPayload, signal: AbortSignal): Promise<unknown>;
}

interface Observing {
  source: HookSource;
  subscriptions: readonly HookSubscription[];
}

/** Read at once; a long queue is worked off piece by piece. */
const BATCH = 50;
/** What happens in one go is heard in one go. */
const GATHER_MS = 20;
const AGAIN: Backoff = { firstMs: 1000, mostMs: 300_000, jitter: 0.2 };
/** Nobody took it for a week: an observer that comes back then starts with what is newer. */
const KEEP_MS = 7 * 86_400_000;
const PRUNE_EVERY_MS = 60_000;

export class Observers {
  readonly #parts: ObserversParts;
  readonly #pumps = new Map<string, Pump>();
  #wanted: readonly Observing[] = [];
  #isRunning = false;
  #gathering: (() => void) | undefined;
  #pruning: (() => void) | undefined;

  constructor(parts: ObserversParts) {
    this.#parts = parts;
  }

  set(wanted: readonly Observing[]): void {
    this.#wanted = wanted;
    if (this.#isRunning) this.#renew();
  }

  start(): void {
    this.#isRunning = true;
    this.#renew();
  }

  /** What is under way is cut off; its event comes again after the next start. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#gathering?.();
    this.#pruning?.();
    this.#gathering = undefined;
    this.#pruning = undefined;
    await Promise.all([...this.#pumps.values()].map((pump) => pump.stop()));
    this.#pumps.clear();
  }

  /** Something was written. Costs nothing when a look is due anyway. */
  wake(): void {
    if (!this.#isRunning || this.#gathering) return;
    this.#gathering = this.#parts.clock.after(GATHER_MS, () => {
      this.#gathering = undefined;
      for (const pump of this.#pumps.values()) pump.wake();
    });
  }

  /** How many events an observer has yet to hear. */
  async waiting(name: string): Promise<number> {
    return (await this.#pumps.get(name)?.waiting()) ?? 0;
  }

  #renew(): void {
    for (const [name, pump] of this.#pumps) {
      if (this.#wanted.some(({ source }) => source === pump.source)) continue;
      this.#pumps.delete(name);
      void pump.stop();
    }
    for (const { source, subscriptions } of this.#wanted) {
      if (this.#pumps.has(source.name)) continue;
      const pump = new Pump({ ...this.#parts, wakeLater: () => this.wake() }, source, subscriptions);
      this.#pumps.set(source.name, pump);
      pump.wake();
    }
    if (this.#pumps.size > 0) this.#pruneLater();
  }

  #pruneLater(): void {
    this.#pruning ??= this.#parts.clock.after(PRUNE_EVERY_MS, () => {
      this.#pruning = undefined;
      void this.#prune().catch(() => {});
      if (this.#pumps.size > 0) this.#pruneLater();
    });
  }

  async #prune(): Promise<void> {
    const { records, clock } = this.#parts;
    const places = await Promise.all([...this.#pumps.values()].map((pump) => pump.place()));
    if (places.length === 0) return;
    const before = clock.now() - KEEP_MS;
    const names = this.#wanted.map(({ source }) => source.name);
    await records.write(
      (tx) => {
        forgetOtherPlaces(tx, names);
        pruneEvents(tx, Math.min(...places), before);
      },
      { lazy: true },
    );
  }
}

/** One observer on its way through the log. */
class Pump {
  readonly source: HookSource;
  readonly #parts: ObserversParts & { wakeLater(): void };
  readonly #subscriptions: ReadonlyMap<HookEventName, HookSubscription>;
  readonly #ending = new AbortController();
  #place: Promise<number> | undefined;
  #running: Promise<void> | undefined;
  #isWoken = false;
  #tries = 0;
  #retry: (() => void) | undefined;

  constructor(
    parts: ObserversParts & { wakeLater(): void },
    source: HookSource,
    subscriptions: readonly HookSubscription[],
  ) {
    this.#parts = parts;
    this.source = source;
    this.#subscriptions = new Map(subscriptions.map((one) => [one.event, one]));
  }

  wake(): void {
    this.#isWoken = true;
    // While it waits to try again, nothing new gets past what failed.
    if (this.#running || this.#retry || this.#ending.signal.aborted) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  async stop(): Promise<void> {
    this.#retry?.();
    this.#ending.abort(new Error("Lares is stopping"));
    await this.#running;
  }

  /** The newest event it took. A new observer begins with what happens from now on. */
  place(): Promise<number> {
    this.#place ??= this.#findPlace();
    return this.#place;
  }

  async waiting(): Promise<number> {
    return countAfter(this.#parts.records.committed, await this.place(), [...this.#subscriptions.keys()]);
  }

  async #findPlace(): Promise<number> {
    const { records } = this.#parts;
    const known = await readPlace(records, this.source.name);
    if (known !== undefined) return known;
    const last = await lastSeq(records);
    await records.write((tx) => writePlace(tx, this.source.name, last), { lazy: true });
    return last;
  }

  async #run(): Promise<void> {
    this.#isWoken = false;
    try {
      for (;;) {
        const from = await this.place();
        // Only what is durable: an observer must not hear of something that a power failure undoes.
        const batch = await eventsAfter(this.#parts.records.committed, from, [...this.#subscriptions.keys()], BATCH);
        for (const event of batch) await this.#deliver(event);
        if (batch.length < BATCH) break;
      }
      // What woke this may not be durable yet, and nothing else might happen for hours: it looks again.
      const { records, wakeLater } = this.#parts;
      if ((await countAfter(records, await this.place(), [...this.#subscriptions.keys()])) > 0) wakeLater();
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      const wait = backoffMs(AGAIN, ++this.#tries);
      this.#parts.log.debug("an observer is tried again", { hook: this.source.name, inMs: wait, error: String(error) });
      this.#retry = this.#parts.clock.after(wait, () => {
        this.#retry = undefined;
        this.wake();
      });
    }
  }

  async #deliver({ seq, id, event, at, facts }: LoggedEvent): Promise<void> {
    const { records, crash, call } = this.#parts;
    this.#ending.signal.throwIfAborted();
    const payload = { ...(JSON.parse(facts) as object), event, id, at } as HookPayload;
    await call(this.source, this.#subscriptions.get(event)!, payload, this.#ending.signal).catch((error: unknown) => {
      if (!(error instanceof FailedHook)) throw error;
    });
    crash.at("observer.delivered", () => `${this.source.name} ${id}`);
    this.#tries = 0;
    this.#place = Promise.resolve(seq);
    // A crash before it is durable delivers this event again, which is better than waiting for the disk each time.
    await records.write((tx) => writePlace(tx, this.source.name, seq), { lazy: true });
    crash.at("observer.stored", () => `${this.source.name} ${id}`);
  }
}
