/**
 * One back end on its way through what it has to hear.
 *
 * BACKEND-2: what a back end should have or forget is stored before it is sent and until it took it, so it hears of each at least once,
 *     no matter what dies in between; forgetting goes first. While it can't be reached, that is shown with the number of facts that it still has.
 */
import type { Records } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { type Backoff, backoffMs, type Clock, type Crash, type Log } from "../../../core/kit/index.ts";
import * as store from "./store.ts";

export type AskBackend = (plugin: string, method: string, params: object, signal: AbortSignal) => Promise<unknown>;

export interface PumpParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  ask: AskBackend;
  /** Whether it hears what is saved. */
  hears(plugin: string): boolean;
}

/** Facts in one request: 64 kB each at most, so that a request stays below what a line may have. */
const BATCH = 50;
const AGAIN: Backoff = { firstMs: 1000, mostMs: 60_000, jitter: 0.2 };

export class BackendPump {
  readonly plugin: string;
  readonly #parts: PumpParts;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;
  #isWoken = false;
  #tries = 0;
  #retry: (() => void) | undefined;
  /** Why it couldn't be reached, the last time. */
  trouble: { why: string; unforgotten: number } | undefined;

  constructor(plugin: string, parts: PumpParts) {
    this.plugin = plugin;
    this.#parts = parts;
  }

  wake(): void {
    this.#isWoken = true;
    if (this.#ending.signal.aborted) return;
    // While it waits to try again, what is shown stays true.
    if (this.#retry) void this.#count().catch(() => {});
    if (this.#running || this.#retry) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  /** Something about the plugin or the settings changed: it isn't waited any longer. */
  tryNow(): void {
    this.#retry?.();
    this.#retry = undefined;
    this.#tries = 0;
    this.wake();
  }

  async stop(): Promise<void> {
    this.#ending.abort(new Error("Lares is stopping"));
    this.#retry?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    this.#isWoken = false;
    const { clock, log } = this.#parts;
    try {
      while (await this.#step());
      this.trouble = undefined;
      this.#tries = 0;
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      if (error instanceof AppError && error.code === "NOT_FOUND") await this.#drop();
      const why = error instanceof Error ? error.message : String(error);
      this.trouble = { why, unforgotten: this.trouble?.unforgotten ?? 0 };
      await this.#count().catch(() => {});
      const wait = backoffMs(AGAIN, ++this.#tries);
      log.debug("a memory back end is tried again", { plugin: this.plugin, inMs: wait, why });
      this.#retry = clock.after(wait, () => {
        this.#retry = undefined;
        this.wake();
      });
    }
  }

  async #count(): Promise<void> {
    const { unforgotten } = await store.countOpen(this.#parts.records, this.plugin);
    if (this.trouble) this.trouble = { ...this.trouble, unforgotten };
  }

  /** One request. False when there is nothing to send. Only what is durable is sent. */
  async #step(): Promise<boolean> {
    const { records, crash, hears } = this.#parts;
    const { plugin } = this;
    this.#ending.signal.throwIfAborted();
    const place = await store.readPlace(records, plugin);
    if (!hears(plugin)) {
      if (place !== undefined) await records.write((tx) => store.stopTelling(tx, plugin));
    } else if (place === undefined) {
      await records.write((tx) => store.writePlace(tx, plugin, -1));
      return true;
    } else if (place < 0) {
      // It may have kept what it heard before it was removed or taken out of the settings.
      await this.#tell("memory/clear", {});
      await records.write((tx) => store.writePlace(tx, plugin, 0));
      return true;
    }
    const unwanted = await store.listUnwanted(records.committed, plugin, BATCH);
    if (unwanted.length > 0) {
      await this.#tell("memory/forget", { ids: unwanted });
      await records.write((tx) => store.markForgotten(tx, plugin, unwanted));
      return true;
    }
    const wanted = await store.listWanted(records.committed, plugin, BATCH);
    if (wanted.length > 0) {
      await this.#tell("memory/save", { facts: wanted });
      const ids = wanted.map(({ id }) => id);
      await records.write((tx) => store.markTold(tx, plugin, ids));
      return true;
    }
    const fresh = place === undefined || !hears(plugin) ? [] : await store.factsAfter(records, place, BATCH);
    const last = fresh.at(-1);
    if (!last) return false;
    await records.write((tx) => {
      const ids = fresh.map(({ id }) => id);
      store.want(tx, plugin, ids);
      store.writePlace(tx, plugin, last.seq);
    });
    crash.at("memory.queued", () => plugin);
    return true;
  }

  async #tell(method: string, params: object): Promise<void> {
    await this.#parts.ask(this.plugin, method, params, this.#ending.signal);
    this.#parts.crash.at("memory.told", () => method);
  }

  /** The plugin was removed: nobody is left to tell. Where it is installed again, it hears everything from the start. */
  async #drop(): Promise<void> {
    const { records, log } = this.#parts;
    if (!(await store.listBackends(records)).includes(this.plugin)) return;
    log.warn("a memory back end is gone, with what it stored", { plugin: this.plugin });
    await records.write((tx) => store.dropBackend(tx, this.plugin));
  }
}
