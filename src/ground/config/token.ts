/** The owner's token: from LARES_TOKEN, else made at first start and kept in the home with mode 0600. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "token";

/** The token as it stands, without making one. */
export function readToken(home: string, given: string | undefined): string | undefined {
  if (given) return given;
  try {
    return readFileSync(join(home, FILE), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

export function ensureToken(home: string, given: string | undefined): string {
  const known = readToken(home, given);
  if (known) return known;
  const token = `lares_${randomBytes(24).toString("base64url")}`;
  try {
    writeFileSync(join(home, FILE), `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    // Another process was first; its token holds.
    const other = readToken(home, undefined);
    if (other) return other;
    throw error;
  }
  return token;
}
