import type { Reads, Tx } from "../../core/contracts/index.ts";
import { type SessionKey, sourceKeys } from "../../core/domain/index.ts";

export interface AttachmentRow {
  id: string;
  name: string;
  media_type: string;
  bytes: number;
  sha256: string;
  made_at: number;
  made_by: string;
  session: string | null;
}

export function insertAttachment(tx: Tx, row: Omit<AttachmentRow, "session">): void {
  tx.run(
    `INSERT INTO attachment (id, name, media_type, bytes, sha256, made_at, made_by) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    row.id,
    row.name,
    row.media_type,
    row.bytes,
    row.sha256,
    row.made_at,
    row.made_by,
  );
}

export function readAttachment(db: Reads, id: string): Promise<AttachmentRow | undefined> {
  return db.get(
    "SELECT id, name, media_type, bytes, sha256, made_at, made_by, session FROM attachment WHERE id = ?",
    id,
  );
}

export async function countUnused(db: Reads, by: string): Promise<{ count: number; bytes: number }> {
  const found = await db.get<{ count: number; bytes: number }>(
    "SELECT COUNT(*) AS count, COALESCE(SUM(bytes), 0) AS bytes FROM attachment WHERE session IS NULL AND made_by = ?",
    by,
  );
  return found ?? { count: 0, bytes: 0 };
}

/** From now on it belongs to this session and goes with it. */
export function useAttachment(tx: Tx, id: string, session: string): void {
  tx.run("UPDATE attachment SET session = ? WHERE id = ? AND session IS NULL", session, id);
}

export async function unusedSince(db: Reads, before: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    "SELECT id FROM attachment WHERE session IS NULL AND made_at < ? LIMIT 1000",
    before,
  );
  return rows.map((row) => row.id);
}

export function deleteUnused(tx: Tx, id: string): void {
  tx.run("DELETE FROM attachment WHERE id = ? AND session IS NULL", id);
}

export async function listAttachments(db: Reads, session: string): Promise<string[]> {
  return (await db.all<{ id: string }>("SELECT id FROM attachment WHERE session = ?", session)).map((row) => row.id);
}

export async function allIds(db: Reads): Promise<Set<string>> {
  return new Set((await db.all<{ id: string }>("SELECT id FROM attachment")).map((row) => row.id));
}

/** Of what a session's agent looked at: the same picture, and how many there are. */
export async function listPictures(
  db: Reads,
  session: string,
  sha256: string,
): Promise<{ same: { id: string; name: string; media_type: string } | undefined; count: number }> {
  const by = sourceKeys.session(session);
  const same = await db.get<{ id: string; name: string; media_type: string }>(
    "SELECT id, name, media_type FROM attachment WHERE session = ? AND made_by = ? AND sha256 = ? LIMIT 1",
    session,
    by,
    sha256,
  );
  const found = await db.get<{ count: number }>(
    "SELECT COUNT(*) AS count FROM attachment WHERE session = ? AND made_by = ?",
    session,
    by,
  );
  return { same, count: found?.count ?? 0 };
}

export interface InboxFileRow {
  attachment: string;
  agent: string;
  /** Below the agent's workspace. */
  path: string;
  sha256: string;
  bytes: number;
}

const INBOX_FILE = "attachment, agent, path, sha256, bytes";

export function keepInboxFile(tx: Tx, row: InboxFileRow): void {
  tx.run(
    "INSERT INTO inbox_file (attachment, agent, path, sha256, bytes) VALUES (?, ?, ?, ?, ?) ON CONFLICT (attachment) DO NOTHING",
    row.attachment,
    row.agent,
    row.path,
    row.sha256,
    row.bytes,
  );
}

export function forgetInboxFile(tx: Tx, attachment: string): void {
  tx.run("DELETE FROM inbox_file WHERE attachment = ?", attachment);
}

export async function findInboxFile(db: Reads, attachment: string): Promise<InboxFileRow | undefined> {
  return db.get<InboxFileRow>(`SELECT ${INBOX_FILE} FROM inbox_file WHERE attachment = ?`, attachment);
}

export async function inboxFilesAt(db: Reads, agent: string, path: string): Promise<InboxFileRow[]> {
  return db.all<InboxFileRow>(
    `SELECT ${INBOX_FILE} FROM inbox_file WHERE agent = ? AND path = ? LIMIT 100`,
    agent,
    path,
  );
}

export async function inboxUse(db: Reads, agent: string): Promise<{ count: number; bytes: number }> {
  const found = await db.get<{ count: number; bytes: number }>(
    "SELECT COUNT(*) AS count, COALESCE(SUM(bytes), 0) AS bytes FROM inbox_file WHERE agent = ?",
    agent,
  );
  return found ?? { count: 0, bytes: 0 };
}

/** Those whose attachment is gone. */
export async function inboxFilesWithout(db: Reads): Promise<InboxFileRow[]> {
  return db.all<InboxFileRow>(
    `SELECT ${INBOX_FILE} FROM inbox_file AS f WHERE NOT EXISTS (SELECT 1 FROM attachment WHERE id = f.attachment) LIMIT 1000`,
  );
}

/** The rows; the files go after the transaction. */
export function eraseAttachments(tx: Tx, session: SessionKey): void {
  tx.run("DELETE FROM attachment WHERE session = ?", session);
}
