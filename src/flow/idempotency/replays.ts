/**
 * Idempotency keys of methods that change something: the same key of the same caller gets the same result, also after a
 * restart. `chat.send` has its own, stronger one in the inbox.
 *
 * REPLAYS-1: two calls with one key at the same time are one call.
 * REPLAYS-2: a failure is not kept: the same key may try again.
 * REPLAYS-3: a key belongs to what was asked with it; asking something else with it is a conflict.
 * REPLAYS-4: the table is bounded in time and in rows.
 */
import { createHash } from "node:crypto";
import type { Records } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import { insertReplay, pruneReplays, readReplay } from "./store.ts";

const KEPT_MS = 86_400_000;
const MOST_ROWS = 20_000;
/** Old rows are deleted once per this many new ones. */
const PRUNE_EVERY = 500;

export interface ReplayCall<T> {
  principal: string;
  method: string;
  key: string;
  params: unknown;
  run: () => Promise<T>;
  /** What is written down instead of the result, e.g. without a secret; and the result from it. */
  keep?: (result: T) => unknown;
  revive?: (kept: unknown) => T;
}

export class Replays {
  private readonly records: () => Records;
  private readonly clock: Clock;
  private readonly running = new Map<string, { params: string; result: Promise<unknown> }>();
  private sincePrune = PRUNE_EVERY;

  constructor(records: () => Records, clock: Clock) {
    this.records = records;
    this.clock = clock;
  }

  once<T>(call: ReplayCall<T>): Promise<T> {
    const id = JSON.stringify([call.principal, call.method, call.key]);
    const params = createHash("sha256").update(JSON.stringify(call.params)).digest("base64url");
    const running = this.running.get(id);
    if (running) return running.params === params ? (running.result as Promise<T>) : Promise.reject(conflict(call));
    const result = this.first(call, params).finally(() => this.running.delete(id));
    this.running.set(id, { params, result });
    return result;
  }

  private async first<T>(call: ReplayCall<T>, params: string): Promise<T> {
    const { principal, method, key } = call;
    const known = await readReplay(this.records(), principal, method, key);
    const now = this.clock.now();
    if (known && now - known.at < KEPT_MS) {
      if (known.params !== params) throw conflict(call);
      const kept = JSON.parse(known.result) as unknown;
      return call.revive ? call.revive(kept) : (kept as T);
    }
    const result = await call.run();
    const kept = JSON.stringify(call.keep ? call.keep(result) : result);
    const prune = ++this.sincePrune > PRUNE_EVERY;
    if (prune) this.sincePrune = 0;
    await this.records().write((tx) => {
      insertReplay(tx, { principal, method, key, params, result: kept, at: this.clock.now() });
      if (prune) pruneReplays(tx, now - KEPT_MS, MOST_ROWS);
    });
    return result;
  }
}

function conflict(call: { method: string }): AppError {
  return new AppError("CONFLICT", {
    message: `This idempotency key was used for another ${call.method}.`,
    hint: "Use a new key for a new request.",
    details: { field: "idempotencyKey" },
  });
}
