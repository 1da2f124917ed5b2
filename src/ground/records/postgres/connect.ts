/**
 * Connections to PostgreSQL: how each of them is set up, what their values look like, and which of their errors mean what.
 * The library is loaded on first use: records in a file cost nothing more for it.
 */
import type { Client, Pool } from "pg";
import type { SqlValue } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";

export interface PostgresPlace {
  /** postgres://user:password@host:port/database, also with a Unix socket as ?host=/dir. */
  url: string;
  /** Whose rows this process sees and writes; see POSTGRES-1. */
  tenant: string;
  /** A statement that takes longer is cancelled. */
  statementTimeoutMs: number;
  /** A server that doesn't answer to a new connection within this is away. */
  connectTimeoutMs: number;
}

/** It becomes part of a connection's options, where other characters would need quoting. */
const TENANT = /^[a-zA-Z0-9][\w.-]{0,62}$/;

function config(where: PostgresPlace) {
  if (!TENANT.test(where.tenant))
    throw new AppError("CONFIG_INVALID", {
      message: `"${where.tenant}" can't be a tenant's name.`,
      hint: "Use letters, digits, dots, dashes and underscores, 63 characters at most.",
    });
  return {
    connectionString: where.url,
    application_name: "lares",
    connectionTimeoutMillis: where.connectTimeoutMs,
    keepAlive: true,
    options: `-c lares.tenant=${where.tenant} -c statement_timeout=${where.statementTimeoutMs} -c synchronous_commit=on -c client_min_messages=warning`,
    types: parsers,
  };
}

export async function connect(where: PostgresPlace): Promise<Client> {
  const { default: pg } = await import("pg");
  const client = new pg.Client(config(where));
  // Without a listener a connection that breaks while nobody waits for it would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
}

export async function makePool(where: PostgresPlace, max: number): Promise<Pool> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ ...config(where), max, idleTimeoutMillis: 30_000 });
  pool.on("error", () => {});
  return pool;
}

const asIs = (text: string): unknown => text;
const asNumber = (text: string): number => Number(text);

/** By type: what SQLite gives for the same query. Sums of integers are numerics there; a truth is a number here. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === "t" ? 1 : 0),
  17: (text) => Buffer.from(text.slice(2), "hex"),
  20: asNumber,
  21: asNumber,
  23: asNumber,
  700: asNumber,
  701: asNumber,
  1700: asNumber,
};

const parsers = { getTypeParser: (type: number) => PARSERS[type] ?? asIs };

/** PostgreSQL keeps no NUL in a text. A mark stands in its place: what a tool printed must not stop a turn. */
export function toParams(params: readonly SqlValue[]): unknown[] {
  return params.map((value) =>
    typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\u{fffd}") : value,
  );
}

function readCode(error: unknown): string {
  return String((error as { code?: unknown }).code ?? "");
}

/** Another transaction was in the way, and the same statements may be sent again: serialisation failure, deadlock. */
export function isConflict(error: unknown): boolean {
  return ["40001", "40P01"].includes(readCode(error));
}

/** A plan that was made before a migration. A new connection makes new plans. */
export function isStalePlan(error: unknown): boolean {
  return readCode(error) === "0A000" && String(error).includes("cached plan");
}

/** The server ended the connection, is starting or stopping, or has become a standby: shutdown, crash, too many, failover. */
const AWAY = new Set([
  "57P01",
  "57P02",
  "57P03",
  "53300",
  "25006",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EHOSTUNREACH",
]);

/** The connection is gone or useless, which says nothing about the statement. */
export function isAway(error: unknown): boolean {
  const code = readCode(error);
  if (AWAY.has(code) || code.startsWith("08")) return true;
  // The library's own words have no code.
  return code === "" && /connection|terminated|timeout|not queryable|closed/i.test(String((error as Error)?.message));
}

export function unreachable(cause: unknown): AppError {
  return new AppError("STORAGE_FAILED", {
    message: `PostgreSQL can't be reached: ${cause instanceof Error ? cause.message : String(cause)}.`,
    hint: "Lares keeps trying. Check that the server runs and that this machine may connect to it.",
    retry: "later",
    cause,
  });
}
