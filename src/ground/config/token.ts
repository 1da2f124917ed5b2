/** The owner's token: from LARES_TOKEN, else made at first start and kept in the home with mode 0600. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFileNow } from "../../core/kit/index.ts";

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
  // The home's lock is held, so nobody else makes one. An empty file, as a power cut can leave it, is replaced.
  replaceFileNow(join(home, FILE), `${token}\n`);
  return token;
}
