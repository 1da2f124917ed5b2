import type { Reads, SqlValue, Tx } from "../../core/contracts/index.ts";
import type {
  ApprovalDecision,
  ApprovalId,
  ApprovalState,
  ApprovalView,
  JsonObject,
  SessionKey,
  TurnId,
} from "../../core/domain/index.ts";

export interface NewApproval {
  id: ApprovalId;
  turn: TurnId;
  session: SessionKey;
  agent: string;
  tool: string;
  call: string;
  shown: string;
  because: string;
  action: JsonObject;
  /** Over everything the action is bound to; checked again before it runs. */
  hash: string;
  askedAt: number;
  deadline: number;
}

interface Row {
  id: ApprovalId;
  turn: TurnId;
  session: SessionKey;
  agent: string;
  tool: string;
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
  "id, turn, session, agent, tool, shown, because, action, state, asked_at, deadline, answered_at, answered_by, reason";

export function insertApproval(tx: Tx, a: NewApproval): void {
  tx.run(
    `INSERT INTO approval (id, turn, session, agent, tool, call, shown, because, action, hash, state, asked_at, deadline)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?) ON CONFLICT (id) DO NOTHING`,
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

export async function readApproval(db: Reads, id: string): Promise<ApprovalView | undefined> {
  const row = await db.get<Row>(`SELECT ${COLUMNS} FROM approval WHERE id = ?`, id);
  return row && view(row);
}

export async function listApprovals(
  db: Reads,
  q: { pendingOnly: boolean; session?: string; turn?: string; limit: number },
): Promise<ApprovalView[]> {
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
  const filter = where.length ? `WHERE ${where.join(" AND ")}` : "";
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM approval ${filter} ORDER BY asked_at, id LIMIT ?`,
    ...params,
    q.limit,
  );
  return rows.map(view);
}

/** Pending ones whose id ends like this: what a person types in a chat. */
export async function pendingByEnding(db: Reads, ending: string): Promise<ApprovalView[]> {
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM approval WHERE state = 'pending' AND substr(id, -?) = ? LIMIT 3`,
    ending.length,
    ending,
  );
  return rows.map(view);
}

function view(row: Row): ApprovalView {
  return {
    id: row.id,
    turn: row.turn,
    session: row.session,
    agent: row.agent,
    tool: row.tool,
    shown: row.shown,
    because: row.because,
    state: row.state,
    askedAt: row.asked_at,
    deadline: row.deadline,
    action: JSON.parse(row.action) as JsonObject,
    ...(row.answered_at === null ? {} : { answeredAt: row.answered_at }),
    ...(row.answered_by === null ? {} : { answeredBy: row.answered_by }),
    ...(row.reason === null ? {} : { reason: row.reason }),
  };
}
