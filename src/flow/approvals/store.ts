import type { Reads, SqlValue, Tx } from "../../core/contracts/index.ts";
import {
  type ApprovalDecision,
  type ApprovalId,
  type ApprovalRequest,
  type ApprovalState,
  type ApprovalView,
  CODE_LENGTH,
  fromJson,
  isObject,
  type JsonObject,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";

export interface NewApproval extends ApprovalRequest {
  /** When the first reminder is due; null: never. */
  remindAt: number | null;
}

interface Row {
  id: ApprovalId;
  turn: TurnId;
  session: SessionKey;
  agent: string;
  tool: string;
  call: string;
  shown: string;
  because: string;
  action: string;
  state: ApprovalState;
  asked_at: number;
  deadline: number;
  answered_at: number | null;
  answered_by: string | null;
  reason: string | null;
}

const COLUMNS =
  "id, turn, session, agent, tool, call, shown, because, action, state, asked_at, deadline, answered_at, answered_by, reason";

export function insertApproval(tx: Tx, a: NewApproval): void {
  tx.run(
    `INSERT INTO approval (id, turn, session, agent, tool, call, shown, because, action, hash, state, asked_at, deadline,
       remind_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    a.id,
    a.turn,
    a.session,
    a.agent,
    a.tool,
    a.call,
    a.shown,
    a.because,
    JSON.stringify(a.action),
    a.hash,
    a.askedAt,
    a.deadline,
    a.remindAt,
  );
}

export function answerApproval(
  tx: Tx,
  a: { id: ApprovalId; state: ApprovalState; decision?: ApprovalDecision; by: string; reason?: string; at: number },
): void {
  tx.run(
    `UPDATE approval SET state = ?, decision = ?, answered_by = ?, reason = ?, answered_at = ?
     WHERE id = ? AND state = 'pending'`,
    a.state,
    a.decision ?? null,
    a.by,
    a.reason ?? null,
    a.at,
    a.id,
  );
}

/** A pending question whose reminder is due. */
export interface Due {
  id: ApprovalId;
  turn: TurnId;
  session: SessionKey;
  route: ReplyRoute;
  shown: string;
  because: string;
  action: JsonObject;
  askedAt: number;
  deadline: number;
  reminded: number;
}

export async function nextReminder(db: Reads): Promise<number | null> {
  const row = await db.get<{ at: number | null }>(
    "SELECT MIN(remind_at) AS at FROM approval WHERE state = 'pending' AND remind_at IS NOT NULL",
  );
  return row?.at ?? null;
}

export async function dueReminders(db: Reads, now: number, limit: number): Promise<Due[]> {
  const rows = await db.all<Row & { route: string; reminded: number }>(
    `SELECT a.id, a.turn, a.session, a.shown, a.because, a.action, a.asked_at, a.deadline, a.reminded, t.route
     FROM approval a JOIN turn t ON t.id = a.turn
     WHERE a.state = 'pending' AND a.remind_at IS NOT NULL AND a.remind_at <= ? ORDER BY a.remind_at LIMIT ?`,
    now,
    limit,
  );
  return rows.map((row) => ({
    id: row.id,
    turn: row.turn,
    session: row.session,
    route: askedOn(JSON.parse(row.action) as JsonObject) ?? (JSON.parse(row.route) as ReplyRoute),
    shown: row.shown,
    because: row.because,
    action: JSON.parse(row.action) as JsonObject,
    askedAt: row.asked_at,
    deadline: row.deadline,
    reminded: row.reminded,
  }));
}

/** Where a question was asked, when it was not where its turn answers. */
export function askedOn({ route }: JsonObject): ReplyRoute | undefined {
  return isObject(route) ? fromJson<ReplyRoute>(route) : undefined;
}

/** `from` is the count that was read, so that a reminder is counted once. */
export function moveReminder(tx: Tx, r: { id: ApprovalId; from: number; to: number; at: number | null }): void {
  tx.run(
    "UPDATE approval SET reminded = ?, remind_at = ? WHERE id = ? AND reminded = ? AND state = 'pending'",
    r.to,
    r.at,
    r.id,
    r.from,
  );
}

export function rememberRule(
  tx: Tx,
  r: { agent: string; rule: string; approval: ApprovalId; by: string; at: number },
): void {
  tx.run(
    `INSERT INTO remembered (agent, rule, approval, made_by, made_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (agent, rule) DO NOTHING`,
    r.agent,
    r.rule,
    r.approval,
    r.by,
    r.at,
  );
}

export async function rememberedRules(db: Reads, agent: string): Promise<Set<string>> {
  const rows = await db.all<{ rule: string }>("SELECT rule FROM remembered WHERE agent = ?", agent);
  return new Set(rows.map((row) => row.rule));
}

/** Pending questions of the same agent about the very same action. */
export async function sameAs(db: Reads, id: ApprovalId): Promise<ApprovalId[]> {
  const rows = await db.all<{ id: ApprovalId }>(
    `SELECT p.id FROM approval a JOIN approval p ON p.agent = a.agent AND p.hash = a.hash AND p.tool = a.tool
     WHERE a.id = ? AND p.state = 'pending' AND p.id <> a.id ORDER BY p.asked_at`,
    id,
  );
  return rows.map((row) => row.id);
}

/** Pending questions asked before the same action was allowed always, with who did. */
export function leftByRules(db: Reads): Promise<{ id: ApprovalId; by: string }[]> {
  return db.all(
    `SELECT p.id, r.made_by AS by FROM approval p
     JOIN remembered r ON r.agent = p.agent AND r.rule = json_extract(p.action, '$.rule') AND r.made_at >= p.asked_at
     JOIN approval a ON a.id = r.approval AND a.hash = p.hash AND a.tool = p.tool
     WHERE p.state = 'pending' ORDER BY p.asked_at`,
  );
}

export interface KeptRule {
  agent: string;
  rule: string;
  approval: ApprovalId;
  madeBy: string;
  madeAt: number;
  /** How often it has allowed something, and when it last did. */
  used: number;
  usedAt: number | null;
}

/** Counts another use of a rule. */
export function countUse(tx: Tx, agent: string, rule: string, at: number): void {
  tx.run("UPDATE remembered SET used = used + 1, used_at = ? WHERE agent = ? AND rule = ?", at, agent, rule);
}

export function listRules(db: Reads, agent?: string): Promise<KeptRule[]> {
  return db.all(
    `SELECT agent, rule, approval, made_by AS madeBy, made_at AS madeAt, used, used_at AS usedAt FROM remembered
     WHERE ? = '' OR agent = ? ORDER BY made_at DESC, agent, rule`,
    agent ?? "",
    agent ?? "",
  );
}

export function forgetRule(tx: Tx, agent: string, rule: string): void {
  tx.run("DELETE FROM remembered WHERE agent = ? AND rule = ?", agent, rule);
}

export async function readApproval(db: Reads, id: string): Promise<ApprovalView | undefined> {
  const row = await db.get<Row>(`SELECT ${COLUMNS} FROM approval WHERE id = ?`, id);
  return row && view(row);
}

export interface ApprovalQuery {
  pendingOnly: boolean;
  session?: string;
  turn?: string;
}

/** Oldest first. Of more than `limit` the oldest are kept, or the newest. */
export async function listApprovals(
  db: Reads,
  q: ApprovalQuery & { limit: number; keeps?: "newest" },
): Promise<ApprovalView[]> {
  const { filter, params } = matching(q);
  const order = q.keeps === "newest" ? "asked_at DESC, id DESC" : "asked_at, id";
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM approval ${filter} ORDER BY ${order} LIMIT ?`,
    ...params,
    q.limit,
  );
  return (q.keeps === "newest" ? rows.reverse() : rows).map(view);
}

export async function countApprovals(db: Reads, q: ApprovalQuery): Promise<number> {
  const { filter, params } = matching(q);
  return (await db.get<{ n: number }>(`SELECT COUNT(*) AS n FROM approval ${filter}`, ...params))?.n ?? 0;
}

function matching(q: ApprovalQuery): { filter: string; params: SqlValue[] } {
  const where: string[] = [];
  const params: SqlValue[] = [];
  if (q.pendingOnly) where.push("state = 'pending'");
  if (q.session) {
    where.push("session = ?");
    params.push(q.session);
  }
  if (q.turn) {
    where.push("turn = ?");
    params.push(q.turn);
  }
  return { filter: where.length ? `WHERE ${where.join(" AND ")}` : "", params };
}

/** What waits for an answer and was asked in this chat, oldest first. */
export async function pendingIn(db: Reads, at: ReplyRoute): Promise<ApprovalView[]> {
  const rows = await db.all<Row & { route: string }>(
    `SELECT ${COLUMNS}, (SELECT t.route FROM turn t WHERE t.id = approval.turn) AS route FROM approval
     WHERE state = 'pending' ORDER BY asked_at, id`,
  );
  return rows
    .filter((row) => {
      const asked = askedOn(JSON.parse(row.action) as JsonObject) ?? (JSON.parse(row.route) as ReplyRoute);
      return asked.channel === at.channel && asked.account === at.account && asked.chat === at.chat;
    })
    .map(view);
}

/**
 * Those whose id ends like this: what a person types in a chat. Pending ones; for a whole code, when none is pending, the newest
 * that was answered, so that an old button can say how it was answered.
 */
export async function byEnding(db: Reads, ending: string): Promise<ApprovalView[]> {
  if (ending === "") return [];
  const isCode = ending.length >= CODE_LENGTH;
  const fits = isCode ? `substr(id, length(id) - ${CODE_LENGTH - 1}) = ? AND` : "? = '' AND";
  const code = isCode ? ending.slice(-CODE_LENGTH) : "";
  const pending = await db.all<Row>(
    `SELECT ${COLUMNS} FROM approval WHERE ${fits} substr(id, length(id) - ?) = ? AND state = 'pending' LIMIT 3`,
    code,
    ending.length - 1,
    ending,
  );
  if (pending.length > 0 || !isCode) return pending.map(view);
  const answered = await db.all<Row>(
    `SELECT ${COLUMNS} FROM approval WHERE ${fits} substr(id, length(id) - ?) = ? ORDER BY asked_at DESC LIMIT 1`,
    code,
    ending.length - 1,
    ending,
  );
  return answered.map(view);
}

function view(row: Row): ApprovalView {
  return {
    id: row.id,
    turn: row.turn,
    session: row.session,
    agent: row.agent,
    tool: row.tool,
    call: row.call,
    shown: row.shown,
    because: row.because,
    state: row.state,
    askedAt: row.asked_at,
    deadline: row.deadline,
    action: JSON.parse(row.action) as JsonObject,
    ...defined({
      answeredAt: row.answered_at ?? undefined,
      answeredBy: row.answered_by ?? undefined,
      reason: row.reason ?? undefined,
    }),
  };
}

/** Every question that one of these tools ever asked. */
export async function askedByTools(db: Reads, tools: readonly string[]): Promise<ApprovalView[]> {
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM approval WHERE tool IN (SELECT value FROM json_each(?))`,
    JSON.stringify(tools),
  );
  return rows.map(view);
}

/** An answered question no longer shows what it was about. */
export function hideQuestion(tx: Tx, id: ApprovalId, shown: string): void {
  tx.run("UPDATE approval SET shown = ?, action = '{}' WHERE id = ? AND state <> 'pending'", shown, id);
}

export function eraseApprovals(tx: Tx, session: SessionKey): void {
  tx.run("DELETE FROM approval WHERE session = ?", session);
}

export async function countPending(db: Reads): Promise<number> {
  return (await db.get<{ n: number }>("SELECT COUNT(*) AS n FROM approval WHERE state = 'pending'"))?.n ?? 0;
}

/** How many questions of an agent's were asked since then and still wait. */
export async function countAskedSince(db: Reads, agent: string, since: number): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM approval WHERE state = 'pending' AND asked_at > ? AND agent = ?",
    since,
    agent,
  );
  return row?.n ?? 0;
}

/** After a restore: a question that was open in the backup may have been answered since, and what it asked for done. */
export function withdrawPending(tx: Tx, reason: string, at: number): void {
  tx.run("UPDATE approval SET state = 'withdrawn', reason = ?, answered_at = ? WHERE state = 'pending'", reason, at);
}
