/** Calls that a server has turned into tasks, until their turn has the outcome. */
import type { Reads, Tx } from "../../../../core/contracts/index.ts";

/**
 * `open`: the server works on it. `asks`: it wants to know something first. `ended`: the outcome is known. `done`: the turn has it.
 * `dropped`: it is no longer wanted.
 */
export type TaskState = "open" | "asks" | "ended" | "done" | "dropped";

export interface TaskRow {
  /** Of the call. */
  key: string;
  server: string;
  tool: string;
  /** Which program or address answers: the task is asked about nowhere else. */
  definition: string;
  /** As the server calls it. */
  task: string;
  session: string;
  turn: string;
  /** The call as the model made it, where people see it; null for one that nobody sees. */
  call: string | null;
  name: string | null;
  /** What its turn waits for, another one after each question. */
  wait: string;
  round: number;
  /** Keys of the questions that were answered, as JSON: the server may name them once more before it has noticed. */
  answered: string;
  state: TaskState;
  /** The outcome, or what it asks, as JSON. */
  outcome: string | null;
  at: number;
  until: number;
}

const COLUMNS =
  "key, server, tool, definition, task, session, turn, call, name, wait, round, answered, state, outcome, at, until";

export function insertTask(tx: Tx, r: TaskRow): void {
  tx.run(
    `INSERT INTO mcp_task (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
    ...[r.key, r.server, r.tool, r.definition, r.task, r.session, r.turn, r.call, r.name],
    ...[r.wait, r.round, r.answered, r.state, r.outcome, r.at, r.until],
  );
}

export function setTask(tx: Tx, key: string, change: Pick<TaskRow, "state"> & Partial<Pick<TaskRow, "outcome">>): void {
  tx.run("UPDATE mcp_task SET state = ?, outcome = ? WHERE key = ?", change.state, change.outcome ?? null, key);
}

/** The turn goes on waiting, for something new. */
export function waitAgain(tx: Tx, { key, wait, round, answered }: TaskRow): void {
  tx.run(
    "UPDATE mcp_task SET state = 'open', outcome = NULL, wait = ?, round = ?, answered = ? WHERE key = ?",
    wait,
    round,
    answered,
    key,
  );
}

export function readTask(db: Reads, key: string): Promise<TaskRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM mcp_task WHERE key = ?`, key);
}

export function findWaiting(db: Reads, turn: string, wait: string): Promise<TaskRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM mcp_task WHERE turn = ? AND wait = ?`, turn, wait);
}

/** Those that somebody still has to hear about. */
export function openTasks(db: Reads): Promise<TaskRow[]> {
  return db.all(`SELECT ${COLUMNS} FROM mcp_task WHERE state IN ('open', 'asks', 'ended') ORDER BY at`);
}

export function tasksIn(db: Reads, turn: string): Promise<TaskRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM mcp_task WHERE turn = ? AND state IN ('open', 'asks', 'ended') ORDER BY at`,
    turn,
  );
}

export function eraseTasks(tx: Tx, session: string): void {
  tx.run("DELETE FROM mcp_task WHERE session = ?", session);
}

/** After a restore: no turn waits for a task of the backup. */
export function dropOpenTasks(tx: Tx): void {
  tx.run("DELETE FROM mcp_task WHERE state IN ('open', 'asks', 'ended')");
}
