/** The tables of runs. */
import type { Reads, RunEvent, RunEventBody, RunToken, Tx } from "../../core/contracts/index.ts";
import type { SessionKey, TurnId } from "../../core/domain/index.ts";
import type { SaidMeanwhile } from "./ports.ts";
import type { RecordedEvent } from "./steps.ts";

export interface RunRow {
  turn: TurnId;
  session: SessionKey;
  agent: string;
  runtime: string;
  attempt: number;
  seq: number;
  token: RunToken | null;
  shortfalls: readonly string[];
  at: number;
  endedAt: number | null;
}

interface RawRun {
  turn: TurnId;
  session: SessionKey;
  agent: string;
  runtime: string;
  attempt: number;
  seq: number;
  token: string | null;
  plan: string | null;
  at: number;
  ended_at: number | null;
}

const COLUMNS = "turn, session, agent, runtime, attempt, seq, token, plan, at, ended_at";

export async function readRun(db: Reads, turn: TurnId): Promise<RunRow | undefined> {
  const row = await db.get<RawRun>(`SELECT ${COLUMNS} FROM run WHERE turn = ?`, turn);
  return row && toRow(row);
}

/** The newest first. */
export async function listRuns(db: Reads, q: { open: boolean; limit: number }): Promise<RunRow[]> {
  const where = q.open ? "WHERE ended_at IS NULL" : "";
  return (await db.all<RawRun>(`SELECT ${COLUMNS} FROM run ${where} ORDER BY at DESC LIMIT ?`, q.limit)).map(toRow);
}

function toRow({ ended_at, token, plan, ...row }: RawRun): RunRow {
  const { shortfalls = [] } = plan === null ? {} : (JSON.parse(plan) as { shortfalls?: { text: string }[] });
  return {
    ...row,
    token: token === null ? null : (JSON.parse(token) as RunToken),
    shortfalls: shortfalls.map(({ text }) => text),
    endedAt: ended_at,
  };
}

/** A new attempt, with its number. Nothing of an older one is taken from here on. */
export function raiseAttempt(
  tx: Tx,
  run: {
    turn: TurnId;
    session: SessionKey;
    agent: string;
    runtime: string;
    attempt: number;
    at: number;
  },
): void {
  tx.run(
    `INSERT INTO run (turn, session, agent, runtime, attempt, seq, at) VALUES (?, ?, ?, ?, ?, 0, ?)
     ON CONFLICT (turn) DO UPDATE SET attempt = excluded.attempt WHERE excluded.attempt > run.attempt`,
    run.turn,
    run.session,
    run.agent,
    run.runtime,
    run.attempt,
    run.at,
  );
}

export function keepPlan(tx: Tx, turn: TurnId, plan: object): void {
  tx.run("UPDATE run SET plan = ? WHERE turn = ?", JSON.stringify(plan), turn);
}

/** What finds the runtime's conversation of this session again, as the last run left it. */
export async function lastToken(db: Reads, of: { session: SessionKey; runtime: string }): Promise<RunToken | null> {
  const row = await db.get<{ token: string }>(
    "SELECT token FROM run WHERE session = ? AND runtime = ? AND token IS NOT NULL ORDER BY at DESC LIMIT 1",
    of.session,
    of.runtime,
  );
  return row ? (JSON.parse(row.token) as RunToken) : null;
}

/** Only of the attempt that counts (RUNS-2). */
export function addEvent(tx: Tx, turn: TurnId, { seq, attempt, at, body }: RunEvent): void {
  tx.run(
    `INSERT INTO run_event (turn, seq, attempt, at, body)
     SELECT ?, ?, ?, ?, ? FROM run WHERE turn = ? AND attempt = ?
     ON CONFLICT (turn, seq) DO NOTHING`,
    turn,
    seq,
    attempt,
    at,
    JSON.stringify(body),
    turn,
    attempt,
  );
  tx.run("UPDATE run SET seq = ? WHERE turn = ? AND attempt = ?", seq, turn, attempt);
}

export function keepToken(tx: Tx, turn: TurnId, attempt: number, token: RunToken): void {
  tx.run("UPDATE run SET token = ? WHERE turn = ? AND attempt = ?", JSON.stringify(token), turn, attempt);
}

/** The conversation is over, or went another way: the next run begins a new one. */
export function forgetTokens(tx: Tx, session: string): void {
  tx.run("UPDATE run SET token = NULL WHERE session = ?", session);
}

export async function readEvents(db: Reads, turn: TurnId): Promise<RunEventBody[]> {
  const rows = await db.all<{ body: string }>("SELECT body FROM run_event WHERE turn = ? ORDER BY seq", turn);
  return rows.map(({ body }) => JSON.parse(body) as RunEventBody);
}

/** With their numbers and times. */
export async function readRecorded(db: Reads, turn: TurnId): Promise<RecordedEvent[]> {
  const rows = await db.all<{ seq: number; at: number; body: string }>(
    "SELECT seq, at, body FROM run_event WHERE turn = ? ORDER BY seq",
    turn,
  );
  return rows.map(({ body, ...row }) => ({ ...row, body: JSON.parse(body) as RunEventBody }));
}

export function endRow(tx: Tx, turn: TurnId, at: number): void {
  tx.run("UPDATE run SET ended_at = ? WHERE turn = ? AND ended_at IS NULL", at, turn);
}

export function addSaid(tx: Tx, turn: TurnId, { message, text, authority }: SaidMeanwhile): void {
  tx.run(
    `INSERT INTO run_said (turn, message, text, authority) VALUES (?, ?, ?, ?)
     ON CONFLICT (turn, message) DO NOTHING`,
    turn,
    message,
    text,
    authority,
  );
}

export function readSaid(db: Reads, turn: TurnId): Promise<SaidMeanwhile[]> {
  return db.all<SaidMeanwhile>("SELECT message, text, authority FROM run_said WHERE turn = ? ORDER BY message", turn);
}

export function eraseRuns(tx: Tx, session: string): void {
  tx.run("DELETE FROM run_event WHERE turn IN (SELECT turn FROM run WHERE session = ?)", session);
  tx.run("DELETE FROM run_said WHERE turn IN (SELECT turn FROM run WHERE session = ?)", session);
  tx.run("DELETE FROM run WHERE session = ?", session);
}

/** After a restore: no run of the backup is under way. */
export function endOpenRuns(tx: Tx, at: number): void {
  tx.run("UPDATE run SET ended_at = ? WHERE ended_at IS NULL", at);
  tx.run("DELETE FROM run_said");
}
