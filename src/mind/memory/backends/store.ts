/** What each memory back end has heard, and what it still has to hear. */
import type { Reads, Tx } from "../../../core/contracts/index.ts";

/** A fact as a back end gets it. */
export interface ToldFact {
  id: string;
  text: string;
  scope: string;
  kind: string;
  at: number;
}

/** A fact doesn't hold any more, or is gone: those that heard of it, or are about to, have to forget it. */
export function noLongerHolds(tx: Tx, id: string): void {
  tx.run("UPDATE memory_told SET state = 'unwanted' WHERE id = ?", id);
}

/** A fact that every back end has passed by holds now. */
export function holdsNow(tx: Tx, id: string): void {
  tx.run(
    `INSERT INTO memory_told (backend, id, state) SELECT backend, ?, 'wanted' FROM memory_place WHERE true
     ON CONFLICT (backend, id) DO UPDATE SET state = 'wanted'`,
    id,
  );
}

export async function readPlace(db: Reads, backend: string): Promise<number | undefined> {
  return (await db.get<{ seq: number }>("SELECT seq FROM memory_place WHERE backend = ?", backend))?.seq;
}

export function writePlace(tx: Tx, backend: string, seq: number): void {
  tx.run(
    "INSERT INTO memory_place (backend, seq) VALUES (?, ?) ON CONFLICT (backend) DO UPDATE SET seq = excluded.seq",
    backend,
    seq,
  );
}

/** Facts that came after a place, in order of adding. */
export function factsAfter(db: Reads, seq: number, limit: number): Promise<{ seq: number; id: string }[]> {
  return db.all(
    "SELECT seq, id FROM memory WHERE seq > ? AND state = 'live' AND kind <> 'document' ORDER BY seq LIMIT ?",
    seq,
    limit,
  );
}

export function want(tx: Tx, backend: string, ids: readonly string[]): void {
  for (const id of ids) {
    tx.run(
      // Deleted since it was read: it isn't wanted.
      `INSERT INTO memory_told (backend, id, state) SELECT ?, id, 'wanted' FROM memory WHERE id = ? AND state = 'live'
       ON CONFLICT (backend, id) DO NOTHING`,
      backend,
      id,
    );
  }
}

export function listWanted(db: Reads, backend: string, limit: number): Promise<ToldFact[]> {
  return db.all(
    `SELECT m.id, m.text, m.scope, m.kind, m.at FROM memory_told t JOIN memory m ON m.id = t.id
     WHERE t.backend = ? AND t.state = 'wanted' ORDER BY m.seq LIMIT ?`,
    backend,
    limit,
  );
}

export async function listUnwanted(db: Reads, backend: string, limit: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    "SELECT id FROM memory_told WHERE backend = ? AND state = 'unwanted' LIMIT ?",
    backend,
    limit,
  );
  return rows.map(({ id }) => id);
}

/** It took these. What became unwanted meanwhile stays that. */
export function markTold(tx: Tx, backend: string, ids: readonly string[]): void {
  for (const id of ids)
    tx.run("UPDATE memory_told SET state = 'told' WHERE backend = ? AND id = ? AND state = 'wanted'", backend, id);
}

/** It forgot these. What holds again meanwhile stays wanted. */
export function markForgotten(tx: Tx, backend: string, ids: readonly string[]): void {
  for (const id of ids)
    tx.run("DELETE FROM memory_told WHERE backend = ? AND id = ? AND state = 'unwanted'", backend, id);
}

/** It gets no new facts from now on; what it has can still be forgotten. */
export function stopTelling(tx: Tx, backend: string): void {
  tx.run("DELETE FROM memory_place WHERE backend = ?", backend);
  // Nobody knows whether it got these, so it is asked to forget them.
  tx.run("UPDATE memory_told SET state = 'unwanted' WHERE backend = ? AND state = 'wanted'", backend);
}

export function dropBackend(tx: Tx, backend: string): void {
  tx.run("DELETE FROM memory_place WHERE backend = ?", backend);
  tx.run("DELETE FROM memory_told WHERE backend = ?", backend);
}

/** All that ever heard something, by name. */
export async function listBackends(db: Reads): Promise<string[]> {
  const rows = await db.all<{ backend: string }>(
    "SELECT backend FROM memory_place UNION SELECT backend FROM memory_told ORDER BY backend",
  );
  return rows.map(({ backend }) => backend);
}

export async function countOpen(db: Reads, backend: string): Promise<{ waiting: number; unforgotten: number }> {
  const of = async (state: string) =>
    (
      await db.get<{ n: number }>(
        "SELECT COUNT(*) AS n FROM memory_told WHERE backend = ? AND state = ?",
        backend,
        state,
      )
    )?.n ?? 0;
  return { waiting: await of("wanted"), unforgotten: await of("unwanted") };
}
