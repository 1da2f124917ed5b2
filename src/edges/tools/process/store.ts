import type { Reads, Tx } from "../../../core/contracts/index.ts";

/** `starting`: meant and perhaps begun. `lost`: over, and nobody knows how. */
export type ProcessState = "starting" | "running" | "exited" | "killed" | "lost";

export interface ProcessRow {
  id: string;
  /** The call that asked for it; the same call again is the same process. */
  key: string;
  session: string;
  agent: string;
  route: string;
  command: string;
  pid: number | null;
  /** Tells this process from another with its pid. */
  started: string | null;
  /** What ends it where our signals do not reach, as JSON. */
  stop: string | null;
  state: ProcessState;
  exit: number | null;
  told: number;
  made_at: number;
  ended_at: number | null;
}

const COLUMNS = "id, key, session, agent, route, command, pid, started, stop, state, exit, told, made_at, ended_at";

export function insertProcess(tx: Tx, p: ProcessRow): void {
  tx.run(
    `INSERT INTO process (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    p.id,
    p.key,
    p.session,
    p.agent,
    p.route,
    p.command,
    p.pid,
    p.started,
    p.stop,
    p.state,
    p.exit,
    p.told,
    p.made_at,
    p.ended_at,
  );
}

export function markRunning(tx: Tx, id: string, pid: number, started: string | null): void {
  tx.run(
    "UPDATE process SET state = 'running', pid = ?, started = ? WHERE id = ? AND state = 'starting'",
    pid,
    started,
    id,
  );
}

/** The first end holds. */
export function markEnded(
  tx: Tx,
  id: string,
  end: { state: ProcessState; exit: number | null; at: number; told: boolean },
): void {
  tx.run(
    `UPDATE process SET state = ?, exit = ?, ended_at = ?, told = ? WHERE id = ? AND state IN ('starting', 'running')`,
    end.state,
    end.exit,
    end.at,
    end.told ? 1 : 0,
    id,
  );
}

export function markTold(tx: Tx, id: string): void {
  tx.run("UPDATE process SET told = 1 WHERE id = ?", id);
}

export function deleteProcess(tx: Tx, id: string): void {
  tx.run("DELETE FROM process WHERE id = ?", id);
}

export function findProcess(db: Reads, id: string): Promise<ProcessRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM process WHERE id = ?`, id);
}

export function processByKey(db: Reads, key: string): Promise<ProcessRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM process WHERE key = ?`, key);
}

export function processesIn(db: Reads, session: string, limit: number): Promise<ProcessRow[]> {
  return db.all(`SELECT ${COLUMNS} FROM process WHERE session = ? ORDER BY made_at DESC LIMIT ?`, session, limit);
}

export function openProcesses(db: Reads): Promise<ProcessRow[]> {
  return db.all(`SELECT ${COLUMNS} FROM process WHERE told = 0 ORDER BY made_at, id`);
}

export async function countRunning(db: Reads, agent: string): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM process WHERE agent = ? AND state IN ('starting', 'running')",
    agent,
  );
  return row?.n ?? 0;
}

export function endedBefore(db: Reads, at: number): Promise<{ id: string }[]> {
  return db.all("SELECT id FROM process WHERE told = 1 AND ended_at < ?", at);
}

export function runningProcesses(db: Reads, limit: number) {
  return db.all<{ id: string; session: string; agent: string; command: string; madeAt: number }>(
    `SELECT id, session, agent, command, made_at AS madeAt FROM process WHERE state IN ('starting', 'running')
     ORDER BY made_at LIMIT ?`,
    limit,
  );
}

/** After a restore: processes of the backup are another life's. Nobody hears of their end. */
export function loseProcesses(tx: Tx, at: number): void {
  tx.run("UPDATE process SET state = 'lost', ended_at = ? WHERE state IN ('starting', 'running')", at);
  tx.run("UPDATE process SET told = 1 WHERE told = 0");
}
