import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { SessionKey, TurnId } from "../../core/domain/index.ts";

/** One child run: who asked for it, where its result goes. */
export interface ChildRow {
  turn: TurnId;
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
}

const COLUMNS =
  "turn, session, parent_turn, parent_session, parent_route, parent_agent, agent, task, depth, deadline, told, made_at";

/** Making it again changes nothing. */
export function insertChild(tx: Tx, c: ChildRow): void {
  tx.run(
    `INSERT INTO child (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn) DO NOTHING`,
    c.turn,
    c.session,
    c.parent_turn,
    c.parent_session,
    c.parent_route,
    c.parent_agent,
    c.agent,
    c.task,
    c.depth,
    c.deadline,
    c.told,
    c.made_at,
  );
}

export function markTold(tx: Tx, turn: TurnId): void {
  tx.run("UPDATE child SET told = 1 WHERE turn = ?", turn);
}

export function childOf(db: Reads, turn: TurnId): Promise<ChildRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM child WHERE turn = ?`, turn);
}

/** The child whose session this is: tells how deep it lies. */
export function childIn(db: Reads, session: string): Promise<ChildRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM child WHERE session = ?`, session);
}

export function untold(db: Reads): Promise<ChildRow[]> {
  return db.all(`SELECT ${COLUMNS} FROM child WHERE told = 0 ORDER BY made_at, turn`);
}

export function openOf(db: Reads, parentSession: string): Promise<ChildRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM child WHERE parent_session = ? AND told = 0 ORDER BY made_at, turn`,
    parentSession,
  );
}

export function openOfTurn(db: Reads, parentTurn: TurnId): Promise<ChildRow[]> {
  return db.all(`SELECT ${COLUMNS} FROM child WHERE parent_turn = ? AND told = 0`, parentTurn);
}

export function childrenOf(db: Reads, parentSession: string, limit: number): Promise<ChildRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM child WHERE parent_session = ? ORDER BY made_at DESC LIMIT ?`,
    parentSession,
    limit,
  );
}
