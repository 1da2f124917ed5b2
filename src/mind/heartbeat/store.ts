import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { AgentId } from "../../core/domain/index.ts";

/** What a beat has seen; any difference next time counts as new. */
export interface SeenBefore {
  /** Hash of the checklist. */
  list: string;
  /** Marks of watched files by path. */
  files: Record<string, string | null>;
  /** By key: when recurring items were last checked, and when dated items were reported. */
  looked: Record<string, number>;
  /** Events up to this time have been seen. */
  until: number;
}

export interface BeatRow {
  agent: AgentId;
  seen: SeenBefore | null;
  /** What the current beat has seen; becomes `seen` when it ends well. */
  pending: SeenBefore | null;
  useless: number;
  paused: string | null;
  lastAt: number | null;
  lastSaid: string | null;
}

interface Raw {
  seen: string;
  pending: string | null;
  useless: number;
  paused: string | null;
  last_at: number | null;
  last_said: string | null;
}

export async function readBeat(db: Reads, agent: AgentId): Promise<BeatRow> {
  const row = await db.get<Raw>(
    "SELECT seen, pending, useless, paused, last_at, last_said FROM beat WHERE agent = ?",
    agent,
  );
  return {
    agent,
    seen: row?.seen ? (JSON.parse(row.seen) as SeenBefore) : null,
    pending: row?.pending ? (JSON.parse(row.pending) as SeenBefore) : null,
    useless: row?.useless ?? 0,
    paused: row?.paused ?? null,
    lastAt: row?.last_at ?? null,
    lastSaid: row?.last_said ?? null,
  };
}

export function saveBeat(tx: Tx, row: BeatRow): void {
  tx.run(
    `INSERT INTO beat (agent, seen, pending, useless, paused, last_at, last_said) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (agent) DO UPDATE SET seen = excluded.seen, pending = excluded.pending, useless = excluded.useless,
       paused = excluded.paused, last_at = excluded.last_at, last_said = excluded.last_said`,
    row.agent,
    row.seen ? JSON.stringify(row.seen) : "",
    row.pending ? JSON.stringify(row.pending) : null,
    row.useless,
    row.paused,
    row.lastAt,
    row.lastSaid,
  );
}

export function beginBeat(tx: Tx, agent: AgentId, pending: SeenBefore, at: number): void {
  tx.run(
    `INSERT INTO beat (agent, seen, pending, last_at) VALUES (?, '', ?, ?)
     ON CONFLICT (agent) DO UPDATE SET pending = excluded.pending, last_at = excluded.last_at`,
    agent,
    JSON.stringify(pending),
    at,
  );
}

/** When this message was last sent. */
export async function saidAt(db: Reads, agent: AgentId, hash: string): Promise<number | undefined> {
  return (await db.get<{ at: number }>("SELECT at FROM beat_said WHERE agent = ? AND hash = ?", agent, hash))?.at;
}

export function noteSaid(tx: Tx, said: { agent: AgentId; hash: string; at: number; forget: number }): void {
  tx.run("DELETE FROM beat_said WHERE agent = ? AND at < ?", said.agent, said.forget);
  tx.run(
    "INSERT INTO beat_said (agent, hash, at) VALUES (?, ?, ?) ON CONFLICT (agent, hash) DO UPDATE SET at = excluded.at",
    said.agent,
    said.hash,
    said.at,
  );
}
