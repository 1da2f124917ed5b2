import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { Authority, TurnId } from "../../core/domain/index.ts";
import type { Debt, ExchangeUse, PostKind } from "./speakers.ts";

export interface TeamPost {
  team: string;
  /** Its number in the room, from 1. */
  seq: number;
  kind: PostKind;
  /** The member's agent, or the person's key. */
  author: string;
  /** What people call the author. */
  name: string;
  text: string;
  /** Whose rights what follows from it has. */
  authority: Authority;
  /** 1: it may hold text from outside. */
  outside: number;
  at: number;
}

const COLUMNS = "team, seq, kind, author, name, text, authority, outside, at";

/** Idempotent per key. The number is given out in the same statement, so two writers can't have the same. */
export function insertPost(tx: Tx, key: string, p: Omit<TeamPost, "seq">): void {
  tx.run(
    `INSERT INTO team_post (post_key, ${COLUMNS})
     SELECT ?, ?, COALESCE(MAX(seq), 0) + 1, ?, ?, ?, ?, ?, ?, ? FROM team_post WHERE team = ?
     ON CONFLICT (post_key) DO NOTHING`,
    ...[key, p.team, p.kind, p.author, p.name, p.text, p.authority, p.outside, p.at, p.team],
  );
}

/** Those who owe this post an answer, in order; `turn`: the first one's turn, where it has begun. */
export function insertDebts(tx: Tx, key: string, members: readonly string[], turn: TurnId | null): void {
  for (const [at, member] of members.entries()) {
    tx.run(
      `INSERT INTO team_debt (team, seq, place, member, turn) SELECT team, seq, ?, ?, ? FROM team_post WHERE post_key = ?
       ON CONFLICT (team, seq, member) DO NOTHING`,
      ...[at, member, at === 0 ? turn : null, key],
    );
  }
}

export function findPost(db: Reads, key: string): Promise<TeamPost | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM team_post WHERE post_key = ?`, key);
}

/** The newest posts after this number, at most so many, the oldest first. */
export async function listPosts(db: Reads, team: string, after: number, limit: number): Promise<TeamPost[]> {
  const posts = await db.all<TeamPost>(
    `SELECT ${COLUMNS} FROM team_post WHERE team = ? AND seq > ? ORDER BY seq DESC LIMIT ?`,
    team,
    after,
    limit,
  );
  return posts.reverse();
}

/** A person is about to write this post: a new exchange, unless it is there already. */
export function beginExchange(tx: Tx, team: string, key: string): void {
  tx.run(
    `INSERT INTO team_exchange (team, turns, dollars)
     SELECT ?, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM team_post WHERE post_key = ?)
     ON CONFLICT (team) DO UPDATE SET turns = 0, dollars = 0`,
    team,
    key,
  );
}

export function addToExchange(tx: Tx, team: string, dollars: number): void {
  tx.run("UPDATE team_exchange SET turns = turns + 1, dollars = dollars + ? WHERE team = ?", dollars, team);
}

export async function readExchange(db: Reads, team: string): Promise<ExchangeUse> {
  const found = await db.get<ExchangeUse>("SELECT turns, dollars FROM team_exchange WHERE team = ?", team);
  return found ?? { turns: 0, dollars: 0 };
}

export function listDebts(db: Reads, team: string): Promise<Debt[]> {
  return db.all("SELECT seq, member, turn FROM team_debt WHERE team = ? AND settled = 0 ORDER BY seq, place", team);
}

export function findDebt(db: Reads, turn: TurnId): Promise<{ team: string; member: string } | undefined> {
  return db.get("SELECT team, member FROM team_debt WHERE turn = ? AND settled = 0", turn);
}

/** Every team that owes somebody something, and the turns that are answering. */
export function listOwed(db: Reads): Promise<{ team: string; turn: TurnId | null }[]> {
  return db.all("SELECT team, turn FROM team_debt WHERE settled = 0 ORDER BY team, seq, place");
}

/** A member's turn answers everything that it owes at that moment: it reads all of it. */
export function startAnswer(tx: Tx, team: string, member: string, upTo: number, turn: TurnId): void {
  tx.run(
    "UPDATE team_debt SET turn = ? WHERE team = ? AND member = ? AND seq <= ? AND turn IS NULL AND settled = 0",
    ...[turn, team, member, upTo],
  );
}

export function markRead(tx: Tx, team: string, member: string, seq: number): void {
  tx.run(
    `INSERT INTO team_reader (team, member, seq) VALUES (?, ?, ?)
     ON CONFLICT (team, member) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > team_reader.seq`,
    ...[team, member, seq],
  );
}

export async function readUpTo(db: Reads, team: string, member: string): Promise<number> {
  const found = await db.get<{ seq: number }>(
    "SELECT seq FROM team_reader WHERE team = ? AND member = ?",
    ...[team, member],
  );
  return found?.seq ?? 0;
}

export function settleDebts(tx: Tx, turn: TurnId): void {
  // Not deleted: the same post, written again, must not be owed an answer again.
  tx.run("UPDATE team_debt SET settled = 1 WHERE turn = ?", turn);
}

/** What nobody has begun to answer; of one member only, where it is named. */
export function dropDebts(tx: Tx, team: string, member?: string): void {
  if (member === undefined) tx.run("UPDATE team_debt SET settled = 1 WHERE team = ? AND turn IS NULL", team);
  else tx.run("UPDATE team_debt SET settled = 1 WHERE team = ? AND member = ? AND turn IS NULL", team, member);
}
