import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { SessionKey, TurnId } from "../../core/domain/index.ts";

/** One run of a child: who asked for it, where its result goes. */
export interface ChildRow {
  turn: TurnId;
  /** The first run of this task; a correction has the same. */
  root: TurnId;
  session: SessionKey;
  parent_turn: TurnId;
  parent_session: SessionKey;
  parent_route: string;
  parent_agent: string;
  agent: string;
  task: string;
  depth: number;
  deadline: number;
  told: number;
  made_at: number;
  /** JSON Schema its answer must fit. */
  result: string | null;
  /** 1: it was asked once more for an answer that fits. */
  corrected: number;
  /** 1: the parent has been notified that it is quiet. */
  stalled: number;
  /** What carries it out instead of its agent's own body. */
  runtime: string | null;
  /** The git repository that it is about. */
  repository: string | null;
}

const COLUMNS =
  "turn, root, session, parent_turn, parent_session, parent_route, parent_agent, agent, task, depth, deadline, told, made_at, result, corrected, stalled, runtime, repository";

/** Idempotent. */
export function insertChild(tx: Tx, c: ChildRow): void {
  tx.run(
    `INSERT INTO child_run (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn) DO NOTHING`,
    ...[c.turn, c.root, c.session, c.parent_turn, c.parent_session, c.parent_route, c.parent_agent, c.agent, c.task],
    ...[c.depth, c.deadline, c.told, c.made_at, c.result, c.corrected, c.stalled, c.runtime, c.repository],
  );
}

export function markTold(tx: Tx, turn: TurnId): void {
  tx.run("UPDATE child_run SET told = 1 WHERE turn = ?", turn);
}

export function markStalled(tx: Tx, turn: TurnId): void {
  tx.run("UPDATE child_run SET stalled = 1 WHERE turn = ?", turn);
}

export function findChild(db: Reads, turn: TurnId): Promise<ChildRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM child_run WHERE turn = ?`, turn);
}

/** The newest run in this session: tells how deep it lies and who asked. */
export function childIn(db: Reads, session: string): Promise<ChildRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM child_run WHERE session = ? ORDER BY made_at DESC, turn DESC LIMIT 1`, session);
}

/** What carries out the turns of this session, where who asked for it chose that. */
export async function spawnedRuntime(db: Reads, session: string): Promise<string | undefined> {
  return (await childIn(db, session))?.runtime ?? undefined;
}

/** The git repository that this sub-agent's work is about, where who asked for it named one. */
export async function spawnedRepository(db: Reads, session: string): Promise<string | undefined> {
  return (await childIn(db, session))?.repository ?? undefined;
}

export function untold(db: Reads): Promise<ChildRow[]> {
  return db.all(`SELECT ${COLUMNS} FROM child_run WHERE told = 0 ORDER BY made_at, turn`);
}

export function listOpen(db: Reads, parentSession: string): Promise<ChildRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM child_run WHERE parent_session = ? AND told = 0 ORDER BY made_at, turn`,
    parentSession,
  );
}

/** All a turn asked for, ended or not. */
export function askedBy(db: Reads, parentTurn: TurnId): Promise<ChildRow[]> {
  return db.all(`SELECT ${COLUMNS} FROM child_run WHERE parent_turn = ?`, parentTurn);
}

export function listChildren(db: Reads, parentSession: string, limit: number): Promise<ChildRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM child_run WHERE parent_session = ? ORDER BY made_at DESC, turn DESC LIMIT ?`,
    parentSession,
    limit,
  );
}

/** Sub-agents whose results are still to come. */
export function openChildren(db: Reads, limit: number) {
  return db.all<{ turn: string; session: string; parent: string; agent: string; task: string; deadline: number }>(
    `SELECT turn, session, parent_session AS parent, parent_agent AS agent, task, deadline FROM child_run WHERE told = 0
     ORDER BY deadline LIMIT ?`,
    limit,
  );
}

/** After a restore: parents don't wait for results of another life. */
export function markAllTold(tx: Tx): void {
  tx.run("UPDATE child_run SET told = 1 WHERE told = 0");
}
