/** What failed, and what of it nobody has dismissed. Which rows there are, their owners say. */
import type { Reads, Tx } from "../../core/contracts/index.ts";
import { attentionKind, type ReplyRoute, type TurnResult } from "../../core/domain/index.ts";

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
  /** Rows with the same words here are one thing, shown as the newest of them. */
  same: string | null;
  /** How many they are. */
  n: number;
}

/** What has happened, by its owner. */
const KINDS = ["turn", "effect", "delivery", "job"] as const;
export type StoredKind = (typeof KINDS)[number];

/** Of each kind, its owner's query for the rows: `id, at, session, agent, turn, a, b, same`. */
export type Happened = Readonly<Record<StoredKind, string>>;

export function isStoredKind(kind: string): boolean {
  return KINDS.some((one) => one === kind);
}

const NOT_DISMISSED = "NOT EXISTS (SELECT 1 FROM attention_dismissed x WHERE x.id = f.id)";
const THING = "COALESCE(f.same, f.id)";

export async function listFound(
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
    `SELECT * FROM (
       SELECT f.*, COUNT(*) OVER (PARTITION BY ${THING}) AS n,
         ROW_NUMBER() OVER (PARTITION BY ${THING} ORDER BY f.at DESC, f.id DESC) AS nth
       FROM (${query}) f WHERE ${NOT_DISMISSED}
     ) g WHERE g.nth = 1 AND (g.at < ? OR (g.at = ? AND g.id < ?)) ORDER BY g.at DESC, g.id DESC LIMIT ?`,
    at,
    at,
    id,
    limit,
  );
}

export async function countFound(db: Reads, happened: Happened): Promise<number> {
  const each = KINDS.map((kind) =>
    db.get<{ n: number }>(`SELECT COUNT(DISTINCT ${THING}) AS n FROM (${happened[kind]}) f WHERE ${NOT_DISMISSED}`),
  );
  return (await Promise.all(each)).reduce((sum, row) => sum + (row?.n ?? 0), 0);
}

/** Longer than anyone looks at what they refer to. */
const KEPT_MS = 400 * 86_400_000;

/** Idempotent. With the newest of several that are one thing go those before it; one that came since is new. */
export function dismiss(
  tx: Tx,
  happened: Happened,
  ids: readonly string[],
  { by, at }: { by: string; at: number },
): void {
  for (const kind of KINDS.filter((one) => ids.some((id) => attentionKind(id) === one)))
    tx.run(
      `INSERT INTO attention_dismissed SELECT f.id, ?, ? FROM (${happened[kind]}) f JOIN (
         SELECT same, MAX(at) AS at FROM (${happened[kind]}) h
         WHERE h.same IS NOT NULL AND h.id IN (SELECT value FROM json_each(?)) GROUP BY same
       ) g ON g.same = f.same WHERE f.at <= g.at ON CONFLICT (id) DO NOTHING`,
      by,
      at,
      JSON.stringify(ids),
    );
  for (const id of ids)
    tx.run("INSERT INTO attention_dismissed VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", id, by, at);
  tx.run("DELETE FROM attention_dismissed WHERE at < ?", at - KEPT_MS);
}

export function routeIn(row: FoundRow): { route: ReplyRoute; error: string | null } {
  return JSON.parse(row.b ?? "{}") as { route: ReplyRoute; error: string | null };
}

export function readResult(row: FoundRow): Partial<TurnResult> {
  return JSON.parse(row.b ?? "{}") as Partial<TurnResult>;
}
