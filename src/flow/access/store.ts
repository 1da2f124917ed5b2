import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { Scope } from "../../core/protocol/index.ts";

export interface TokenRow {
  id: string;
  hash: string;
  name: string;
  scopes: Scope[];
  madeBy: string;
  madeAt: number;
  usedAt: number | undefined;
}

export interface LoginRow {
  id: string;
  /** Hash of the cookie's secret. */
  hash: string;
  /** Hash of the second secret, which only the page's own origin can read. */
  proof: string;
  principal: string;
  name: string;
  scopes: Scope[];
  /** The credential this login depends on. */
  source: string;
  /** The browser as it called itself. */
  agent: string;
  madeAt: number;
  usedAt: number;
  expiresAt: number;
}

interface RawToken {
  id: string;
  hash: string;
  name: string;
  scopes: string;
  made_by: string;
  made_at: number;
  used_at: number | null;
}

interface RawLogin {
  id: string;
  hash: string;
  proof: string;
  principal: string;
  name: string;
  scopes: string;
  source: string;
  agent: string;
  made_at: number;
  used_at: number;
  expires_at: number;
}

export async function readTokens(db: Reads): Promise<TokenRow[]> {
  const rows = await db.all<RawToken>(
    "SELECT id, hash, name, scopes, made_by, made_at, used_at FROM access_token ORDER BY made_at, id",
  );
  return rows.map((row) => ({
    id: row.id,
    hash: row.hash,
    name: row.name,
    scopes: JSON.parse(row.scopes) as Scope[],
    madeBy: row.made_by,
    madeAt: row.made_at,
    usedAt: row.used_at ?? undefined,
  }));
}

export function insertToken(tx: Tx, t: TokenRow): void {
  tx.run(
    "INSERT INTO access_token (id, hash, name, scopes, made_by, made_at) VALUES (?, ?, ?, ?, ?, ?)",
    t.id,
    t.hash,
    t.name,
    JSON.stringify(t.scopes),
    t.madeBy,
    t.madeAt,
  );
}

export function touchToken(tx: Tx, id: string, at: number): void {
  tx.run("UPDATE access_token SET used_at = ? WHERE id = ?", at, id);
}

export function deleteToken(tx: Tx, id: string): void {
  tx.run("DELETE FROM access_token WHERE id = ?", id);
}

export async function readLogins(db: Reads): Promise<LoginRow[]> {
  const rows = await db.all<RawLogin>(
    `SELECT id, hash, proof, principal, name, scopes, source, agent, made_at, used_at, expires_at
     FROM access_login ORDER BY made_at, id`,
  );
  return rows.map((row) => ({
    id: row.id,
    hash: row.hash,
    proof: row.proof,
    principal: row.principal,
    name: row.name,
    scopes: JSON.parse(row.scopes) as Scope[],
    source: row.source,
    agent: row.agent,
    madeAt: row.made_at,
    usedAt: row.used_at,
    expiresAt: row.expires_at,
  }));
}

export function insertLogin(tx: Tx, l: LoginRow): void {
  tx.run(
    `INSERT INTO access_login (id, hash, proof, principal, name, scopes, source, agent, made_at, used_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    l.id,
    l.hash,
    l.proof,
    l.principal,
    l.name,
    JSON.stringify(l.scopes),
    l.source,
    l.agent,
    l.madeAt,
    l.usedAt,
    l.expiresAt,
  );
}

export function touchLogin(tx: Tx, id: string, usedAt: number, expiresAt: number): void {
  tx.run("UPDATE access_login SET used_at = ?, expires_at = ? WHERE id = ?", usedAt, expiresAt, id);
}

export function deleteLogin(tx: Tx, id: string): void {
  tx.run("DELETE FROM access_login WHERE id = ?", id);
}

/** After a restore: a login that ended since the backup must not work again. People sign in again. */
export function deleteLogins(tx: Tx): void {
  tx.run("DELETE FROM access_login");
}
