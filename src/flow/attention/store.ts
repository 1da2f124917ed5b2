/** What failed, and what of it nobody has dismissed. Which rows there are, their owners say. */
import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { ReplyRoute, TurnResult } from "../../core/domain/index.ts";

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

/** What has happened, by its owner. */
const KINDS = ["turn", "effect", "delivery", "job"] as const;
export type StoredKind = (typeof KINDS)[number];

/** Of each kind, its owner's query for the rows: `id, at, session, agent, turn, a, b`. */
export type Happened = Readonly<Record<StoredKind, string>>;

export function isStoredKind(kind: string): boolean {
  return KINDS.some((one) => one === kind);
}

const NOT_DISMISSED = "NOT EXISTS (SELECT 1 FROM attention_dismissed x WHERE x.id = f.id)";

export async function found(
  db: Reads,
  happened: Happened,
  from: From | undefined,
  limit: number,
): Promise<(FoundRow & { kind: StoredKind })[]> {
  const each = KINDS.map(async (kind) =>
    (await findIn(db, happened[kind], from, limit)).map((row) => ({ ...row, kind })),
  );
  return (await Promise.all(each)).flat();
}

function findIn(db: Reads, query: string, from: From | undefined, limit: number): Promise<FoundRow[]> {
  const { at = Number.MAX_SAFE_INTEGER, id = "" } = from ?? {};
  return db.all<FoundRow>(
    `SELECT * FROM (${query}) f WHERE (f.at < ? OR (f.at = ? AND f.id < ?)) AND ${NOT_DISMISSED}
     ORDER BY f.at DESC, f.id DESC LIMIT ?`,
    at,
    at,
    id,
    limit,
  );
}

export async function counted(db: Reads, happened: Happened): Promise<number> {
  const each = KINDS.map((kind) =>
    db.get<{ n: number }>(`SELECT COUNT(*) AS n FROM (${happened[kind]}) f WHERE ${NOT_DISMISSED}`),
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
