import { createHash, timingSafeEqual } from "node:crypto";

/** Equal in the same time whatever was given, its length too: the one comparison for secrets and signatures (WH-07). */
export function isSameSecret(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  const [a, b] = [given, expected].map((one) => createHash("sha256").update(one).digest());
  return timingSafeEqual(a!, b!);
}

/** A text's fingerprint, 43 characters that are safe in addresses and file names. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
