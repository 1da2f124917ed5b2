/**
 * What is remembered of each MCP server over restarts: which era of the protocol it speaks, its tools as they were last listed, and
 * which of them a person has accepted.
 */
import type { Reads, Tx } from "../../../core/contracts/index.ts";
import type { PeerMemory } from "./connect/state.ts";

export interface Pin {
  tool: string;
  /** Of everything that could talk somebody into using the tool otherwise (MCP-4). */
  digest: string;
  /** What it was when it was accepted, to show what changed since. */
  shown: string;
  /** A person looked at it. Null: it was there when the server was first listed, which the owner configured. */
  seenAt: number | null;
}

export async function readServer(db: Reads, server: string): Promise<PeerMemory> {
  const row = await db.get<{ memory: string }>("SELECT memory FROM mcp_server WHERE name = ?", server);
  return row ? (JSON.parse(row.memory) as PeerMemory) : {};
}

export function writeServer(tx: Tx, server: string, memory: PeerMemory, at: number): void {
  tx.run(
    `INSERT INTO mcp_server (name, memory, at) VALUES (?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET memory = excluded.memory, at = excluded.at`,
    server,
    JSON.stringify(memory),
    at,
  );
}

export async function readPins(db: Reads, server: string): Promise<Map<string, Pin>> {
  const rows = await db.all<{ tool: string; digest: string; shown: string; seen_at: number | null }>(
    "SELECT tool, digest, shown, seen_at FROM mcp_pin WHERE server = ?",
    server,
  );
  return new Map(rows.map(({ tool, digest, shown, seen_at }) => [tool, { tool, digest, shown, seenAt: seen_at }]));
}

export function writePin(tx: Tx, server: string, pin: Pin): void {
  tx.run(
    `INSERT INTO mcp_pin (server, tool, digest, shown, seen_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (server, tool) DO UPDATE SET digest = excluded.digest, shown = excluded.shown, seen_at = excluded.seen_at`,
    server,
    pin.tool,
    pin.digest,
    pin.shown,
    pin.seenAt,
  );
}

/** The server was removed: should one of this name come back, everything about it is new. */
export function forgetServer(tx: Tx, server: string): void {
  tx.run("DELETE FROM mcp_server WHERE name = ?", server);
  tx.run("DELETE FROM mcp_pin WHERE server = ?", server);
}

/** A program is about to be started; `key` tags its processes. */
export function startedRun(tx: Tx, key: string, server: string): void {
  tx.run("INSERT INTO mcp_run (key, server) VALUES (?, ?) ON CONFLICT DO NOTHING", key, server);
}

export function endedRun(tx: Tx, key: string): void {
  tx.run("DELETE FROM mcp_run WHERE key = ?", key);
}

export function listRuns(db: Reads): Promise<{ key: string; server: string }[]> {
  return db.all("SELECT key, server FROM mcp_run");
}
