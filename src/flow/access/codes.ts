/**
 * One-time codes for browser logins. In memory only: a code lives ten minutes, and a restart prints a new one.
 *
 * ACCESS-1: a code works once; the second attempt is refused as used.
 * ACCESS-2: the table is bounded; the oldest code goes first.
 */
import { randomBytes } from "node:crypto";
import { sha256 } from "../../core/kit/index.ts";
import type { Principal } from "../../core/protocol/index.ts";

export const CODE_MS = 600_000;
/** Codes at the same time, used ones included until they expire. */
const MOST_CODES = 64;

interface Code {
  by: Principal;
  expiresAt: number;
  used: boolean;
}

export type CodeCheck = { ok: true; by: Principal } | { ok: false; why: "used" | "expired" | "unknown" };

export class LoginCodes {
  private readonly codes = new Map<string, Code>();

  make(by: Principal, now: number): { code: string; expiresAt: number } {
    for (const [hash, one] of this.codes) {
      // Expired codes are kept for a second lifetime, so that an old link is reported as expired rather than wrong.
      if (one.expiresAt + CODE_MS < now || this.codes.size >= MOST_CODES) this.codes.delete(hash);
    }
    const code = randomBytes(24).toString("base64url");
    const expiresAt = now + CODE_MS;
    this.codes.set(sha256(code), { by, expiresAt, used: false });
    return { code, expiresAt };
  }

  /** Consumes the code. It is found by its hash, so timing reveals nothing about it. */
  use(code: string, now: number): CodeCheck {
    const found = this.codes.get(sha256(code));
    if (!found) return { ok: false, why: "unknown" };
    if (found.used) return { ok: false, why: "used" };
    if (found.expiresAt <= now) return { ok: false, why: "expired" };
    found.used = true;
    return { ok: true, by: found.by };
  }

  /** Drops the codes of a revoked credential. */
  drop(credential: string): void {
    for (const [hash, one] of this.codes) if (one.by.credential === credential) this.codes.delete(hash);
  }
}
