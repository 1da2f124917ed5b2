/**
 * The rows of memory and the index over their words, always in one transaction: a live row is in the index, any other is not.
 *
 * MEMORY-2: a row, its words in the index, its mentions and relations come and go together.
 * MEMORY-3: a vector belongs to a live row; forgetting, superseding and changing take it away.
 */
import type { Reads, SqlDialect, SqlValue, Tx } from "../../core/contracts/index.ts";
import { defined } from "../../core/kit/index.ts";
import * as backends from "./backends/store.ts";
import type { CatalogueEntry } from "./catalogue.ts";
import type { FoundName, Relation } from "./graph.ts";
import type { MemoryKind, Remembered, Trust } from "./kinds.ts";
import { findWords, type WordQuery } from "./search/store.ts";

export interface MemoryRow {
  id: string;
  scope: string;
  kind: MemoryKind | "document";
  text: string;
  person?: string;
  agent?: string;
  source?: string;
  place?: string;
  trust: Trust;
  state: "live" | "pending" | "superseded";
  topic?: string;
  supersededBy?: string;
  why?: string;
  thread?: string;
  speaker?: string;
  words: string;
  at: number;
  createdAt: number;
  expiresAt?: number;
}

export function insertMemory(tx: Tx, m: MemoryRow): void {
  tx.run(
    `INSERT INTO memory (id, scope, kind, text, person, agent, source, place, trust, state, topic, superseded_by, thread, speaker,
     words, at, created_at, expires_at, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    m.id,
    m.scope,
    m.kind,
    m.text,
    m.person ?? null,
    m.agent ?? null,
    m.source ?? null,
    m.place ?? null,
    m.trust,
    m.state,
    m.topic ?? null,
    m.supersededBy ?? null,
    m.thread ?? null,
    m.speaker ?? null,
    m.words,
    m.at,
    m.createdAt,
    m.expiresAt ?? null,
    m.why ?? null,
  );
  if (m.state === "live") intoIndex(tx, m.id);
}

function intoIndex(tx: Tx, id: string): void {
  tx.run("INSERT INTO memory_fts (rowid, words) SELECT seq, words FROM memory WHERE id = ?", id);
}

/** SQLite's index holds no text: it needs the words once more to find what to take out. */
const OUT_OF_WORDS: Readonly<Record<SqlDialect, string>> = {
  sqlite: `INSERT INTO memory_fts (memory_fts, rowid, words) SELECT 'delete', seq, words FROM memory
    WHERE id = ? AND state = 'live'`,
  postgres: "DELETE FROM memory_fts WHERE rowid = (SELECT seq FROM memory WHERE id = ? AND state = 'live')",
};

/** Out of everything that search looks at; the row itself stays. */
function outOfIndex(tx: Tx, id: string): void {
  tx.run(OUT_OF_WORDS[tx.dialect], id);
  tx.run("DELETE FROM memory_vector WHERE seq = (SELECT seq FROM memory WHERE id = ?)", id);
  tx.run(
    `DELETE FROM memory_entity WHERE id IN (SELECT entity FROM memory_mention WHERE seq = (SELECT seq FROM memory WHERE id = ?))
     AND NOT EXISTS (SELECT 1 FROM memory_mention o WHERE o.entity = memory_entity.id
     AND o.seq <> (SELECT seq FROM memory WHERE id = ?))`,
    id,
    id,
  );
  tx.run("DELETE FROM memory_mention WHERE seq = (SELECT seq FROM memory WHERE id = ?)", id);
  tx.run("DELETE FROM memory_relation WHERE seq = (SELECT seq FROM memory WHERE id = ?)", id);
}

/** Real deletion: the row, its words, vector, mentions and relations, and the older versions it had taken the place of. */
export function deleteMemories(tx: Tx, ids: readonly string[]): void {
  for (const id of ids) {
    outOfIndex(tx, id);
    tx.run("DELETE FROM memory WHERE id = ?", id);
    backends.noLongerHolds(tx, id);
  }
}

export function supersede(tx: Tx, old: string, by: string): void {
  outOfIndex(tx, old);
  tx.run("UPDATE memory SET state = 'superseded', superseded_by = ? WHERE id = ?", by, old);
  backends.noLongerHolds(tx, old);
}

/** A pending memory counts from now on, as the word of the person who said so. */
export function confirm(tx: Tx, id: string): void {
  tx.run("UPDATE memory SET state = 'live', why = NULL, trust = 'owner' WHERE id = ? AND state = 'pending'", id);
  intoIndex(tx, id);
  backends.holdsNow(tx, id);
}

/** A superseded memory holds again. */
export function restore(tx: Tx, id: string): void {
  tx.run("UPDATE memory SET state = 'live', superseded_by = NULL WHERE id = ? AND state = 'superseded'", id);
  intoIndex(tx, id);
  backends.holdsNow(tx, id);
}

export function markUsed(tx: Tx, ids: readonly string[], at: number): void {
  for (const id of ids) tx.run("UPDATE memory SET uses = uses + 1, used_at = ? WHERE id = ?", at, id);
}

export function insertGraph(
  tx: Tx,
  m: { id: string; scope: string; names: readonly FoundName[]; relations: readonly Relation[] },
): void {
  for (const { norm, name, isSure } of m.names) {
    // What may be a name becomes one with all its mentions as soon as it is sure somewhere (GRAPH-1).
    const ifKnown = isSure ? "DO UPDATE SET sure = 1, name = excluded.name WHERE memory_entity.sure = 0" : "DO NOTHING";
    tx.run(
      `INSERT INTO memory_entity (scope, norm, name, sure) VALUES (?, ?, ?, ?) ON CONFLICT (scope, norm) ${ifKnown}`,
      m.scope,
      norm,
      name,
      isSure ? 1 : 0,
    );
    tx.run(
      `INSERT INTO memory_mention (entity, seq) SELECT e.id, m.seq FROM memory_entity e, memory m
       WHERE e.scope = ? AND e.norm = ? AND m.id = ? ON CONFLICT (entity, seq) DO NOTHING`,
      m.scope,
      norm,
      m.id,
    );
  }
  for (const r of m.relations) {
    tx.run(
      `INSERT INTO memory_relation (scope, relation, subject, object, seq) SELECT ?, ?, ?, ?, seq FROM memory WHERE id = ?
       ON CONFLICT DO NOTHING`,
      m.scope,
      r.relation,
      r.subject,
      r.object,
      m.id,
    );
  }
}

// ── looking ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const VIEW = `id, text, kind, scope, state, trust, at, created_at, uses, person, agent, source, place, topic, superseded_by,
  used_at, expires_at, why`;

interface ViewRow {
  id: string;
  text: string;
  kind: Remembered["kind"];
  scope: string;
  state: Remembered["state"];
  trust: Trust;
  at: number;
  created_at: number;
  uses: number;
  person: string | null;
  agent: string | null;
  source: string | null;
  place: string | null;
  topic: string | null;
  superseded_by: string | null;
  used_at: number | null;
  expires_at: number | null;
  why: string | null;
}

export async function readMemory(db: Reads, id: string): Promise<Remembered | undefined> {
  const row = await db.get<ViewRow>(`SELECT ${VIEW} FROM memory WHERE id = ?`, id);
  return row && view(row);
}

export async function readMemories(db: Reads, seqs: readonly number[]): Promise<Map<number, Remembered>> {
  const rows = await db.all<ViewRow & { seq: number }>(
    `SELECT seq, ${VIEW} FROM memory WHERE seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
    JSON.stringify(seqs),
  );
  return new Map(rows.map((row) => [row.seq, view(row)]));
}

/** Order of adding, newest last; `after` and `limit` page through it. Documents only when asked for. */
export async function listMemories(
  db: Reads,
  q: {
    scopes?: readonly string[];
    states: readonly string[];
    kinds?: readonly string[];
    source?: string;
    newest?: boolean;
    before?: string;
    limit: number;
  },
): Promise<Remembered[]> {
  const where = ["state IN (SELECT value FROM json_each(?))"];
  const params: SqlValue[] = [JSON.stringify(q.states)];
  if (q.scopes) {
    where.push("scope IN (SELECT value FROM json_each(?))");
    params.push(JSON.stringify(q.scopes));
  }
  if (q.kinds) {
    where.push("kind IN (SELECT value FROM json_each(?))");
    params.push(JSON.stringify(q.kinds));
  } else where.push("kind <> 'document'");
  if (q.source) {
    where.push("source = ?");
    params.push(q.source);
  }
  if (q.before) {
    where.push(`seq ${q.newest ? "<" : ">"} (SELECT seq FROM memory WHERE id = ?)`);
    params.push(q.before);
  }
  const rows = await db.all<ViewRow>(
    `SELECT ${VIEW} FROM memory WHERE ${where.join(" AND ")} ORDER BY seq ${q.newest ? "DESC" : ""} LIMIT ?`,
    ...params,
    q.limit,
  );
  return rows.map(view);
}

/** Live facts about the same thing, newest first. */
export function sameTopic(
  db: Reads,
  scope: string,
  topic: string,
): Promise<{ id: string; text: string; at: number }[]> {
  return db.all(
    "SELECT id, text, at FROM memory WHERE scope = ? AND topic = ? AND state = 'live' ORDER BY at DESC, seq DESC",
    scope,
    topic,
  );
}

/** A live memory with exactly these words in its index entry: the same thing said again. */
export async function sameText(
  db: Reads,
  scope: string,
  text: string,
  seqs: readonly number[],
): Promise<string | undefined> {
  const row = await db.get<{ id: string }>(
    `SELECT id FROM memory WHERE seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND scope = ? AND state = 'live'
     AND lower(trim(text)) = lower(trim(?)) AND kind <> 'document' LIMIT 1`,
    JSON.stringify(seqs),
    scope,
    text,
  );
  return row?.id;
}

/** What it took the place of, and what that took the place of. */
export async function olderVersions(db: Reads, id: string): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    `WITH RECURSIVE older (id) AS (
       SELECT id FROM memory WHERE superseded_by = ? UNION SELECT m.id FROM memory m JOIN older o ON m.superseded_by = o.id
     ) SELECT id FROM older`,
    id,
  );
  return rows.map((row) => row.id);
}

/** What it took the place of, directly. */
export async function directlyOlder(db: Reads, id: string): Promise<Remembered[]> {
  return (await db.all<ViewRow>(`SELECT ${VIEW} FROM memory WHERE superseded_by = ?`, id)).map(view);
}

export function noteForgotten(tx: Tx, hashes: readonly string[], at: number): void {
  for (const hash of hashes)
    tx.run("INSERT INTO memory_forgotten (hash, at) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING", hash, at);
}

export function dropForgotten(tx: Tx, hash: string): void {
  tx.run("DELETE FROM memory_forgotten WHERE hash = ?", hash);
}

export async function isForgotten(db: Reads, hash: string): Promise<boolean> {
  return (await db.get("SELECT 1 AS yes FROM memory_forgotten WHERE hash = ?", hash)) !== undefined;
}

/** How many there are of each state, documents apart. */
export async function counts(db: Reads): Promise<{ live: number; pending: number; documents: number }> {
  const row = await db.get<{ live: number; pending: number; documents: number }>(
    `SELECT (SELECT COUNT(*) FROM memory WHERE state = 'live' AND kind <> 'document') AS live,
     (SELECT COUNT(*) FROM memory WHERE state = 'pending') AS pending,
     (SELECT COUNT(*) FROM memory WHERE kind = 'document') AS documents`,
  );
  return row ?? { live: 0, pending: 0, documents: 0 };
}

/** What is remembered of one document. */
export function documentParts(db: Reads, scope: string, source: string): Promise<{ id: string; seq: number }[]> {
  return db.all("SELECT id, seq FROM memory WHERE source = ? AND kind = 'document' AND scope = ?", source, scope);
}

export async function expired(db: Reads, now: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>("SELECT id FROM memory WHERE expires_at <= ? LIMIT 500", now);
  return rows.map((row) => row.id);
}

/** What the catalogue holds of live rows after `after`, in order of adding. */
export function readEntries(db: Reads, after: number, limit: number): Promise<CatalogueEntry[]> {
  return db.all(
    `SELECT seq, scope, thread, speaker, at, uses, length(words) - length(replace(words, ' ', '')) AS length, text
     FROM memory WHERE state = 'live' AND seq > ? ORDER BY seq LIMIT ?`,
    after,
    limit,
  );
}

export function readEntry(db: Reads, id: string): Promise<CatalogueEntry | undefined> {
  return db.get(
    `SELECT seq, scope, thread, speaker, at, uses, length(words) - length(replace(words, ' ', '')) AS length, text
     FROM memory WHERE id = ?`,
    id,
  );
}

export async function listSeqs(db: Reads, ids: readonly string[]): Promise<number[]> {
  const rows = await db.all<{ seq: number }>(
    "SELECT seq FROM memory WHERE id IN (SELECT value FROM json_each(?))",
    JSON.stringify(ids),
  );
  return rows.map((row) => row.seq);
}

const MATCHING: WordQuery = {
  sqlite: `SELECT group_concat(rowid) AS numbers FROM
    (SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rowid DESC LIMIT ?)`,
  postgres: `SELECT string_agg(w.rowid::text, ',' ORDER BY w.rowid DESC) AS numbers FROM
    (SELECT rowid FROM memory_fts WHERE found @@ ?::tsquery ORDER BY rowid DESC LIMIT ?) AS w`,
};

/** Rows whose words match, newest first. `match` is made by `search/match.ts`. */
export async function matching(db: Reads, match: string, limit: number): Promise<number[]> {
  return findWords(db, MATCHING, match, limit);
}

/** Rows are numbered in order of adding. */
export async function between(_db: Reads, oldest: number, newest: number): Promise<number> {
  return newest - oldest + 1;
}

// ── vectors ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Only for a row that is still there and live: what was forgotten meanwhile stays forgotten. */
export function putVector(tx: Tx, v: { seq: number; model: string; bytes: Uint8Array }): void {
  tx.run(
    `INSERT INTO memory_vector (seq, model, bytes) SELECT ?, ?, ? FROM memory WHERE seq = ? AND state = 'live'
     ON CONFLICT (seq, model) DO UPDATE SET bytes = excluded.bytes`,
    v.seq,
    v.model,
    v.bytes,
    v.seq,
  );
}

/** Live rows of a span without a vector of this model. */
export function withoutVector(
  db: Reads,
  model: string,
  q: { after: number; to: number; limit: number },
): Promise<{ seq: number; text: string }[]> {
  return db.all(
    `SELECT m.seq, m.text FROM memory m LEFT JOIN memory_vector v ON v.seq = m.seq AND v.model = ?
     WHERE m.seq > ? AND m.seq <= ? AND m.state = 'live' AND v.seq IS NULL ORDER BY m.seq LIMIT ?`,
    model,
    q.after,
    q.to,
    q.limit,
  );
}

export async function lastSeq(db: Reads): Promise<number> {
  return (await db.get<{ seq: number | null }>("SELECT MAX(seq) AS seq FROM memory"))?.seq ?? 0;
}

export function readVectors(
  db: Reads,
  model: string,
  after: number,
  limit: number,
): Promise<{ seq: number; bytes: Uint8Array }[]> {
  return db.all(
    "SELECT seq, bytes FROM memory_vector WHERE model = ? AND seq > ? ORDER BY seq LIMIT ?",
    model,
    after,
    limit,
  );
}

export function listVectors(
  db: Reads,
  model: string,
  seqs: readonly number[],
): Promise<{ seq: number; bytes: Uint8Array }[]> {
  return db.all(
    "SELECT seq, bytes FROM memory_vector WHERE seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND model = ?",
    JSON.stringify(seqs),
    model,
  );
}

/** Whose vectors there are, the most first. */
export function vectorModels(db: Reads): Promise<{ model: string; count: number }[]> {
  return db.all("SELECT model, COUNT(*) AS count FROM memory_vector GROUP BY model ORDER BY count DESC, model");
}

/** Takes the vectors of an embedder out, up to a row. */
export function dropVectors(tx: Tx, model: string, to: number): void {
  tx.run("DELETE FROM memory_vector WHERE model = ? AND seq <= ?", model, to);
}

export async function vectorProgress(db: Reads, model: string): Promise<{ done: number; total: number }> {
  const row = await db.get<{ done: number; total: number }>(
    `SELECT (SELECT COUNT(*) FROM memory_vector WHERE model = ?) AS done,
     (SELECT COUNT(*) FROM memory WHERE state = 'live') AS total`,
    model,
  );
  return { done: row?.done ?? 0, total: row?.total ?? 0 };
}

// ── graph ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const IN_SCOPES = "scope IN (SELECT value FROM json_each(?))";

export function relations(
  db: Reads,
  q: { scopes?: readonly string[]; relation?: string; subject?: string; limit: number },
): Promise<(Relation & { seq: number })[]> {
  const where = ["1 = 1"];
  const params: SqlValue[] = [];
  if (q.scopes) {
    where.push(IN_SCOPES);
    params.push(JSON.stringify(q.scopes));
  }
  if (q.relation) {
    where.push("relation = ?");
    params.push(q.relation);
  }
  if (q.subject) {
    // "Smith" is asked for, and "Ann Smith" is known.
    where.push("(subject = ? OR ' ' || subject || ' ' LIKE ?)");
    params.push(q.subject, `% ${q.subject} %`);
  }
  return db.all(
    `SELECT relation, subject, object, seq FROM memory_relation WHERE ${where.join(" AND ")} ORDER BY seq DESC LIMIT ?`,
    ...params,
    q.limit,
  );
}

export async function isEntity(db: Reads, norm: string, scopes: readonly string[] | undefined): Promise<boolean> {
  const row = await db.get(
    `SELECT 1 FROM memory_entity e WHERE e.norm = ? AND e.sure = 1 ${scopes ? `AND e.${IN_SCOPES}` : ""} LIMIT 1`,
    ...[norm, ...(scopes ? [JSON.stringify(scopes)] : [])],
  );
  return row !== undefined;
}

export function entities(
  db: Reads,
  q: { scopes?: readonly string[]; limit: number },
): Promise<{ name: string; norm: string; scope: string; mentions: number }[]> {
  return db.all(
    `SELECT e.name, e.norm, e.scope, COUNT(*) AS mentions FROM memory_entity e JOIN memory_mention m ON m.entity = e.id
     WHERE e.sure = 1 ${q.scopes ? `AND e.${IN_SCOPES}` : ""} GROUP BY e.id, e.name, e.norm, e.scope ORDER BY mentions DESC, e.norm LIMIT ?`,
    ...(q.scopes ? [JSON.stringify(q.scopes)] : []),
    q.limit,
  );
}

function view(row: ViewRow): Remembered {
  return {
    id: row.id,
    text: row.text,
    kind: row.kind,
    scope: row.scope,
    state: row.state,
    trust: row.trust,
    at: row.at,
    createdAt: row.created_at,
    uses: row.uses,
    ...defined({
      person: row.person ?? undefined,
      agent: row.agent ?? undefined,
      source: row.source ?? undefined,
      place: row.place ?? undefined,
      topic: row.topic ?? undefined,
      supersededBy: row.superseded_by ?? undefined,
      usedAt: row.used_at ?? undefined,
      expiresAt: row.expires_at ?? undefined,
      why: row.why ?? undefined,
    }),
  };
}
