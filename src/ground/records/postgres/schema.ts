/**
 * The tables in PostgreSQL: the same migrations as in a file, under the same numbers, in one transaction that only one process at a
 * time makes.
 *
 * POSTGRES-3: row-level security keeps each tenant's rows from another's connection, also where a statement forgets to ask for its own;
 * it binds the tables' owner too. A role that it doesn't bind is refused.
 */
import type { Client } from "pg";
import { AppError } from "../../../core/domain/index.ts";
import { POSTGRES_MIGRATIONS } from "../migrations.ts";
import { translateMigration } from "./dialect.ts";
import { FUNCTIONS } from "./functions.ts";

/** "lare" and a number: the process that migrates holds it until the commit. */
const MIGRATING = [0x6c617265, 1];

/** pg_current_xact_id, which tells whether a commit in doubt happened. */
const OLDEST_SERVER = 130_000;

/** Makes or updates the tables. May be called by several processes at once; the second finds nothing to do. */
export async function migrate(client: Client, upTo = POSTGRES_MIGRATIONS.length): Promise<void> {
  await mustFit(client);
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock($1, $2)", MIGRATING);
    const have = await readVersion(client);
    if (have > POSTGRES_MIGRATIONS.length) throw newer(have);
    if (have < upTo) {
      await unbindTenants(client);
      for (const sql of FUNCTIONS) await client.query(sql);
      for (let n = have; n < upTo; n++) await apply(client, n);
      await bindTenants(client);
      await client.query("UPDATE lares_schema SET version = $1", [upTo]);
    }
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

async function apply(client: Client, n: number): Promise<void> {
  const { byRule, own } = POSTGRES_MIGRATIONS[n]!;
  for (const sql of translateMigration(byRule)) await client.query(sql);
  if (own.trim() !== "") await client.query(own);
}

async function mustFit(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string; unbound: number }>(
    `SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding,
       rolsuper OR rolbypassrls AS unbound FROM pg_roles WHERE rolname = current_user`,
  );
  const { version, encoding, unbound } = rows[0]!;
  if (Number(version) < OLDEST_SERVER) throw refused("is older than PostgreSQL 13", "Use PostgreSQL 13 or newer.");
  if (encoding !== "UTF8") throw refused(`stores text as ${encoding}`, "Create the database with ENCODING 'UTF8'.");
  if (unbound)
    throw refused(
      "is opened with a role that sees every tenant's rows",
      "Use a role without SUPERUSER and BYPASSRLS that owns the database: CREATE ROLE lares LOGIN; CREATE DATABASE lares OWNER lares.",
    );
}

/** 0: nothing is there yet. */
async function readVersion(client: Client): Promise<number> {
  const { rows: found } = await client.query<{ ours: string | null; tables: number }>(
    `SELECT to_regclass('lares_schema')::text AS ours,
       (SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema()) AS tables`,
  );
  const { ours, tables } = found[0]!;
  if (ours === null) {
    if (tables > 0) throw refused("holds another program's tables", "Use a separate database or schema.");
    await client.query("CREATE TABLE lares_schema (version INTEGER NOT NULL)");
    await client.query("INSERT INTO lares_schema VALUES (0)");
    return 0;
  }
  const { rows } = await client.query<{ version: number }>("SELECT version FROM lares_schema");
  return rows[0]?.version ?? 0;
}

/** A migration changes every tenant's rows. Until the commit nobody else sees the tables unguarded: they are locked. */
async function unbindTenants(client: Client): Promise<void> {
  for (const table of await tenantTables(client, "c.relforcerowsecurity"))
    await client.query(`ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY`);
}

async function bindTenants(client: Client): Promise<void> {
  for (const table of await tenantTables(client, "NOT c.relrowsecurity")) {
    await client.query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
    await client.query(
      `CREATE POLICY own_tenant ON ${table} USING (tenant = current_setting('lares.tenant'))
       WITH CHECK (tenant = current_setting('lares.tenant'))`,
    );
  }
  for (const table of await tenantTables(client, "NOT c.relforcerowsecurity"))
    await client.query(`ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`);
}

async function tenantTables(client: Client, which: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'
     WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND ${which} ORDER BY c.relname`,
  );
  return rows.map(({ name }) => name);
}

function newer(have: number): AppError {
  return new AppError("DATABASE_NEWER", {
    message: `The PostgreSQL database has schema ${have}; this Lares knows schemas up to ${POSTGRES_MIGRATIONS.length}.`,
    hint: "Start the newer Lares that wrote it, or choose another database. Nothing was changed.",
    retry: "after-change",
  });
}

function refused(why: string, hint: string): AppError {
  return new AppError("DATABASE_UNREADABLE", {
    message: `The PostgreSQL database ${why}.`,
    hint: `${hint} Nothing was changed.`,
    retry: "after-change",
  });
}
