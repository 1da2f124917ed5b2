/**
 * Records on PostgreSQL. Writes go through one connection in the order of the calls; what is queued together shares a commit. Reads go
 * through a pool and wait for this process's earlier writes; `committed` doesn't wait.
 *
 * POSTGRES-4: a write's promise resolves only after its COMMIT was acknowledged, or found to have happened.
 * POSTGRES-5: a change is called once, when it is handed in. What is sent again, after a conflict or a lost connection, are its statements.
 * POSTGRES-6: a connection that is lost during COMMIT leaves a doubt, and the server is asked for the fate of that very transaction: a
 * write is neither lost nor made twice.
 * POSTGRES-7: a refused write takes nothing with it: the others of its commit hold, in their order.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Pool, QueryResult } from "pg";
import type { Reads, Records, SqlValue, Tx, WriteHow } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import {
  connect,
  isAway,
  isConflict,
  isStalePlan,
  makePool,
  type PostgresPlace,
  toParams,
  unreachable,
} from "./connect.ts";
import { translator } from "./dialect.ts";
import { migrate } from "./schema.ts";

interface QueuedStatement {
  sql: string;
  params: readonly SqlValue[];
}

/** One call of `write`, and who waits for it. */
interface QueuedWrite {
  queries: QueuedStatement[];
  resolve: () => void;
  reject: (error: unknown) => void;
  /** How the database answered to it in the transaction under way. */
  refused?: unknown;
}

export interface PostgresOptions extends Partial<Omit<PostgresPlace, "url">> {
  /** Connections for reading. */
  readers?: number;
  /** How long a read or a write waits for a server that is away before it is refused. */
  patienceMs?: number;
}

/** As on SQLite: long enough for a turn with a fast model, too short for anybody to notice. */
const LAZY_MS = 25;
/** Writes of one commit: a long transaction holds locks and has more to send again. */
const MOST_TOGETHER = 64;
/** Conflicts in a row before a write is refused. With the pause below that is about two seconds. */
const MOST_CONFLICTS = 12;
/** Texts that a connection keeps a plan for. They are few and static; the bound only guards against a caller that builds SQL by hand. */
const MOST_NAMED = 1000;
const PAUSE_MS = { first: 20, most: 1000 };

export class PostgresRecords implements Records {
  readonly dialect = "postgres";
  readonly committed: Reads;
  private readonly translate = translator();
  private readonly names = new Map<string, string>();
  private readonly where: PostgresPlace;
  private readonly pool: Pool;
  private readonly patienceMs: number;
  private readonly ending = new AbortController();
  private client: Client | undefined;
  private queue: QueuedWrite[] = [];
  private pumping: Promise<void> | undefined;
  private lazy: NodeJS.Timeout | undefined;
  private newest: Promise<void> = Promise.resolve();

  private constructor(parts: { where: PostgresPlace; client: Client; pool: Pool; patienceMs: number }) {
    this.where = parts.where;
    this.client = parts.client;
    this.pool = parts.pool;
    this.patienceMs = parts.patienceMs;
    this.committed = {
      dialect: "postgres",
      get: async <T>(sql: string, ...params: SqlValue[]) => (await this.read<T>(sql, params))[0],
      all: <T>(sql: string, ...params: SqlValue[]) => this.read<T>(sql, params),
    };
  }

  /** Connects, makes or updates the tables, and refuses a database that doesn't fit. */
  static async open(url: string, options: PostgresOptions = {}): Promise<PostgresRecords> {
    const { readers = 4, patienceMs = 30_000, ...given } = options;
    const where = { url, tenant: "local", statementTimeoutMs: 30_000, connectTimeoutMs: 5000, ...given };
    const client = await connect(where).catch((error: unknown) => {
      throw isAway(error) ? unreachable(error) : error;
    });
    try {
      await migrate(client);
      return new PostgresRecords({ where, client, pool: await makePool(where, readers), patienceMs });
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }

  write(change: (tx: Tx) => void, how: WriteHow = {}): Promise<void> {
    if (this.ending.signal.aborted) return Promise.reject(closed());
    const queries: QueuedStatement[] = [];
    try {
      change({ dialect: "postgres", run: (sql, ...params) => void queries.push({ sql, params }) });
    } catch (error) {
      return Promise.reject(error);
    }
    const done = new Promise<void>((resolve, reject) => this.queue.push({ queries, resolve, reject }));
    // Not every write is awaited. They are settled in their order, so waiting for this one is waiting for all before it.
    this.newest = done.catch(() => {});
    if (how.lazy) this.lazy ??= setTimeout(() => this.pump(), LAZY_MS);
    else this.pump();
    return done;
  }

  async get<T>(sql: string, ...params: SqlValue[]): Promise<T | undefined> {
    return (await this.all<T>(sql, ...params))[0];
  }

  async all<T>(sql: string, ...params: SqlValue[]): Promise<T[]> {
    await this.settled();
    return this.read<T>(sql, params);
  }

  /** Sends what is queued, then lets go. What could not be sent by then is refused. */
  async close(): Promise<void> {
    if (this.ending.signal.aborted) return;
    await Promise.race([this.settled(), sleep(this.patienceMs)]);
    this.ending.abort();
    await this.pumping;
    for (const write of this.queue.splice(0)) write.reject(closed());
    await Promise.all([this.client?.end().catch(() => {}), this.pool.end()]);
  }

  /** Everything handed in so far is committed or refused. */
  private async settled(): Promise<void> {
    if (this.queue.length > 0) this.pump();
    await this.newest;
  }

  private pump(): void {
    clearTimeout(this.lazy);
    this.lazy = undefined;
    this.pumping ??= this.drain();
  }

  private async drain(): Promise<void> {
    // Not at once: what the same turn of the event loop hands in shares the commit.
    await Promise.resolve();
    while (this.queue.length > 0 && !this.ending.signal.aborted) {
      const batch = this.queue.splice(0, MOST_TOGETHER);
      if (batch.every(({ queries }) => queries.length === 0)) {
        for (const write of batch) write.resolve();
        continue;
      }
      await this.store(batch).catch((error: unknown) => {
        for (const write of batch) write.reject(error);
      });
    }
    // In the same step as the look at the queue: a write that comes from now on starts the next one.
    this.pumping = undefined;
  }

  /** Until the outcome of each is known. */
  private async store(batch: readonly QueuedWrite[]): Promise<void> {
    const until = Date.now() + this.patienceMs;
    for (let conflicts = 0, tries = 0; ; tries++) {
      if (tries > 0) await this.pause(tries);
      const xact: Xact = {};
      try {
        await this.transact(await this.writer(), batch, xact);
        break;
      } catch (error) {
        if (isConflict(error) && ++conflicts < MOST_CONFLICTS) continue;
        if (!isAway(error)) throw error;
        this.dropWriter();
        if (xact.committing && (await this.happened(xact))) break;
        if (Date.now() > until) throw unreachable(error);
      }
    }
    for (const write of batch) write.refused === undefined ? write.resolve() : write.reject(write.refused);
  }

  private async transact(client: Client, batch: readonly QueuedWrite[], xact: Xact): Promise<void> {
    const began = await client.query("BEGIN; SELECT pg_current_xact_id()::text AS id, pg_backend_pid() AS pid");
    Object.assign(xact, pickLast(began).rows[0]);
    try {
      for (const write of batch) await this.apply(client, write);
      xact.committing = true;
      const { command } = await client.query("COMMIT");
      if (command !== "COMMIT") throw new Error("PostgreSQL rolled back a transaction instead of committing it");
    } catch (error) {
      if (!isAway(error)) await client.query("ROLLBACK");
      throw error;
    }
  }

  /** One error ends a whole transaction there, so each write has a savepoint to go back to. */
  private async apply(client: Client, write: QueuedWrite): Promise<void> {
    delete write.refused;
    await client.query("SAVEPOINT w");
    try {
      for (const { sql, params } of write.queries) await client.query(this.named(sql, params));
      await client.query("RELEASE SAVEPOINT w");
    } catch (error) {
      if (isAway(error) || isConflict(error)) throw error;
      await client.query("ROLLBACK TO SAVEPOINT w");
      write.refused = error;
    }
  }

  /** The fate of a transaction whose COMMIT got no answer. Asked until somebody knows: a guess would lose a write, or make it twice. */
  private async happened(xact: Xact): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        const client = await this.writer();
        const { rows } = await client.query<{ fate: string | null }>("SELECT pg_xact_status($1::xid8) AS fate", [
          xact.id,
        ]);
        const fate = rows[0]?.fate;
        if (fate !== "in progress") return fate === "committed";
        // The old connection lives on over there and doesn't know that nobody listens.
        await client.query("SELECT pg_terminate_backend($1)", [xact.pid]);
      } catch (error) {
        // A number the server has not come to yet: it was promoted before this transaction had reached it.
        if ((error as { code?: string }).code === "22023") return false;
        this.dropWriter();
        if (!isAway(error)) throw error;
      }
      await this.pause(tries);
    }
  }

  private async read<T>(sql: string, params: readonly SqlValue[]): Promise<T[]> {
    const until = Date.now() + this.patienceMs;
    for (let tries = 1; ; tries++) {
      if (this.ending.signal.aborted) throw closed();
      try {
        return await this.readOnce<T>(sql, params);
      } catch (error) {
        if (!isAway(error) && !isConflict(error) && !isStalePlan(error)) throw error;
        if (Date.now() > until) throw isAway(error) ? unreachable(error) : error;
      }
      await this.pause(tries);
    }
  }

  private async readOnce<T>(sql: string, params: readonly SqlValue[]): Promise<T[]> {
    const client = await this.pool.connect();
    let broken = false;
    try {
      return (await client.query(this.named(sql, params))).rows as T[];
    } catch (error) {
      broken = isAway(error) || isStalePlan(error);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** With a name, so that each connection plans a text once. */
  private named(sql: string, params: readonly SqlValue[]) {
    const query = { text: this.translate(sql), values: toParams(params) };
    let name = this.names.get(sql);
    if (name === undefined && this.names.size < MOST_NAMED) {
      name = `q${this.names.size}`;
      this.names.set(sql, name);
    }
    return name === undefined ? query : { ...query, name };
  }

  private async writer(): Promise<Client> {
    this.client ??= await connect(this.where);
    return this.client;
  }

  private dropWriter(): void {
    const { client } = this;
    this.client = undefined;
    client?.end().catch(() => {});
  }

  private async pause(tries: number): Promise<void> {
    if (this.ending.signal.aborted) throw closed();
    const most = Math.min(PAUSE_MS.most, PAUSE_MS.first * 2 ** (tries - 1));
    // Somewhere in its second half: two that were in each other's way don't meet again.
    await sleep(most * (0.5 + Math.random() / 2), undefined, { signal: this.ending.signal }).catch(() => {
      throw closed();
    });
  }
}

/** The transaction under way, as the server knows it. */
interface Xact {
  id?: string;
  pid?: number;
  /** COMMIT was sent: from here on a lost connection is a doubt. */
  committing?: boolean;
}

/** The library answers to several statements in one text with a list. */
function pickLast(result: QueryResult | QueryResult[]): QueryResult {
  return Array.isArray(result) ? result.at(-1)! : result;
}

function closed(): AppError {
  return new AppError("NOT_READY", { message: "The database was closed.", retry: "later" });
}
