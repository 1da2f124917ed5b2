/** What failed or waits, over the rooms' records. Everything is found by a partial index: years of good turns cost nothing. */
import type { Reads, Tx } from "../../core/contracts/index.ts";
import { attentionIdSql, type ReplyRoute, SESSION_PREFIX, type TurnResult } from "../../core/domain/index.ts";

/** Where a page begins: behind this time and id, newest first. */
export interface From {
  at: number;
  id: string;
}

export interface FoundRow {
  id: string;
  at: number;
  session: string | null;
  agent: string | null;
  turn: string | null;
  /** What the kind needs besides, as the row has it. */
  a: string | null;
  b: string | null;
}

/** Failures of job runs and sub-agents belong to their job and their asker, which are listed themselves. */
const OWN_TURNS = `t.session NOT LIKE '${SESSION_PREFIX.job}%' AND t.session NOT LIKE '${SESSION_PREFIX.child}%'`;

/** Of each kind: the rows as `id, at, session, agent, turn, a, b`. */
export const KINDS = {
  turn: `SELECT ${attentionIdSql("turn", "t.id")} AS id, t.ended_at AS at, t.session, t.agent, t.id AS turn, t.state AS a, t.result AS b FROM turn t
    WHERE t.state IN ('failed', 'attention', 'declined') AND t.ended_at IS NOT NULL AND ${OWN_TURNS}
      AND (t.state <> 'declined' OR json_extract(t.result, '$.failure') IS NOT NULL)`,
  effect: `SELECT ${attentionIdSql("effect", "j.turn", "j.segment", "j.idx")} AS id, COALESCE(j.ended_at, j.at) AS at, t.session, t.agent,
      j.turn, j.name AS a, NULL AS b FROM engine_journal j LEFT JOIN turn t ON t.id = j.turn WHERE j.state = 'unknown'`,
  delivery: `SELECT ${attentionIdSql("delivery", "d.id")} AS id, d.updated_at AS at, d.session, NULL AS agent, d.turn, d.state AS a,
      json_object('route', json(d.route), 'error', d.error) AS b FROM delivery d
    WHERE d.state IN ('failed', 'expired', 'uncertain')`,
  job: `SELECT ${attentionIdSql("job", "j.id", "s.due")} AS id, COALESCE(s.ended_at, s.due) AS at, NULL AS session, j.agent, s.turn,
      j.name AS a, s.reason AS b
    FROM job j JOIN slot s ON s.job = j.id AND s.due = (SELECT MAX(due) FROM slot WHERE job = j.id AND state = 'failed')
    WHERE j.failures > 0`,
} as const;

export type StoredKind = keyof typeof KINDS;

const NOT_DISMISSED = "NOT EXISTS (SELECT 1 FROM attention_dismissed x WHERE x.id = f.id)";

export function found(db: Reads, kind: StoredKind, from: From | undefined, limit: number): Promise<FoundRow[]> {
  const { at = Number.MAX_SAFE_INTEGER, id = "" } = from ?? {};
  return db.all<FoundRow>(
    `SELECT * FROM (${KINDS[kind]}) f WHERE (f.at < ? OR (f.at = ? AND f.id < ?)) AND ${NOT_DISMISSED}
     ORDER BY f.at DESC, f.id DESC LIMIT ?`,
    at,
    at,
    id,
    limit,
  );
}

export async function counted(db: Reads): Promise<number> {
  const each = (Object.keys(KINDS) as StoredKind[]).map((kind) =>
    db.get<{ n: number }>(`SELECT COUNT(*) AS n FROM (${KINDS[kind]}) f WHERE ${NOT_DISMISSED}`),
  );
  return (await Promise.all(each)).reduce((sum, row) => sum + (row?.n ?? 0), 0);
}

/** Longer than anyone looks at what they refer to. */
const KEPT_MS = 400 * 86_400_000;

/** Idempotent. */
export function dismiss(tx: Tx, ids: readonly string[], by: string, at: number): void {
  for (const id of ids)
    tx.run("INSERT INTO attention_dismissed VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", id, by, at);
  tx.run("DELETE FROM attention_dismissed WHERE at < ?", at - KEPT_MS);
}

export function routeIn(row: FoundRow): { route: ReplyRoute; error: string | null } {
  return JSON.parse(row.b ?? "{}") as { route: ReplyRoute; error: string | null };
}

export function resultIn(row: FoundRow): Partial<TurnResult> {
  return JSON.parse(row.b ?? "{}") as Partial<TurnResult>;
}
