import type { Button, Reads, Tx } from "../../core/contracts/index.ts";
import {
  ANSWER_SUFFIX,
  approvalAskedIn,
  asId,
  attentionIdSql,
  type DeliveryId,
  type Json,
  type ReplyRoute,
  SENT_MARK,
  type SessionKey,
  type TurnId,
  toChatName,
} from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";

export type DeliveryState = "intended" | "sending" | "sent" | "uncertain" | "expired" | "failed";

/** Forms besides the text. `edits`: the delivery this one rewrites, instead of a new message. */
export interface Extra {
  html?: string;
  styles?: Json;
  buttons?: Button[];
  /** Attachments by id. */
  files?: string[];
  edits?: string;
}

export interface Delivery {
  id: DeliveryId;
  answer: string;
  part: number;
  turn: TurnId;
  session: SessionKey;
  route: ReplyRoute;
  text: string;
  extra: Extra;
  state: DeliveryState;
  attempts: number;
  nextAt: number;
  expiresAt: number;
}

interface Row {
  id: string;
  answer: string;
  part: number;
  turn: TurnId;
  session: SessionKey;
  route: string;
  text: string;
  extra: string | null;
  state: DeliveryState;
  attempts: number;
  next_at: number;
  expires_at: number;
}

const COLUMNS = "id, answer, part, turn, session, route, text, extra, state, attempts, next_at, expires_at";

/** Idempotent per (answer, part): a second intention changes nothing (I6). */
export function insertDelivery(tx: Tx, d: Delivery, at: number): void {
  tx.run(
    `INSERT INTO delivery (${COLUMNS}, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    d.id,
    d.answer,
    d.part,
    d.turn,
    d.session,
    JSON.stringify(d.route),
    d.text,
    Object.keys(d.extra).length ? JSON.stringify(d.extra) : null,
    d.state,
    d.attempts,
    d.nextAt,
    d.expiresAt,
    at,
    at,
  );
}

export function updateDelivery(
  tx: Tx,
  id: DeliveryId,
  d: { state: DeliveryState; attempts: number; nextAt: number; platformId?: string | null; error?: string },
  at: number,
): void {
  tx.run(
    `UPDATE delivery SET state = ?, attempts = ?, next_at = ?, platform_id = COALESCE(?, platform_id), error = ?,
     updated_at = ? WHERE id = ?`,
    d.state,
    d.attempts,
    d.nextAt,
    d.platformId ?? null,
    d.error ?? null,
    at,
    id,
  );
}

export async function deliveryById(db: Reads, id: string): Promise<Delivery | undefined> {
  const row = await db.get<Row>(`SELECT ${COLUMNS} FROM delivery WHERE id = ?`, id);
  return row && delivery(row);
}

/** What still has to go out, in the order it was intended. */
export async function outstanding(db: Reads): Promise<Delivery[]> {
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM delivery WHERE state IN ('intended', 'sending') ORDER BY created_at, id, part`,
  );
  return rows.map(delivery);
}

export async function listOutstanding(db: Reads, turn: TurnId): Promise<Delivery[]> {
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM delivery WHERE turn = ? AND state IN ('intended', 'sending') ORDER BY created_at, id, part`,
    turn,
  );
  return rows.map(delivery);
}

/** Newest first. Bounded: after a month without anybody looking, the last thousand tell enough. */
export function listLost(
  db: Reads,
  of: { turn: TurnId } | { since: number },
): Promise<{ turn: TurnId; error: string }[]> {
  const [where, value] = "turn" in of ? ["turn = ?", of.turn] : ["updated_at >= ?", of.since];
  return db.all(
    `SELECT turn, COALESCE(MAX(error), 'It was given up.') AS error FROM delivery
     WHERE state IN ('failed', 'expired') AND ${where} AND (answer = turn || '${ANSWER_SUFFIX}' OR answer LIKE turn || '${SENT_MARK}%')
     GROUP BY turn ORDER BY MAX(updated_at) DESC LIMIT 1000`,
    value!,
  );
}

function delivery(row: Row): Delivery {
  return {
    id: asId<DeliveryId>(row.id),
    answer: row.answer,
    part: row.part,
    turn: row.turn,
    session: row.session,
    route: JSON.parse(row.route) as ReplyRoute,
    text: row.text,
    extra: row.extra ? (JSON.parse(row.extra) as Extra) : {},
    state: row.state,
    attempts: row.attempts,
    nextAt: row.next_at,
    expiresAt: row.expires_at,
  };
}

/** Where a delivery ended up on its platform. */
export async function findPlatformId(db: Reads, id: string): Promise<string | undefined> {
  const row = await db.get<{ platform_id: string | null }>("SELECT platform_id FROM delivery WHERE id = ?", id);
  return row?.platform_id ?? undefined;
}

/** What was said in a chat since then, oldest first. Rare, so it needs no index: only a bare yes or no asks. */
export async function saidSince(
  db: Reads,
  at: ReplyRoute,
  since: number,
): Promise<{ answer: string; state: DeliveryState; at: number }[]> {
  return db.all(
    `SELECT answer, state, updated_at AS at FROM delivery WHERE created_at >= ? AND json_extract(route, '$.channel') = ?
       AND json_extract(route, '$.account') = ? AND json_extract(route, '$.chat') = ? ORDER BY created_at, id`,
    since,
    at.channel,
    at.account,
    at.chat,
  );
}

/** The parts of an answer that are, or may be, on their platform. */
export function listParts(db: Reads, answer: string): Promise<{ id: string; text: string; extra: string | null }[]> {
  return db.all("SELECT id, text, extra FROM delivery WHERE answer = ? ORDER BY part", answer);
}

/** A message of this turn that its platform took. */
export async function findDelivered(db: Reads, turn: TurnId): Promise<{ delivery: string; to: string } | undefined> {
  const row = await db.get<{ id: string; route: string }>(
    "SELECT id, route FROM delivery WHERE turn = ? AND state = 'sent' ORDER BY id LIMIT 1",
    turn,
  );
  if (!row) return undefined;
  const { channel, account, chat } = JSON.parse(row.route) as ReplyRoute;
  return { delivery: row.id, to: toChatName({ channel, account, chat }) };
}

export function writeDraft(tx: Tx, d: { turn: TurnId; platformId: string; route: ReplyRoute }, at: number): void {
  tx.run(
    `INSERT INTO draft (turn, platform_id, route, at) VALUES (?, ?, ?, ?)
     ON CONFLICT (turn) DO UPDATE SET platform_id = excluded.platform_id, at = excluded.at`,
    d.turn,
    d.platformId,
    JSON.stringify(d.route),
    at,
  );
}

export async function readDraft(db: Reads, turn: TurnId): Promise<string | undefined> {
  return (await db.get<{ platform_id: string }>("SELECT platform_id FROM draft WHERE turn = ?", turn))?.platform_id;
}

export function deleteDraft(tx: Tx, turn: TurnId): void {
  tx.run("DELETE FROM draft WHERE turn = ?", turn);
}

export function eraseDeliveries(tx: Tx, session: SessionKey): void {
  tx.run("DELETE FROM delivery WHERE session = ?", session);
}

export async function listDeliveries(db: Reads, turn: TurnId) {
  const rows = await db.all<{ id: string; state: string; route: string; attempts: number; error: string | null }>(
    "SELECT id, state, route, attempts, error FROM delivery WHERE turn = ? ORDER BY created_at, id",
    turn,
  );
  return rows.map((row) => ({
    id: row.id,
    state: row.state as "sent",
    channel: (JSON.parse(row.route) as ReplyRoute).channel,
    attempts: row.attempts,
    ...truthy({ error: row.error }),
  }));
}

/** Deliveries of one channel account, by state, and the newest error. */
export async function deliveriesOn(db: Reads, channel: string, account: string) {
  const rows = await db.all<{ state: string; n: number }>(
    `SELECT state, COUNT(*) AS n FROM delivery
     WHERE json_extract(route, '$.channel') = ? AND json_extract(route, '$.account') = ? GROUP BY state`,
    channel,
    account,
  );
  const failed = await db.get<{ error: string | null }>(
    `SELECT error FROM delivery WHERE json_extract(route, '$.channel') = ? AND json_extract(route, '$.account') = ?
     AND error IS NOT NULL ORDER BY updated_at DESC LIMIT 1`,
    channel,
    account,
  );
  const count = (...states: string[]) => rows.filter((r) => states.includes(r.state)).reduce((sum, r) => sum + r.n, 0);
  return {
    deliveries: {
      waiting: count("intended", "sending"),
      sent: count("sent"),
      uncertain: count("uncertain"),
      failed: count("failed", "expired"),
    },
    ...(failed?.error ? { lastError: failed.error } : {}),
  };
}

export function deliveriesByState(db: Reads): Promise<{ state: string; n: number }[]> {
  return db.all("SELECT state, COUNT(*) AS n FROM delivery GROUP BY state");
}

/** The same without what was sent, which is nearly all of it. */
export function unsentByState(db: Reads): Promise<{ state: string; n: number }[]> {
  return db.all("SELECT state, COUNT(*) AS n FROM delivery WHERE state <> 'sent' GROUP BY state");
}

/** The question a message on the platform shows, if it shows one. */
export async function questionAt(db: Reads, route: ReplyRoute, platformId: string): Promise<string | undefined> {
  const rows = await db.all<{ answer: string; route: string }>(
    "SELECT answer, route FROM delivery WHERE platform_id = ?",
    platformId,
  );
  for (const row of rows) {
    const at = JSON.parse(row.route) as ReplyRoute;
    const asked = approvalAskedIn(row.answer);
    if (asked && at.channel === route.channel && at.account === route.account && at.chat === route.chat) return asked;
  }
}

/** Deliveries that did not arrive or may not have, for the attention list. */
export const LOST_DELIVERIES = `SELECT ${attentionIdSql("delivery", "d.id")} AS id, d.updated_at AS at, d.session, NULL AS agent,
    d.turn, d.state AS a, json_object('route', json(d.route), 'error', d.error) AS b, NULL AS same FROM delivery d
  WHERE d.state IN ('failed', 'expired', 'uncertain')`;

/** After a restore: what was on its way in the backup may have arrived. It is not sent again, and shown as uncertain (I6). */
export function doubtOutstanding(tx: Tx, reason: string, at: number): void {
  tx.run(
    "UPDATE delivery SET state = 'uncertain', error = ?, updated_at = ? WHERE state IN ('intended', 'sending')",
    reason,
    at,
  );
  tx.run("DELETE FROM draft");
}

/** Of these turns, those whose messages did not arrive, or perhaps not. */
export function lostAmong(
  db: Reads,
  turns: readonly string[],
): Promise<{ turn: string; state: "failed" | "expired" | "uncertain" }[]> {
  return db.all(
    `SELECT turn, state FROM delivery
     WHERE state IN ('failed', 'expired', 'uncertain') AND turn IN (SELECT value FROM json_each(?))`,
    JSON.stringify(turns),
  );
}
