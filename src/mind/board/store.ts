/**
 * The board's tables. Every change of a task is one transaction that begins with a fence: when the task isn't as the writer saw it, the
 * whole transaction is refused, with it what was to be admitted or recorded beside it.
 */
import type { Reads, Tx } from "../../core/contracts/index.ts";
import type {
  Assignee,
  Authority,
  BoardState,
  Handoff,
  SessionKey,
  TaskEvidence,
  TaskId,
  TaskMove,
  TaskMover,
  TaskVerdict,
  TurnId,
} from "../../core/domain/index.ts";

export interface BoardTask {
  number: number;
  id: TaskId;
  title: string;
  description: string;
  acceptance: string;
  acceptance_hash: string;
  parent: TaskId | null;
  depth: number;
  team: string | null;
  mission: string | null;
  assignee_kind: Assignee["kind"] | null;
  assignee: string | null;
  runtime: string | null;
  priority: number;
  most_dollars: number | null;
  most_tokens: number | null;
  repository: string | null;
  attachments: string;
  /** 1: a critic looks at it even when it is small. */
  review: number;
  state: BoardState;
  why: string | null;
  waits_for: string | null;
  change: number;
  attempt: number;
  most_attempts: number;
  /** Attempts that failed since a person last said that it may be tried. */
  spent_attempts: number;
  holder: string | null;
  turn: TurnId | null;
  verdict: number | null;
  not_before: number;
  clock_at: number | null;
  escalations: number;
  made_by: string;
  made_kind: "person" | "agent";
  made_session: SessionKey | null;
  made_agent: string | null;
  route: string | null;
  authority: Authority;
  outside: number;
  made_at: number;
  updated_at: number;
  state_at: number;
  /** The last change that the one that asked has heard of. */
  told: number;
}

export type NewBoardTask = Omit<
  BoardTask,
  "number" | "change" | "attempt" | "holder" | "turn" | "verdict" | "escalations" | "spent_attempts" | "told"
>;

const COLUMNS =
  "number, id, title, description, acceptance, acceptance_hash, parent, depth, team, mission, assignee_kind, assignee, runtime, priority, most_dollars, most_tokens, repository, attachments, review, state, why, waits_for, change, attempt, most_attempts, spent_attempts, holder, turn, verdict, not_before, clock_at, escalations, made_by, made_kind, made_session, made_agent, route, authority, outside, made_at, updated_at, state_at, told";

/** Why a fence of this file refused a transaction; nothing when it failed for another reason. */
export function refusalIn(error: unknown): "stale" | "cycle" | "full" | undefined {
  const [, why] = /board_(stale|cycle|full)\b/.exec(String((error as Error | undefined)?.message ?? error)) ?? [];
  return why as "stale" | "cycle" | "full" | undefined;
}

export function insertTask(tx: Tx, t: NewBoardTask): void {
  tx.run(
    `INSERT INTO board_task (id, title, description, acceptance, acceptance_hash, parent, depth, team, mission, assignee_kind, assignee,
       runtime, priority, most_dollars, most_tokens, repository, attachments, review, state, why, waits_for, most_attempts, not_before,
       clock_at, made_by, made_kind, made_session, made_agent, route, authority, outside, made_at, updated_at, state_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[t.id, t.title, t.description, t.acceptance, t.acceptance_hash, t.parent, t.depth, t.team, t.mission],
    ...[t.assignee_kind, t.assignee, t.runtime, t.priority, t.most_dollars, t.most_tokens, t.repository, t.attachments],
    ...[t.review, t.state, t.why, t.waits_for, t.most_attempts, t.not_before, t.clock_at, t.made_by, t.made_kind],
    ...[t.made_session, t.made_agent, t.route, t.authority, t.outside, t.made_at, t.updated_at, t.state_at],
  );
}

/** Refuses the transaction when the parent has that many open children already. */
export function mustHaveRoom(tx: Tx, parent: TaskId, most: number): void {
  tx.run(
    `INSERT INTO board_refused (why) SELECT 'full' WHERE (
       SELECT COUNT(*) FROM board_task WHERE parent = ? AND state NOT IN ('done', 'cancelled')) >= ?`,
    parent,
    most,
  );
}

/** Refuses the transaction when the task isn't in this state and attempt any more. */
function mustBe(tx: Tx, t: Pick<BoardTask, "id" | "state" | "attempt" | "change">): void {
  tx.run(
    `INSERT INTO board_refused (why) SELECT 'stale' WHERE NOT EXISTS (
       SELECT 1 FROM board_task WHERE id = ? AND state = ? AND attempt = ? AND change = ?)`,
    ...[t.id, t.state, t.attempt, t.change],
  );
}

/** A task needs another. A circle refuses the transaction. */
export function insertLink(tx: Tx, task: TaskId, needs: TaskId): void {
  tx.run("INSERT INTO board_link (task, needs) VALUES (?, ?) ON CONFLICT (task, needs) DO NOTHING", task, needs);
  tx.run(
    `INSERT INTO board_refused (why) SELECT 'cycle' WHERE EXISTS (
       WITH RECURSIVE above (id) AS (
         SELECT needs FROM board_link WHERE task = ?
         UNION SELECT l.needs FROM board_link l JOIN above a ON l.task = a.id)
       SELECT 1 FROM above WHERE id = ?)`,
    task,
    task,
  );
}

export function deleteLink(tx: Tx, task: TaskId, needs: TaskId): void {
  tx.run("DELETE FROM board_link WHERE task = ? AND needs = ?", task, needs);
}

/** What a move changes besides the state. What isn't named stays. */
export interface MoveRow {
  to: BoardState;
  move: TaskMove;
  who: TaskMover;
  name: string;
  why: string | null;
  at: number;
  attempt?: number;
  holder?: string | null;
  turn?: TurnId | null;
  waitsFor?: string | null;
  notBefore?: number;
  clockAt?: number | null;
  spentAttempts?: number;
}

/** Moves a task that is still as `from` says, else refuses the transaction. */
export function moveRow(tx: Tx, from: BoardTask, m: MoveRow): void {
  mustBe(tx, from);
  const attempt = m.attempt ?? from.attempt;
  const escalations = m.clockAt === undefined || m.clockAt === null ? "0" : "escalations";
  tx.run(
    `UPDATE board_task SET state = ?, why = ?, change = change + 1, attempt = ?, holder = ?, turn = ?, waits_for = ?, not_before = ?,
       clock_at = ?, spent_attempts = ?, escalations = ${escalations}, updated_at = ?, state_at = ?
     WHERE id = ?`,
    ...[m.to, m.why, attempt, m.holder === undefined ? from.holder : m.holder],
    ...[m.turn === undefined ? from.turn : m.turn, m.waitsFor ?? null, m.notBefore ?? 0, m.clockAt ?? null],
    ...[m.spentAttempts ?? from.spent_attempts, m.at, m.at, from.id],
  );
  tx.run(
    "INSERT INTO board_move (task, change, move, state, attempt, who, name, why, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ...[from.id, from.change + 1, m.move, m.to, attempt, m.who, m.name, m.why, m.at],
  );
}

/** Writes a verdict with its evidence; with a clean one the task may be moved to done in the same transaction. */
export function insertVerdict(tx: Tx, task: BoardTask, v: TaskVerdict, at: number): void {
  tx.run(
    "INSERT INTO board_verdict (task, attempt, clean, judge, why, at) VALUES (?, ?, ?, ?, ?, ?)",
    ...[task.id, task.attempt, v.clean ? 1 : 0, v.by, v.why, at],
  );
  if (!v.clean) return;
  for (const one of v.evidence) {
    tx.run(
      `INSERT INTO board_evidence (task, verdict, body, at)
       SELECT ?, MAX(seq), ?, ? FROM board_verdict WHERE task = ?`,
      ...[task.id, JSON.stringify(one), at, task.id],
    );
  }
  tx.run(
    "UPDATE board_task SET verdict = (SELECT MAX(seq) FROM board_verdict WHERE task = ?) WHERE id = ?",
    task.id,
    task.id,
  );
}

export interface TaskChanges {
  title: string;
  description: string;
  assignee_kind: Assignee["kind"] | null;
  assignee: string | null;
  runtime: string | null;
  priority: number;
  most_dollars: number | null;
  most_tokens: number | null;
  most_attempts: number;
}

export function updateTask(tx: Tx, from: BoardTask, t: TaskChanges, at: number): void {
  mustBe(tx, from);
  tx.run(
    `UPDATE board_task SET title = ?, description = ?, assignee_kind = ?, assignee = ?, runtime = ?, priority = ?, most_dollars = ?,
       most_tokens = ?, most_attempts = ?, updated_at = ? WHERE id = ?`,
    ...[t.title, t.description, t.assignee_kind, t.assignee, t.runtime, t.priority, t.most_dollars, t.most_tokens],
    ...[t.most_attempts, at, from.id],
  );
}

export interface AttemptRow {
  task: TaskId;
  attempt: number;
  member: string;
  agent: string | null;
  runtime: string | null;
  session: SessionKey | null;
  turn: TurnId | null;
  /** The folder it works in, as JSON. */
  place: string | null;
  started_at: number;
  ended_at: number | null;
  outcome: string | null;
  why: string | null;
  /** What it handed in. */
  result: string | null;
  dollars: number | null;
  tokens: number | null;
  check_turn: TurnId | null;
  checks: number;
  review_turn: TurnId | null;
  reviews: number;
  /** What it left behind, as a hash: two runs with the same one made no progress. */
  print: string | null;
}

const RUN_COLUMNS =
  "task, attempt, member, agent, runtime, session, turn, place, started_at, ended_at, outcome, why, result, dollars, tokens, check_turn, checks, review_turn, reviews, print";

export interface CommentRow {
  seq: number;
  task: TaskId;
  author_kind: TaskMover;
  author: string;
  text: string;
  at: number;
}

/** Idempotent per key. */
export function insertComment(tx: Tx, c: Omit<CommentRow, "seq"> & { key: string | null }): void {
  tx.run(
    "INSERT INTO board_comment (task, author_kind, author, text, at, key) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
    ...[c.task, c.author_kind, c.author, c.text, c.at, c.key],
  );
  tx.run("UPDATE board_task SET updated_at = ? WHERE id = ?", c.at, c.task);
}

export function insertRun(
  tx: Tx,
  r: Pick<AttemptRow, "task" | "attempt" | "member" | "agent" | "runtime" | "session" | "turn" | "place"> & {
    at: number;
  },
): void {
  tx.run(
    `INSERT INTO board_run (task, attempt, member, agent, runtime, session, turn, place, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[r.task, r.attempt, r.member, r.agent, r.runtime, r.session, r.turn, r.place, r.at],
  );
}

export function endRun(tx: Tx, r: Pick<AttemptRow, "task" | "attempt" | "outcome" | "why"> & { at: number }): void {
  tx.run(
    "UPDATE board_run SET ended_at = ?, outcome = ?, why = ? WHERE task = ? AND attempt = ? AND ended_at IS NULL",
    ...[r.at, r.outcome, r.why, r.task, r.attempt],
  );
}

/** What came of the work itself; the run goes on until it is judged. */
export function setResult(tx: Tx, r: Pick<AttemptRow, "task" | "attempt" | "result" | "print">): void {
  tx.run(
    "UPDATE board_run SET result = ?, print = ? WHERE task = ? AND attempt = ?",
    ...[r.result, r.print, r.task, r.attempt],
  );
}

export function addSpent(tx: Tx, turn: TurnId, spent: { dollars: number; tokens: number }): void {
  tx.run("UPDATE board_run SET dollars = ?, tokens = ? WHERE turn = ?", spent.dollars, spent.tokens, turn);
}

export function setCheck(tx: Tx, r: Pick<AttemptRow, "task" | "attempt">, turn: TurnId): void {
  tx.run(
    "UPDATE board_run SET check_turn = ?, checks = checks + 1 WHERE task = ? AND attempt = ?",
    ...[turn, r.task, r.attempt],
  );
}

export function setReview(tx: Tx, r: Pick<AttemptRow, "task" | "attempt">, turn: TurnId): void {
  tx.run(
    "UPDATE board_run SET review_turn = ?, reviews = reviews + 1 WHERE task = ? AND attempt = ?",
    ...[turn, r.task, r.attempt],
  );
}

export function putHandoff(tx: Tx, task: TaskId, attempt: number, record: Handoff, at: number): void {
  tx.run(
    `INSERT INTO board_handoff (task, attempt, record, at) VALUES (?, ?, ?, ?)
     ON CONFLICT (task, attempt) DO UPDATE SET record = excluded.record, at = excluded.at`,
    ...[task, attempt, JSON.stringify(record), at],
  );
}

export function markEscalated(tx: Tx, task: TaskId, nextAt: number | null): void {
  tx.run("UPDATE board_task SET escalations = escalations + 1, clock_at = ? WHERE id = ?", nextAt, task);
}

/** The one that asked has heard of this change. */
export function markTold(tx: Tx, task: TaskId, change: number): void {
  tx.run("UPDATE board_task SET told = ? WHERE id = ? AND told < ?", change, task, change);
}

// ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export function readTask(db: Reads, id: string): Promise<BoardTask | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM board_task WHERE id = ?`, id);
}

export function readTaskByNumber(db: Reads, number: number): Promise<BoardTask | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM board_task WHERE number = ?`, number);
}

export interface TaskFilter {
  states?: readonly BoardState[];
  assignee?: string;
  parent?: string;
  team?: string;
  mission?: string;
  search?: string;
  limit: number;
}

/** Open ones first by priority, then the newest closed ones. */
export function listTasks(db: Reads, f: TaskFilter): Promise<BoardTask[]> {
  const { where, params } = filterSql(f);
  return db.all(
    `SELECT ${COLUMNS} FROM board_task WHERE ${where}
     ORDER BY state IN ('done', 'cancelled'), CASE WHEN state IN ('done', 'cancelled') THEN -state_at ELSE -priority END, number LIMIT ?`,
    ...params,
    f.limit,
  );
}

export async function countTasks(db: Reads, f: Omit<TaskFilter, "limit">): Promise<{ state: BoardState; n: number }[]> {
  const { where, params } = filterSql({ ...f, limit: 0 });
  return db.all(`SELECT state, COUNT(*) AS n FROM board_task WHERE ${where} GROUP BY state`, ...params);
}

function filterSql(f: TaskFilter): { where: string; params: (string | number)[] } {
  const parts: string[] = ["1"];
  const params: (string | number)[] = [];
  const add = (sql: string, ...values: (string | number)[]) => {
    parts.push(sql);
    params.push(...values);
  };
  if (f.states) add(`state IN (${f.states.map(() => "?").join(", ")})`, ...f.states);
  if (f.assignee !== undefined) add("(assignee = ? OR holder = ?)", f.assignee, f.assignee);
  if (f.parent !== undefined) add("parent = ?", f.parent);
  if (f.team !== undefined) add("team = ?", f.team);
  if (f.mission !== undefined) add("mission = ?", f.mission);
  if (f.search !== undefined) {
    const like = `%${f.search.replace(/[\\%_]/g, "\\$&")}%`;
    add("(title LIKE ? ESCAPE '\\' OR description LIKE ? ESCAPE '\\')", like, like);
  }
  return { where: parts.join(" AND "), params };
}

export function readNeeds(db: Reads, task: TaskId): Promise<Pick<BoardTask, "id" | "number" | "title" | "state">[]> {
  return db.all(
    `SELECT t.id, t.number, t.title, t.state FROM board_link l JOIN board_task t ON t.id = l.needs WHERE l.task = ? ORDER BY t.number`,
    task,
  );
}

/** Open tasks that need this one. */
export function readDependants(db: Reads, task: TaskId): Promise<BoardTask[]> {
  return db.all(
    `SELECT ${COLUMNS.split(", ")
      .map((one) => `t.${one}`)
      .join(", ")} FROM board_link l JOIN board_task t ON t.id = l.task
     WHERE l.needs = ? AND t.state NOT IN ('done', 'cancelled') ORDER BY t.number`,
    task,
  );
}

export function readChildren(
  db: Reads,
  parent: TaskId,
): Promise<Pick<BoardTask, "id" | "number" | "title" | "state">[]> {
  return db.all("SELECT id, number, title, state FROM board_task WHERE parent = ? ORDER BY number", parent);
}

export function readRuns(db: Reads, task: TaskId): Promise<AttemptRow[]> {
  return db.all(`SELECT ${RUN_COLUMNS} FROM board_run WHERE task = ? ORDER BY attempt`, task);
}

export function readComments(db: Reads, task: TaskId): Promise<CommentRow[]> {
  return db.all(
    "SELECT seq, task, author_kind, author, text, at FROM (SELECT * FROM board_comment WHERE task = ? ORDER BY seq DESC LIMIT 200) AS newest ORDER BY seq",
    task,
  );
}

export interface MadeMove {
  change: number;
  move: TaskMove;
  state: BoardState;
  attempt: number;
  who: TaskMover;
  name: string;
  why: string | null;
  at: number;
}

export function readMoves(db: Reads, task: TaskId): Promise<MadeMove[]> {
  return db.all(
    "SELECT change, move, state, attempt, who, name, why, at FROM (SELECT * FROM board_move WHERE task = ? ORDER BY change DESC LIMIT 200) AS newest ORDER BY change",
    task,
  );
}

export interface VerdictRow {
  seq: number;
  attempt: number;
  clean: number;
  judge: string;
  why: string;
  at: number;
}

export function readVerdicts(db: Reads, task: TaskId): Promise<VerdictRow[]> {
  return db.all("SELECT seq, attempt, clean, judge, why, at FROM board_verdict WHERE task = ? ORDER BY seq", task);
}

export async function readEvidence(db: Reads, task: TaskId): Promise<{ verdict: number; evidence: TaskEvidence }[]> {
  const rows = await db.all<{ verdict: number; body: string }>(
    "SELECT verdict, body FROM board_evidence WHERE task = ? ORDER BY seq",
    task,
  );
  return rows.map(({ verdict, body }) => ({ verdict, evidence: JSON.parse(body) as TaskEvidence }));
}

export async function readHandoff(
  db: Reads,
  task: TaskId,
): Promise<{ attempt: number; at: number; record: Handoff } | undefined> {
  const row = await db.get<{ attempt: number; at: number; record: string }>(
    "SELECT attempt, at, record FROM board_handoff WHERE task = ? ORDER BY attempt DESC LIMIT 1",
    task,
  );
  return row && { ...row, record: JSON.parse(row.record) as Handoff };
}

/** How many tasks agents have made since then. */
export async function countMadeSince(db: Reads, since: number): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM board_task WHERE made_at >= ? AND made_kind = 'agent'",
    since,
  );
  return row?.n ?? 0;
}

/** The newest attempt that this turn works on, checks or reviews. */
export function runOfTurn(db: Reads, turn: string): Promise<AttemptRow | undefined> {
  return db.get(
    `SELECT ${RUN_COLUMNS} FROM board_run WHERE turn = ? OR check_turn = ? OR review_turn = ? ORDER BY attempt DESC LIMIT 1`,
    ...[turn, turn, turn],
  );
}

export function readRun(db: Reads, task: TaskId, attempt: number): Promise<AttemptRow | undefined> {
  return db.get(`SELECT ${RUN_COLUMNS} FROM board_run WHERE task = ? AND attempt = ?`, task, attempt);
}

/** What may be taken now: published, its time has come, and everything it needs is done. */
export function readReady(db: Reads, now: number, limit: number): Promise<BoardTask[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM board_task t WHERE state = 'ready' AND not_before <= ? AND NOT EXISTS (
       SELECT 1 FROM board_link l JOIN board_task n ON n.id = l.needs WHERE l.task = t.id AND n.state <> 'done')
     ORDER BY priority DESC, number LIMIT ?`,
    now,
    limit,
  );
}

/** How many tasks each agent has. */
export function busyAgents(db: Reads): Promise<{ agent: string; n: number }[]> {
  return db.all(
    `SELECT holder AS agent, COUNT(*) AS n FROM board_task
     WHERE state IN ('claimed', 'running', 'verifying') AND holder IS NOT NULL GROUP BY holder`,
  );
}

/** Tasks that somebody or something is at work on, or that wait for a turn of theirs. */
export function heldTasks(db: Reads): Promise<BoardTask[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM board_task WHERE state IN ('claimed', 'running', 'verifying', 'waiting') ORDER BY number`,
  );
}

/** Tasks whose asker hasn't heard how they ended. */
export function untoldTasks(db: Reads): Promise<BoardTask[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM board_task WHERE made_session IS NOT NULL AND told < change
       AND state IN ('done', 'blocked', 'unknown', 'cancelled') ORDER BY number`,
  );
}

export function overdueTasks(db: Reads, now: number): Promise<BoardTask[]> {
  return db.all(`SELECT ${COLUMNS} FROM board_task WHERE clock_at <= ? ORDER BY clock_at LIMIT 100`, now);
}

/** When something is due next: a try, or bringing up what waits. */
export async function nextMoment(db: Reads): Promise<number | undefined> {
  const row = await db.get<{ at: number | null }>(
    `SELECT MIN(at) AS at FROM (
       SELECT MIN(not_before) AS at FROM board_task WHERE state = 'ready' AND not_before > 0
       UNION ALL SELECT MIN(clock_at) FROM board_task WHERE clock_at IS NOT NULL) AS moment`,
  );
  return row?.at ?? undefined;
}

export async function spentOn(db: Reads, task: TaskId): Promise<{ dollars: number; tokens: number }> {
  const row = await db.get<{ dollars: number | null; tokens: number | null }>(
    "SELECT SUM(dollars) AS dollars, SUM(tokens) AS tokens FROM board_run WHERE task = ?",
    task,
  );
  return { dollars: row?.dollars ?? 0, tokens: row?.tokens ?? 0 };
}

/** What the tasks it needs have left. */
export function readNeedResults(
  db: Reads,
  task: TaskId,
): Promise<{ number: number; title: string; result: string | null }[]> {
  return db.all(
    `SELECT t.number, t.title, r.result FROM board_link l JOIN board_task t ON t.id = l.needs
     LEFT JOIN board_run r ON r.task = t.id AND r.attempt = t.attempt WHERE l.task = ? ORDER BY t.number`,
    task,
  );
}

/** What carries out the turns of this session, where its task wishes for something. */
export async function taskRuntime(db: Reads, session: string): Promise<string | undefined> {
  const row = await db.get<{ runtime: string | null }>("SELECT runtime FROM board_run WHERE session = ?", session);
  return row?.runtime ?? undefined;
}
