import type { CallUse, Reads, Records, SqlValue, Tx } from "../../core/contracts/index.ts";
import {
  type Authority,
  acceptIds,
  addUsage,
  type LaneClass,
  NO_USAGE,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
  type TurnResult,
  type TurnState,
  type Usage,
} from "../../core/domain/index.ts";
import { NO_MODEL } from "./usage/store.ts";

export interface TurnRow {
  id: TurnId;
  session: SessionKey;
  agent: string;
  state: TurnState;
  route: ReplyRoute;
  result: TurnResult | undefined;
  acceptedAt: number;
  startedAt: number | undefined;
  endedAt: number | undefined;
}

/** The row as SQL has it. */
interface Raw {
  id: TurnId;
  session: SessionKey;
  agent: string;
  state: TurnState;
  route: string;
  result: string | null;
  accepted_at: number;
  started_at: number | null;
  ended_at: number | null;
}

const COLUMNS = "id, session, agent, state, route, result, accepted_at, started_at, ended_at";

export interface QueuedTurn {
  turn: TurnId;
  acceptId: string;
  fingerprint: string | undefined;
  session: SessionKey;
  agent: string;
  person: string;
  route: ReplyRoute;
  lane: LaneClass;
  at: number;
  authority: Authority;
  /** Something that happened, not a person. */
  isEvent: boolean;
  isGroup: boolean;
  /** The group's title and the speaker's name, as the platform gave them. */
  title: string | undefined;
  name: string | undefined;
  /** Where a person typed it, beside programs that use the same door. */
  face: string | undefined;
}

/** A turn that waits for its first step. Idempotent per id. */
export function queueTurn(tx: Tx, t: QueuedTurn): void {
  tx.run(
    `INSERT INTO turn (id, session, agent, person, accept_id, route, lane, state, accepted_at, speaker, is_group, fingerprint,
       title, name, face)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    t.turn,
    t.session,
    t.agent,
    t.person,
    t.acceptId,
    JSON.stringify(t.route),
    t.lane,
    t.at,
    t.isEvent ? "event" : t.authority,
    t.isGroup ? 1 : 0,
    t.fingerprint ?? null,
    t.title ?? null,
    t.name ?? null,
    t.face ?? null,
  );
}

export async function wasAdmitted(db: Reads, acceptId: string): Promise<boolean> {
  return (await db.get("SELECT 1 FROM turn WHERE accept_id = ?", acceptId)) !== undefined;
}

/** Up to a thousand turns whose accept id begins with this; how many there were. */
export async function forgetAdmitted(records: Records, prefix: string): Promise<number> {
  const rows = await records.all<{ id: string }>(
    "SELECT id FROM turn WHERE accept_id >= ? AND accept_id < ? LIMIT 1000",
    prefix,
    `${prefix}\u{10FFFF}`,
  );
  if (rows.length) {
    await records.write((tx) => {
      // The column is unique, so the old id is replaced and not cleared.
      for (const { id } of rows) tx.run("UPDATE turn SET accept_id = ? WHERE id = ?", acceptIds.forgotten(id), id);
    });
  }
  return rows.length;
}

export function recordEnd(tx: Tx, turn: TurnId, result: TurnResult, startedAt: number, endedAt: number): void {
  tx.run(
    "UPDATE turn SET state = ?, result = ?, started_at = ?, ended_at = ? WHERE id = ?",
    result.state,
    JSON.stringify(result),
    startedAt,
    endedAt,
    turn,
  );
}

export function recordParked(tx: Tx, turn: TurnId, startedAt: number): void {
  tx.run("UPDATE turn SET state = 'parked', started_at = ? WHERE id = ?", startedAt, turn);
}

/** It continues: callers wait for its end again, not for a person. */
export function recordWoken(tx: Tx, turn: TurnId): void {
  tx.run("UPDATE turn SET state = 'queued' WHERE id = ? AND state = 'parked'", turn);
}

/** Lares was started again while this turn was open, and took it up. */
export function recordRestart(tx: Tx, turn: TurnId, restart: { at: number; resumedAt: number }): void {
  tx.run(
    "INSERT INTO turn_restart VALUES (?, ?, ?) ON CONFLICT (turn, at) DO NOTHING",
    turn,
    restart.at,
    restart.resumedAt,
  );
}

export async function listRestarts(db: Reads, turn: TurnId): Promise<{ at: number; resumedAt: number }[]> {
  const rows = await db.all<{ at: number; resumed_at: number }>(
    "SELECT at, resumed_at FROM turn_restart WHERE turn = ? ORDER BY at",
    turn,
  );
  return rows.map((row) => ({ at: row.at, resumedAt: row.resumed_at }));
}

/** Dividers that a page can show; nobody scrolls past so many. */
const MOST_RESTARTS = 100;

/** The restarts in the middle of a session's turns, the newest first. */
export function listRestartsIn(db: Reads, session: string): Promise<{ turn: string; at: number }[]> {
  return db.all(
    `SELECT r.turn, r.at FROM turn t JOIN turn_restart r ON r.turn = t.id WHERE t.session = ? ORDER BY r.at DESC LIMIT ?`,
    session,
    MOST_RESTARTS,
  );
}

/** By which way the messages of these turns came, and what their platform calls who wrote them. */
export async function listSpeakers(
  db: Reads,
  turns: readonly string[],
): Promise<Map<string, { route: ReplyRoute; name: string | null }>> {
  const rows = await db.all<{ id: string; route: string; name: string | null }>(
    "SELECT id, route, name FROM turn WHERE id IN (SELECT value FROM json_each(?))",
    JSON.stringify(turns),
  );
  return new Map(rows.map(({ id, route, name }) => [id, { route: JSON.parse(route) as ReplyRoute, name }]));
}

/** One line of the ledger. `runtime`: who made the call, when it wasn't our own loop. Idempotent by turn and call. */
export function recordUsage(tx: Tx, u: CallUse): void {
  const { usage } = u;
  tx.run(
    `INSERT INTO usage (turn, call, session, agent, model, input_tokens, output_tokens, cache_read_tokens,
       cache_write_tokens, cost, ms, at, runtime, basis)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn, call) DO NOTHING`,
    u.turn,
    u.call,
    u.session,
    u.agent,
    u.model ?? NO_MODEL,
    usage.inputTokens,
    usage.outputTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens,
    usage.cost,
    u.ms,
    u.at,
    u.runtime ?? "native",
    u.basis ?? "priced",
  );
}

/** The highest number of a turn's calls in the ledger; -1 when there is none. */
export async function lastRecordedCall(db: Reads, turn: TurnId): Promise<number> {
  const row = await db.get<{ n: number | null }>("SELECT MAX(call) AS n FROM usage WHERE turn = ?", turn);
  return row?.n ?? -1;
}

/** The turn's calls in the ledger, in their order. */
export async function listCalls(
  db: Reads,
  turn: TurnId,
): Promise<{ call: number; model: string | null; usage: Usage; ms: number; at: number }[]> {
  const rows = await db.all<{ call: number; model: string; ms: number; at: number } & UsageColumns>(
    `SELECT call, model, ms, at, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost FROM usage
     WHERE turn = ? ORDER BY call`,
    turn,
  );
  return rows.map((row) => {
    const { call, model, ms, at } = row;
    return { call, ms, at, model: model === NO_MODEL ? null : model, usage: toUsage(row) };
  });
}

interface UsageColumns {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost: number | null;
}

function toUsage(row: UsageColumns): Usage {
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    cost: row.cost,
  };
}

/** What the model calls of a turn have used, for a turn that lost its own count. */
export async function sumUsage(db: Reads, turn: TurnId): Promise<Usage> {
  const rows = await db.all<UsageColumns>(
    "SELECT input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost FROM usage WHERE turn = ?",
    turn,
  );
  return rows.map(toUsage).reduce(addUsage, NO_USAGE);
}

/** What a turn has used: of one that is over as it ended, of one that waits or runs as far as it got. */
export async function readUsage(db: Reads, { id, result }: Pick<TurnRow, "id" | "result">): Promise<Usage | undefined> {
  if (result) return result.usage;
  const used = await sumUsage(db, id);
  return used === NO_USAGE ? undefined : used;
}

export async function readTurn(db: Reads, id: TurnId): Promise<TurnRow | undefined> {
  const row = await db.get<Raw>(`SELECT ${COLUMNS} FROM turn WHERE id = ?`, id);
  return row && turnRow(row);
}

export interface TurnQuery {
  session?: string;
  open?: boolean;
  states?: readonly TurnState[];
  /** Only turns older than this one. */
  before?: string;
}

/** The newest first. */
export async function listTurns(db: Reads, q: TurnQuery & { limit: number }): Promise<TurnRow[]> {
  const { filter, params } = matching(q);
  const rows = await db.all<Raw>(
    `SELECT ${COLUMNS} FROM turn ${filter} ORDER BY accepted_at DESC, id DESC LIMIT ?`,
    ...params,
    q.limit,
  );
  return rows.map(turnRow);
}

export async function countTurns(db: Reads, q: TurnQuery): Promise<number> {
  const { filter, params } = matching(q);
  return (await db.get<{ n: number }>(`SELECT COUNT(*) AS n FROM turn ${filter}`, ...params))?.n ?? 0;
}

function matching(q: TurnQuery): { filter: string; params: SqlValue[] } {
  const where: string[] = [];
  const params: SqlValue[] = [];
  if (q.session) {
    where.push("session = ?");
    params.push(q.session);
  }
  if (q.open) where.push("ended_at IS NULL");
  if (q.states) {
    where.push(`state IN (${q.states.map(() => "?").join(", ")})`);
    params.push(...q.states);
  }
  if (q.before) {
    where.push("(accepted_at, id) < (SELECT b.accepted_at, b.id FROM turn b WHERE b.id = ?)");
    params.push(q.before);
  }
  return { filter: where.length ? `WHERE ${where.join(" AND ")}` : "", params };
}

/** Turns whose accept id begins with this, the newest first: their ids grow with time. */
export async function turnsAcceptedAs(
  db: Reads,
  prefix: string,
  q: { session?: string | undefined; before?: string | undefined; limit: number },
): Promise<(TurnRow & { acceptId: string })[]> {
  const within = q.session === undefined ? "" : "AND session = ?";
  const older = q.before === undefined ? "" : "AND id < ?";
  const rows = await db.all<Raw & { accept_id: string }>(
    `SELECT ${COLUMNS}, accept_id FROM turn WHERE accept_id >= ? AND accept_id < ? ${within} ${older} ORDER BY id DESC LIMIT ?`,
    prefix,
    `${prefix}\u{10FFFF}`,
    ...[q.session, q.before].filter((value) => value !== undefined),
    q.limit,
  );
  return rows.map((row) => ({ ...turnRow(row), acceptId: row.accept_id }));
}

/** How many open turns have an accept id that begins with this. */
export async function openAcceptedAs(db: Reads, prefix: string): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM turn WHERE ended_at IS NULL AND accept_id >= ? AND accept_id < ?",
    prefix,
    `${prefix}\u{10FFFF}`,
  );
  return row?.n ?? 0;
}

export async function findAcceptId(db: Reads, turn: TurnId): Promise<string | undefined> {
  return (await db.get<{ accept_id: string }>("SELECT accept_id FROM turn WHERE id = ?", turn))?.accept_id;
}

function turnRow(row: Raw): TurnRow {
  return {
    id: row.id,
    session: row.session,
    agent: row.agent,
    state: row.state,
    route: JSON.parse(row.route) as ReplyRoute,
    result: row.result === null ? undefined : (JSON.parse(row.result) as TurnResult),
    acceptedAt: row.accepted_at,
    startedAt: row.started_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
  };
}

/** Tools may have changed something in this folder once more. */
export function countChange(tx: Tx, folder: string): void {
  tx.run(
    "INSERT INTO tool_change (folder, times) VALUES (?, 1) ON CONFLICT (folder) DO UPDATE SET times = tool_change.times + 1",
    folder,
  );
}

export async function readChanges(db: Reads): Promise<Map<string, number>> {
  const rows = await db.all<{ folder: string; times: number }>("SELECT folder, times FROM tool_change");
  return new Map(rows.map((row) => [row.folder, row.times]));
}

/** `keepUsage`: what its model calls cost stays in the sums. */
export function eraseTurns(tx: Tx, session: SessionKey, how: { keepUsage?: boolean }): void {
  tx.run("DELETE FROM turn_restart WHERE turn IN (SELECT id FROM turn WHERE session = ?)", session);
  // Budgets and reports count what was spent, even if the conversation is deleted.
  if (!how.keepUsage) tx.run("DELETE FROM usage WHERE session = ?", session);
  tx.run("DELETE FROM turn WHERE session = ?", session);
}

/** Those of the named turns that haven't ended. */
export async function openAmong(db: Reads, turns: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.all<{ id: string }>(
    "SELECT id FROM turn WHERE ended_at IS NULL AND id IN (SELECT value FROM json_each(?))",
    JSON.stringify(turns),
  );
  return new Set(rows.map(({ id }) => id));
}

/** Turns that run or wait for their lane; of those that wait for a person, which may be thousands, only the number. */
export async function openNow(db: Reads): Promise<{ open: { id: TurnId; session: SessionKey }[]; parked: number }> {
  const open = await db.all<{ id: TurnId; session: SessionKey }>(
    "SELECT id, session FROM turn WHERE ended_at IS NULL AND state <> 'parked'",
  );
  const parked = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM turn WHERE ended_at IS NULL AND state = 'parked'",
  );
  return { open, parked: parked?.n ?? 0 };
}

export function turnsByState(db: Reads): Promise<{ state: string; n: number }[]> {
  return db.all("SELECT state, COUNT(*) AS n FROM turn GROUP BY state");
}

/** After a restore: turns that were open in the backup ended in another life, or never will. Returns how they are recorded. */
export function failOpenTurns(tx: Tx, reason: string, at: number): TurnResult {
  const result: TurnResult = {
    state: "failed",
    text: "",
    reason,
    failure: "unknown-outcome",
    notices: [],
    usage: NO_USAGE,
    calls: 0,
    toolCalls: 0,
  };
  tx.run(
    "UPDATE turn SET state = 'failed', result = ?, ended_at = ? WHERE ended_at IS NULL",
    JSON.stringify(result),
    at,
  );
  return result;
}
