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

/**
 * The name of a secret that Lares keeps for something of its owner's, such as a server. Names of secrets have capitals, digits and `_`
 * only, so that two things could end up with one name, and one be sent the other's secret: what isn't plain gets a mark.
 */
export function ownSecretName(kind: string, of: string, key?: string): string {
  // With a key behind it, `a-b` and C would be as `a` and B_C.
  const isPlain = (key === undefined ? /^[a-z0-9-]+$/ : /^[a-z0-9]+$/).test(of);
  const mark = isPlain ? "" : `_${createHash("sha256").update(of).digest("hex").slice(0, 6)}`;
  const name = [kind, of, ...(key === undefined ? [] : [key])].join("_");
  return `${name.replace(/[^A-Za-z0-9]/g, "_")}${mark}`.toUpperCase();
}
