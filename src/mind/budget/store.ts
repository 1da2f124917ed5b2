import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { SessionKey, TurnId } from "../../core/domain/index.ts";
import { type Amount, NOTHING } from "./judge.ts";

/** Whose usage is counted together. `day` is empty for a session, which is counted over its lifetime. */
export type ScopeKey = {
  kind: "all" | "agent" | "session" | "schedule";
  name: string;
  day: string;
};

export interface HoldRow {
  turn: string;
  call: number;
  scopes: ScopeKey[];
  /** Set aside. */
  most: Amount;
  /** What the request costs once it has been sent, regardless of the answer. */
  sent: Amount;
  at: number;
  /** Of a call that a runtime makes. */
  foreign?: ForeignHold;
}

export interface ForeignHold {
  session: string;
  agent: string;
  runtime: string;
  model: string | null;
}

export async function readSpent(db: Reads, s: ScopeKey): Promise<{ spent: Amount; warned: boolean }> {
  const row = await db.get<Amount & { warned_at: number | null }>(
    "SELECT dollars, tokens, calls, assumed, warned_at FROM budget_spent WHERE kind = ? AND name = ? AND day = ?",
    s.kind,
    s.name,
    s.day,
  );
  if (!row) return { spent: NOTHING, warned: false };
  const { warned_at, ...spent } = row;
  return { spent, warned: warned_at !== null };
}

export function insertHold(tx: Tx, h: HoldRow): void {
  tx.run(
    `INSERT INTO budget_hold (turn, call, scopes, dollars, tokens, sent_dollars, sent_tokens, at, caller, assumed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn, call) DO UPDATE SET scopes = excluded.scopes,
       dollars = excluded.dollars, tokens = excluded.tokens, sent_dollars = excluded.sent_dollars,
       sent_tokens = excluded.sent_tokens, at = excluded.at, assumed = excluded.assumed`,
    h.turn,
    h.call,
    JSON.stringify(h.scopes),
    h.most.dollars,
    h.most.tokens,
    h.sent.dollars,
    h.sent.tokens,
    h.at,
    h.foreign ? JSON.stringify(h.foreign) : null,
    h.sent.assumed > 0 ? 1 : 0,
  );
}

/**
 * Turns what was set aside into what was used. Deleting the row is what permits it: a second call finds no row and changes
 * nothing.
 */
export function settleHold(tx: Tx, h: { turn: string; call: number; scopes: readonly ScopeKey[] }, used: Amount): void {
  tx.run(
    `INSERT INTO budget_spent (kind, name, day, dollars, tokens, calls, assumed)
     SELECT json_extract(value, '$.kind'), json_extract(value, '$.name'), json_extract(value, '$.day'), ?, ?, ?, ?
     FROM json_each(?) WHERE EXISTS (SELECT 1 FROM budget_hold WHERE turn = ? AND call = ?)
     ON CONFLICT (kind, name, day) DO UPDATE SET dollars = budget_spent.dollars + excluded.dollars,
       tokens = budget_spent.tokens + excluded.tokens, calls = budget_spent.calls + excluded.calls,
       assumed = budget_spent.assumed + excluded.assumed`,
    used.dollars,
    used.tokens,
    used.calls,
    used.assumed,
    JSON.stringify(h.scopes.map(({ kind, name, day }) => ({ kind, name, day }))),
    h.turn,
    h.call,
  );
  tx.run("DELETE FROM budget_hold WHERE turn = ? AND call = ?", h.turn, h.call);
}

export function markWarned(tx: Tx, s: ScopeKey, at: number): void {
  tx.run(
    "UPDATE budget_spent SET warned_at = ? WHERE kind = ? AND name = ? AND day = ? AND warned_at IS NULL",
    at,
    s.kind,
    s.name,
    s.day,
  );
}

export async function readHolds(db: Reads): Promise<HoldRow[]> {
  const rows = await db.all<{
    turn: string;
    call: number;
    scopes: string;
    dollars: number;
    tokens: number;
    sent_dollars: number;
    sent_tokens: number;
    at: number;
    caller: string | null;
    assumed: number;
  }>("SELECT turn, call, scopes, dollars, tokens, sent_dollars, sent_tokens, at, caller, assumed FROM budget_hold");
  return rows.map((row) => ({
    turn: row.turn,
    call: row.call,
    scopes: JSON.parse(row.scopes) as ScopeKey[],
    most: { dollars: row.dollars, tokens: row.tokens, calls: 1, assumed: row.assumed ? row.dollars : 0 },
    sent: { dollars: row.sent_dollars, tokens: row.sent_tokens, calls: 1, assumed: row.assumed ? row.sent_dollars : 0 },
    at: row.at,
    ...(row.caller === null ? {} : { foreign: JSON.parse(row.caller) as ForeignHold }),
  }));
}

/** The highest number of a turn's calls under way. */
export async function lastHold(db: Reads, turn: TurnId): Promise<number> {
  const row = await db.get<{ n: number | null }>("SELECT MAX(call) AS n FROM budget_hold WHERE turn = ?", turn);
  return row?.n ?? -1;
}

/** Deletes the session's own total. What it spent still counts for its agent and for the day. */
export function eraseSpent(tx: Tx, session: SessionKey): void {
  tx.run("DELETE FROM budget_spent WHERE kind = 'session' AND name = ?", session);
}
