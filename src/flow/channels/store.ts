import type { Reads, Tx } from "../../core/contracts/index.ts";
import {
  type AccountKey,
  type ApprovalDecision,
  countScopeRange,
  type Json,
  KEPT_SIGN_PREFIX,
  keptSign,
  type ReplyRoute,
  SPOOL_PREFIX,
  scopeKeys,
} from "../../core/domain/index.ts";
import type { Grant } from "./standing.ts";

/** The position is kept under a name no adapter can use for its own things. */
export const CURSOR = "#cursor";

export async function readKept(db: Reads, at: AccountKey, name: string): Promise<Json | undefined> {
  const row = await db.get<{ value: string }>(
    "SELECT value FROM channel_kept WHERE channel = ? AND account = ? AND name = ?",
    at.channel,
    at.account,
    name,
  );
  return row && (JSON.parse(row.value) as Json);
}

export function writeKept(tx: Tx, at: AccountKey, name: string, value: Json | undefined): void {
  if (value === undefined) {
    tx.run("DELETE FROM channel_kept WHERE channel = ? AND account = ? AND name = ?", at.channel, at.account, name);
    return;
  }
  tx.run(
    `INSERT INTO channel_kept (channel, account, name, value) VALUES (?, ?, ?, ?)
     ON CONFLICT (channel, account, name) DO UPDATE SET value = excluded.value`,
    at.channel,
    at.account,
    name,
    JSON.stringify(value),
  );
}

/** A reaction of ours on somebody's message, while the turn runs. */
export interface Sign {
  turn: string;
  at: AccountKey;
  route: ReplyRoute;
  message: string;
  emoji: string;
}

export function writeSign(tx: Tx, { turn, at, route, message, emoji }: Sign): void {
  writeKept(tx, at, keptSign(turn), { route: { ...route }, message, emoji });
}

export function deleteSign(tx: Tx, { turn, at }: Pick<Sign, "turn" | "at">): void {
  writeKept(tx, at, keptSign(turn), undefined);
}

export async function signsLeft(db: Reads): Promise<Sign[]> {
  const rows = await db.all<AccountKey & { turn: string; value: string }>(
    `SELECT channel, account, substr(name, ?) AS turn, value FROM channel_kept WHERE substr(name, 1, ?) = ?`,
    KEPT_SIGN_PREFIX.length + 1,
    KEPT_SIGN_PREFIX.length,
    KEPT_SIGN_PREFIX,
  );
  return rows.map(({ channel, account, turn, value }) => ({
    ...(JSON.parse(value) as Pick<Sign, "route" | "message" | "emoji">),
    turn,
    at: { channel, account },
  }));
}

/** Everything an account kept: it starts as new when it is added again. */
export function deleteAccount(tx: Tx, at: AccountKey): void {
  tx.run("DELETE FROM channel_kept WHERE channel = ? AND account = ?", at.channel, at.account);
  tx.run("DELETE FROM channel_grant WHERE channel = ? AND account = ?", at.channel, at.account);
  tx.run("DELETE FROM pairing WHERE channel = ? AND account = ?", at.channel, at.account);
  const scope = scopeKeys.account(at);
  const { from, to } = countScopeRange(scope);
  tx.run("DELETE FROM message_count WHERE scope = ? OR (scope >= ? AND scope < ?)", scope, from, to);
}

export function listSenderGrants(db: Reads, at: AccountKey, sender: string): Promise<Grant[]> {
  return db.all<Grant>(
    "SELECT sender, context, role FROM channel_grant WHERE channel = ? AND account = ? AND sender = ?",
    at.channel,
    at.account,
    sender,
  );
}

export interface GrantRow extends AccountKey, Grant {
  name: string | null;
  by: string;
  at: number;
}

export function listGrants(db: Reads, at?: AccountKey): Promise<GrantRow[]> {
  const columns = "SELECT channel, account, sender, context, role, name, by, at FROM channel_grant";
  return at
    ? db.all(`${columns} WHERE channel = ? AND account = ? ORDER BY at`, at.channel, at.account)
    : db.all(`${columns} ORDER BY at`);
}

export function writeGrant(tx: Tx, g: GrantRow): void {
  tx.run(
    `INSERT INTO channel_grant (channel, account, sender, context, role, name, by, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (channel, account, sender, context) DO UPDATE SET role = excluded.role, by = excluded.by, at = excluded.at`,
    g.channel,
    g.account,
    g.sender,
    g.context,
    g.role,
    g.name,
    g.by,
    g.at,
  );
}

export function deleteGrant(tx: Tx, g: AccountKey & { sender: string; context: string }): void {
  tx.run(
    "DELETE FROM channel_grant WHERE channel = ? AND account = ? AND sender = ? AND context = ?",
    g.channel,
    g.account,
    g.sender,
    g.context,
  );
}

export interface Pairing extends AccountKey {
  code: string;
  sender: string;
  name: string | null;
  route: string;
  asked_at: number;
  expires_at: number;
}

export function pairings(db: Reads, now: number): Promise<Pairing[]> {
  return db.all("SELECT * FROM pairing WHERE expires_at > ? ORDER BY asked_at", now);
}

export function listPairings(db: Reads, at: AccountKey, now: number): Promise<Pairing[]> {
  return db.all(
    "SELECT * FROM pairing WHERE channel = ? AND account = ? AND expires_at > ?",
    at.channel,
    at.account,
    now,
  );
}

export function pairingByCode(db: Reads, code: string): Promise<Pairing | undefined> {
  return db.get("SELECT * FROM pairing WHERE code = ?", code);
}

export function insertPairing(tx: Tx, p: Pairing): void {
  tx.run("DELETE FROM pairing WHERE expires_at <= ?", p.asked_at);
  tx.run(
    `INSERT INTO pairing (channel, account, sender, code, name, route, asked_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (channel, account, sender) DO NOTHING`,
    p.channel,
    p.account,
    p.sender,
    p.code,
    p.name,
    p.route,
    p.asked_at,
    p.expires_at,
  );
}

export function deletePairing(tx: Tx, code: string): void {
  tx.run("DELETE FROM pairing WHERE code = ?", code);
}

export interface ButtonRow {
  id: string;
  approval: string;
  decision: ApprovalDecision;
}

export function insertButton(tx: Tx, b: ButtonRow, at: number): void {
  tx.run(
    "INSERT INTO button (id, approval, decision, made_at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
    b.id,
    b.approval,
    b.decision,
    at,
  );
}

export function readButton(db: Reads, id: string): Promise<ButtonRow | undefined> {
  return db.get("SELECT id, approval, decision FROM button WHERE id = ?", id);
}

/** One more message in this window; returns nothing: counts are read before. */
export function countMessage(tx: Tx, scope: string, window: number): void {
  tx.run(
    "INSERT INTO message_count (scope, at, n) VALUES (?, ?, 1) ON CONFLICT (scope, at) DO UPDATE SET n = message_count.n + 1",
    scope,
    window,
  );
}

/** In this hour, or in the last `hours` hours. */
export async function counted(db: Reads, scope: string, window: number, hours = 1): Promise<number> {
  const row = await db.get<{ n: number | null }>(
    "SELECT SUM(n) AS n FROM message_count WHERE scope = ? AND at > ? AND at <= ?",
    scope,
    window - hours,
    window,
  );
  return row?.n ?? 0;
}

export function forgetCounts(tx: Tx, before: number): void {
  tx.run("DELETE FROM message_count WHERE at < ?", before);
}

/**
 * After a restore: every account listens from now on, as when it was added. From its old position it would read, and answer, what was
 * answered since the backup was made. What was spooled for the inbox and reactions that mark running turns go, too.
 */
export function forgetPositions(tx: Tx): void {
  tx.run(
    "DELETE FROM channel_kept WHERE name = ? OR substr(name, 1, ?) = ? OR substr(name, 1, ?) = ?",
    CURSOR,
    KEPT_SIGN_PREFIX.length,
    KEPT_SIGN_PREFIX,
    SPOOL_PREFIX.length,
    SPOOL_PREFIX,
  );
}
