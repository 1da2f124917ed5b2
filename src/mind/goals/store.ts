import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { SessionKey, TurnId } from "../../core/domain/index.ts";

/** `limit`: it used up its limits. Only an active goal starts turns. */
export type GoalState = "active" | "paused" | "done" | "blocked" | "limit" | "cancelled";

export interface Goal {
  id: string;
  session: SessionKey;
  agent: string;
  route: string;
  outcome: string;
  proof: string | null;
  stop: string | null;
  state: GoalState;
  /** Why it is in this state, in one sentence. */
  why: string | null;
  /** Its current or latest turn, and that turn's number. */
  turn: TurnId | null;
  round: number;
  /** 1: it waits for processes or sub-agents of its session. */
  waiting: number;
  most_turns: number;
  most_dollars: number | null;
  most_tokens: number | null;
  dollars: number;
  tokens: number;
  /** 1: a model's price isn't known, so `dollars` is too low. */
  unpriced: number;
  made_by: string;
  made_at: number;
  updated_at: number;
}

const COLUMNS =
  "id, session, agent, route, outcome, proof, stop, state, why, turn, round, waiting, most_turns, most_dollars, most_tokens, dollars, tokens, unpriced, made_by, made_at, updated_at";

/** Idempotent per id. */
export function insertGoal(tx: Tx, g: Goal): void {
  tx.run(
    `INSERT INTO goal (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    ...[g.id, g.session, g.agent, g.route, g.outcome, g.proof, g.stop, g.state, g.why, g.turn, g.round, g.waiting],
    ...[
      g.most_turns,
      g.most_dollars,
      g.most_tokens,
      g.dollars,
      g.tokens,
      g.unpriced,
      g.made_by,
      g.made_at,
      g.updated_at,
    ],
  );
}

/** Records that the next turn is admitted. */
export function beginRound(tx: Tx, id: string, round: number, turn: TurnId, at: number): void {
  tx.run(
    "UPDATE goal SET round = ?, turn = ?, waiting = 0, updated_at = ? WHERE id = ? AND round < ?",
    round,
    turn,
    at,
    id,
    round,
  );
}

/** Changes the state, if the current one allows it. */
export function setState(
  tx: Tx,
  g: { id: string; from: readonly GoalState[]; state: GoalState; why: string | null; at: number },
): void {
  tx.run(
    `UPDATE goal SET state = ?, why = ?, waiting = 0, updated_at = ? WHERE id = ? AND state IN (${g.from.map(() => "?").join(", ")})`,
    g.state,
    g.why,
    g.at,
    g.id,
    ...g.from,
  );
}

export function setWaiting(tx: Tx, id: string, why: string, turn: TurnId, at: number): void {
  tx.run("UPDATE goal SET waiting = 1, why = ?, turn = ?, updated_at = ? WHERE id = ?", why, turn, at, id);
}

export function setWhy(tx: Tx, id: string, why: string, at: number): void {
  tx.run("UPDATE goal SET why = ?, updated_at = ? WHERE id = ?", why, at, id);
}

export function addSpent(tx: Tx, id: string, spent: { dollars: number; tokens: number; unpriced: boolean }): void {
  tx.run(
    `UPDATE goal SET dollars = dollars + ?, tokens = tokens + ?, unpriced = CASE WHEN unpriced = 1 THEN 1 ELSE ? END
     WHERE id = ?`,
    spent.dollars,
    spent.tokens,
    spent.unpriced ? 1 : 0,
    id,
  );
}

/** Renews its limits. */
export function renew(tx: Tx, id: string, turns: number): void {
  tx.run(
    `UPDATE goal SET most_turns = CASE WHEN most_turns > round + ? THEN most_turns ELSE round + ? END, dollars = 0,
       tokens = 0, unpriced = 0 WHERE id = ?`,
    turns,
    turns,
    id,
  );
}

export function readGoal(db: Reads, id: string): Promise<Goal | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM goal WHERE id = ?`, id);
}

export function findGoalByTurn(db: Reads, turn: TurnId): Promise<Goal | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM goal WHERE turn = ? AND state = 'active'`, turn);
}

/** Goals waiting in this session, which may be able to continue now. */
export function waitingIn(db: Reads, session: SessionKey): Promise<Goal[]> {
  return db.all(`SELECT ${COLUMNS} FROM goal WHERE session = ? AND state = 'active' AND waiting = 1`, session);
}

export function goalIn(db: Reads, session: SessionKey): Promise<Goal | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM goal WHERE session = ? ORDER BY made_at DESC, id DESC LIMIT 1`, session);
}

export function activeGoals(db: Reads): Promise<Goal[]> {
  return db.all(`SELECT ${COLUMNS} FROM goal WHERE state = 'active' ORDER BY made_at, id`);
}

export function listGoals(db: Reads, limit: number): Promise<Goal[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM goal ORDER BY state IN ('active', 'paused', 'blocked') DESC, updated_at DESC LIMIT ?`,
    limit,
  );
}

/** After a restore: a goal goes on when somebody says so; it may have come further since the backup. */
export function pauseActive(tx: Tx, why: string, at: number): void {
  tx.run("UPDATE goal SET state = 'paused', why = ?, waiting = 0, updated_at = ? WHERE state = 'active'", why, at);
}
