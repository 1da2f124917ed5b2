/** What is known of each memory file: as it was last in step, and what is about to be written. */
import type { Reads, Tx } from "../../../core/contracts/index.ts";
import type { MemoryKind, Trust } from "../kinds.ts";
import type { KnownFact } from "./edits.ts";

export interface ViewRow {
  text: string;
  items: KnownFact[];
  next?: { text: string; items: KnownFact[] };
}

export async function readView(db: Reads, agent: string, file: string): Promise<ViewRow | undefined> {
  const row = await db.get<{ text: string; items: string; next_text: string | null; next_items: string | null }>(
    "SELECT text, items, next_text, next_items FROM memory_view WHERE agent = ? AND file = ?",
    agent,
    file,
  );
  return (
    row && {
      text: row.text,
      items: JSON.parse(row.items) as KnownFact[],
      ...(row.next_text === null
        ? {}
        : { next: { text: row.next_text, items: JSON.parse(row.next_items ?? "[]") as KnownFact[] } }),
    }
  );
}

/** The file is in step with the facts. */
export function inStep(
  tx: Tx,
  v: { agent: string; file: string; text: string; items: readonly KnownFact[]; at: number },
): void {
  tx.run(
    `INSERT INTO memory_view (agent, file, text, items, at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (agent, file) DO UPDATE SET text = excluded.text, items = excluded.items, next_text = NULL,
     next_items = NULL, at = excluded.at`,
    v.agent,
    v.file,
    v.text,
    JSON.stringify(v.items),
    v.at,
  );
}

/** The file is about to be written. */
export function planned(
  tx: Tx,
  v: { agent: string; file: string; text: string; items: readonly KnownFact[]; at: number },
): void {
  tx.run(
    `INSERT INTO memory_view (agent, file, text, items, next_text, next_items, at) VALUES (?, ?, '', '[]', ?, ?, ?)
     ON CONFLICT (agent, file) DO UPDATE SET next_text = excluded.next_text, next_items = excluded.next_items`,
    v.agent,
    v.file,
    v.text,
    JSON.stringify(v.items),
    v.at,
  );
}

export interface ShownFact {
  id: string;
  scope: string;
  seq: number;
  text: string;
  kind: MemoryKind;
  trust: Trust;
  source: string | null;
  topic: string | null;
  uses: number;
  at: number;
}

const SHOWN = `state = 'live' AND kind NOT IN ('episode', 'document')`;
/** As chooseFile reads it: a line in a day's notes is an episode and stands in neither file. */
const BY_HAND = `source IN ('file:USER.md', 'file:MEMORY.md')`;
const COLUMNS = "id, scope, seq, text, kind, trust, source, topic, uses, at";

/**
 * Facts that may stand in an agent's files, in order of adding: every line that a person wrote there, and the newest of the
 * others up to the limit. Only the others are limited: a long list of one's own must not push out anything, here or in the
 * other file.
 */
export function shownFacts(db: Reads, scopes: readonly string[], limit: number): Promise<ShownFact[]> {
  const asked = JSON.stringify(scopes);
  return db.all(
    `SELECT ${COLUMNS} FROM memory WHERE ${SHOWN} AND ${BY_HAND} AND scope IN (SELECT value FROM json_each(?))
     UNION ALL
     SELECT ${COLUMNS} FROM (
       SELECT ${COLUMNS} FROM memory
       WHERE ${SHOWN} AND (source IS NULL OR NOT ${BY_HAND}) AND scope IN (SELECT value FROM json_each(?))
       ORDER BY seq DESC LIMIT ?
     ) AS newest ORDER BY seq`,
    asked,
    asked,
    limit,
  );
}

/** A person wrote down what Lares had learned already: from now on it is their line and stays in the file. */
export function claimByHand(tx: Tx, ids: readonly string[], source: string): void {
  tx.run(
    `UPDATE memory SET source = ?, trust = 'owner'
     WHERE id IN (SELECT value FROM json_each(?)) AND ${SHOWN} AND (source IS NULL OR NOT ${BY_HAND})`,
    source,
    JSON.stringify(ids),
  );
}

/** What was learned in conversations in this span, in order of adding. */
export function learnedBetween(
  db: Reads,
  q: { scopes: readonly string[]; from: number; to: number; limit: number },
): Promise<{ id: string; text: string }[]> {
  return db.all(
    `SELECT id, text FROM memory WHERE state = 'live' AND kind <> 'document' AND trust = 'agent'
     AND source LIKE 'session:%' AND created_at >= ? AND created_at < ?
     AND scope IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?`,
    q.from,
    q.to,
    JSON.stringify(q.scopes),
    q.limit,
  );
}

export async function newestVersion(db: Reads, id: string): Promise<{ id: string; text: string } | undefined> {
  return db.get(
    `WITH RECURSIVE newer (id, superseded_by) AS (
       SELECT id, superseded_by FROM memory WHERE id = ?
       UNION SELECT m.id, m.superseded_by FROM memory m JOIN newer n ON m.id = n.superseded_by
     ) SELECT m.id, m.text FROM newer n JOIN memory m ON m.id = n.id WHERE m.state = 'live' LIMIT 1`,
    id,
  );
}

/** The memory behind an item that a person wrote in a day's notes. */
export async function findNote(db: Reads, text: string): Promise<string | undefined> {
  const row = await db.get<{ id: string }>(
    "SELECT id FROM memory WHERE text = ? AND state = 'live' AND source LIKE 'file:memory/%' LIMIT 1",
    text,
  );
  return row?.id;
}
