/** A database whose pages don't hold together: how that is known, and what a person can do. */
import { AppError } from "../../core/domain/index.ts";

/** SQLite's codes for a malformed image and for a file that is no database. */
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

export function isDamage(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | undefined)?.errcode;
  // Extended codes carry the basic one in their low byte. A driver without codes leaves only the text.
  if (typeof code === "number") return [CORRUPT, NOT_A_DATABASE].includes(code & 0xff);
  return /disk image is malformed|file is not a database/i.test(String(error));
}

export function damaged(file: string, cause: unknown): AppError {
  // The complaint goes into a sentence that has its own full stop.
  const complaint = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");
  return new AppError("DATABASE_UNREADABLE", {
    message: `${file} is damaged: ${complaint}.`,
    // A copy first: recovering writes, and a second attempt may find less than the first.
    hint: `Stop Lares and copy the file before anything else. Then restore a backup, or save what can be read: sqlite3 ${file} .recover | sqlite3 ${file}.saved, and put that in its place. lares doctor checks it.`,
    retry: "after-change",
    cause,
  });
}
