/**
 * Memory back ends: plugins that find things beside ours when memory is searched, and hear what is saved and forgotten. Ours stays the
 * memory that counts.
 *
 * BACKEND-4: a search waits for a back end as long as its setting says and no longer; what it missed is said. Few questions are open at
 *     a time.
 */
import type { Records } from "../../../core/contracts/index.ts";
import type { Clock, Crash, Log } from "../../../core/kit/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { type Found, type Viewer, visibleScopes } from "../kinds.ts";
import { type FindParts, MOST_FOUND, readFinds } from "./found.ts";
import { type AskBackend, BackendPump } from "./pump.ts";
import * as store from "./store.ts";

export interface BackendsParts {
  memory: Pick<FindParts, "get" | "wasForgotten">;
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  /** Throws when it can't be reached, and NOT_FOUND when there is no such plugin. */
  askBackend: AskBackend;
  config: () => Readonly<Record<string, { readonly waitMs: number; readonly tell: boolean }>>;
}

export interface BackendFinds {
  found: Found[];
  /** In sentences: what is missing from it. */
  missing: string[];
}

export interface BackendStatus {
  plugin: string;
  /** Facts it has yet to hear of, and forgotten ones that it still has. */
  waiting: number;
  unforgotten: number;
  problem?: string;
}

/** Of one back end. A program that hangs is ended after half a minute; until then this is what it may hold. */
const MOST_OPEN = 4;
/** What happens in one go is sent in one go. */
const GATHER_MS = 50;

export class MemoryBackends {
  readonly #parts: BackendsParts;
  readonly #pumps = new Map<string, BackendPump>();
  readonly #open = new Map<string, number>();
  readonly #ending = new AbortController();
  #gathering: (() => void) | undefined;
  #isStarted = false;

  constructor(parts: BackendsParts) {
    this.#parts = parts;
  }

  /** Nothing is started for it while no plugin is set and none ever heard anything. */
  async start(): Promise<void> {
    this.#isStarted = true;
    await this.changed();
  }

  async stop(): Promise<void> {
    this.#ending.abort(new Error("Lares is stopping"));
    this.#gathering?.();
    await Promise.all([...this.#pumps.values()].map((pump) => pump.stop()));
  }

  /** Facts were added or removed. */
  wake(): void {
    if (this.#pumps.size === 0 || this.#gathering || this.#ending.signal.aborted) return;
    this.#gathering = this.#parts.clock.after(GATHER_MS, () => {
      this.#gathering = undefined;
      for (const pump of this.#pumps.values()) pump.wake();
    });
  }

  /** The settings or the plugins changed. */
  async changed(): Promise<void> {
    if (!this.#isStarted || this.#ending.signal.aborted) return;
    const { records, config } = this.#parts;
    const names = new Set([...Object.keys(config()), ...(await store.listBackends(records))]);
    for (const name of names) {
      if (!this.#pumps.has(name)) this.#pumps.set(name, this.#makePump(name));
      this.#pumps.get(name)!.tryNow();
    }
  }

  /** Best first, of all back ends. Never throws, and takes no longer than the longest `waitMs`. */
  async search(query: string, viewer: Viewer & { scope?: string | readonly string[] }): Promise<BackendFinds> {
    const asked = Object.entries(this.#parts.config());
    if (asked.length === 0) return { found: [], missing: [] };
    const scopes = visibleScopes(viewer);
    const answers = await Promise.all(asked.map(([plugin, { waitMs }]) => this.#find(plugin, query, scopes, waitMs)));
    return { found: answers.flatMap(({ found }) => found), missing: answers.flatMap(({ missing }) => missing) };
  }

  async status(): Promise<BackendStatus[]> {
    const { records, config } = this.#parts;
    const names = new Set([...Object.keys(config()), ...this.#pumps.keys()]);
    const all = [...names].map(async (plugin) => ({
      plugin,
      ...(await store.countOpen(records.committed, plugin)),
      ...defined({ problem: this.#pumps.get(plugin)?.trouble?.why }),
    }));
    return (await Promise.all(all)).filter(
      ({ plugin, waiting, unforgotten }) => plugin in config() || waiting + unforgotten > 0,
    );
  }

  problems(): string[] {
    return [...this.#pumps.values()].flatMap(({ plugin, trouble }) => {
      if (!trouble || (trouble.unforgotten === 0 && !(plugin in this.#parts.config()))) return [];
      const { why, unforgotten } = trouble;
      const facts = unforgotten === 1 ? "1 fact that was" : `${unforgotten} facts that were`;
      if (unforgotten > 0) return [`The plugin ${plugin} still has ${facts} forgotten here: ${why}`];
      return [`The plugin ${plugin} can't hear what is remembered: ${why}`];
    });
  }

  #makePump(name: string): BackendPump {
    return new BackendPump(name, {
      ...this.#parts,
      ask: this.#parts.askBackend,
      hears: (plugin) => this.#parts.config()[plugin]?.tell ?? false,
    });
  }

  async #find(
    plugin: string,
    query: string,
    scopes: readonly string[] | undefined,
    waitMs: number,
  ): Promise<BackendFinds> {
    const missed = (why: string) => ({ found: [], missing: [`${why} What it knows is missing here.`] });
    const open = this.#open.get(plugin) ?? 0;
    if (open >= MOST_OPEN) return missed(`The plugin ${plugin} is busy.`);
    this.#open.set(plugin, open + 1);
    const params = { query, limit: MOST_FOUND, ...defined({ scopes }) };
    // Not cut off with the wait: what starts now answers the next search, and what hangs is ended as any silent plugin.
    const asked = this.#parts
      .askBackend(plugin, "memory/search", params, this.#ending.signal)
      .then(
        (answer) => ({ answer }),
        (error: unknown) => ({ why: error instanceof Error ? error.message : String(error) }),
      )
      .finally(() => this.#open.set(plugin, (this.#open.get(plugin) ?? 1) - 1));
    const first = await Promise.race([asked, this.#wait(waitMs)]);
    if (first === undefined) return missed(`The plugin ${plugin} didn't answer in time.`);
    if ("why" in first) return missed(`The plugin ${plugin} can't be searched: ${first.why}`);
    const { memory, clock } = this.#parts;
    const found = await readFinds(memory, { plugin, answer: first.answer, scopes, now: clock.now() });
    return found ? { found, missing: [] } : missed(`The plugin ${plugin} answered with something else.`);
  }

  #wait(ms: number): Promise<undefined> {
    return new Promise((resolve) => {
      this.#parts.clock.after(ms, () => resolve(undefined));
    });
  }
}
