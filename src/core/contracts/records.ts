/**
 * Records: what people look at and what outlives the engine's retention. One port, SQL underneath.
 *
 * RECORDS-1: a write is atomic and durable when its promise resolves.
 * RECORDS-2: writes take effect in the order of the calls, and a later read through the same port sees them.
 * RECORDS-3: statements are idempotent upserts where the same write may be tried again (an engine that repeats a step).
 */
export type SqlValue = null | number | string | Uint8Array;

/**
 * Which database runs a text. One text serves both wherever it can (`ground/records/postgres/dialect.ts`); what can't is two texts side
 * by side in the room's store, chosen by this.
 */
export type SqlDialect = "sqlite" | "postgres";

export interface Tx {
  /** Whose SQL is run, for a room that has two texts. */
  readonly dialect: SqlDialect;
  /** Queues one statement of this transaction. Placeholders are `?`. */
  run(sql: string, ...params: SqlValue[]): void;
}

export interface Reads {
  /** Whose SQL is run, for a room that has two texts. */
  readonly dialect: SqlDialect;
  /** The first row, or undefined. Sees the writes queued before it through the same port. */
  get<T>(sql: string, ...params: SqlValue[]): Promise<T | undefined>;
  /** All rows. Sees the writes queued before it through the same port. */
  all<T>(sql: string, ...params: SqlValue[]): Promise<T[]>;
}

export interface WriteHow {
  /** Nobody waits for it: it may take a few milliseconds longer, so that it shares a commit with what comes meanwhile. */
  lazy?: boolean;
}

export interface Records extends Reads {
  /** Applies `change` as one transaction. Rejects when it could not be made durable; then nothing of it holds. */
  write(change: (tx: Tx) => void, how?: WriteHow): Promise<void>;
  /** Only what is already durable. For faces: nobody sees something that a power failure could undo. */
  readonly committed: Reads;
}
