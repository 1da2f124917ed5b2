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

/** SQLite's own words are about pages and trees; they are kept as a detail for the person who repairs it. */
export function damaged(file: string, cause: unknown): AppError {
  const said = cause instanceof Error ? cause.message : String(cause);
  const what = /not a database/i.test(said) ? "it can't be read as a database" : "parts of it can't be read";
  return new AppError("DATABASE_UNREADABLE", {
    message: `${file} is damaged: ${what}.`,
    // A copy first: recovering writes, and a second attempt may find less than the first.
    hint: `Stop Lares and copy the file before anything else. Then restore a backup, or save what can be read: sqlite3 ${file} .recover | sqlite3 ${file}.saved, and put that in its place. lares doctor checks it.`,
    retry: "after-change",
    details: { sqlite: said },
    cause,
  });
}
