/**
 * Whether a delivery comes from who has the secret, and what tells it apart from another. Pure.
 *
 * HOOKS-4: what can be refused from the headers alone is refused before a byte of the body is read (WH-05).
 * HOOKS-5: comparing takes the same time whatever was given, its length too (WH-07). Credentials are headers, never the query.
 * HOOKS-6: what tells deliveries apart is made of what is signed, never of how the signature is written or of the query (WH-03).
 */

import { createHash, createHmac } from "node:crypto";
import { assertNever } from "../../core/domain/index.ts";
import { defined, isSameSecret } from "../../core/kit/index.ts";
import type { Hook } from "./config.ts";

export type HookHeaders = Readonly<Record<string, string | undefined>>;

/** Signatures with a time are good for so long: a slow clock, not a replay after the key was forgotten. */
const SKEW_S = 300;
/** Ids of callers that sign nothing. */
const IDS = ["idempotency-key", "x-delivery-id", "x-github-delivery", "x-request-id", "webhook-id"];

/** What the headers carry. */
interface Shown {
  signatures: string[];
  time?: string;
  id?: string;
}

export type VerifiedHook =
  | { ok: false }
  /** `key`: what tells it apart, undefined when nothing does. `fades`: the signature is good for a short time only. */
  | { ok: true; key: string | undefined; fades: boolean };

/** What can be said before the body is read. `undefined`: it cannot be good. */
export function shown(hook: Hook, headers: HookHeaders, now: number): Shown | undefined {
  const found = find(hook, headers);
  if (!found?.signatures.some(Boolean)) return undefined;
  if (found.time !== undefined) {
    const seconds = /^\d{1,12}$/.test(found.time) ? Number(found.time) : Number.NaN;
    if (!(Math.abs(now / 1000 - seconds) <= SKEW_S)) return undefined;
  }
  if (hook.scheme === "bearer" && !listSecrets(hook).some((secret) => isSameSecret(found.signatures[0]!, secret)))
    return undefined;
  return found;
}

export function check(hook: Hook, found: Shown, headers: HookHeaders, body: Buffer): VerifiedHook {
  const fades = found.time !== undefined;
  if (hook.scheme === "bearer") {
    const given = IDS.map((name) => headers[name]).find((id) => id !== undefined && id !== "");
    return { ok: true, key: given, fades: false };
  }
  const signed = Buffer.concat([Buffer.from(signedPrefix(hook, found)), body]);
  const expected = listSecrets(hook).map((secret) =>
    createHmac("sha256", decodeKey(hook, secret)).update(signed).digest(),
  );
  let ok = false;
  for (const text of found.signatures) {
    const given = decodeSignature(text);
    for (const one of expected) ok = isSameSecret(given, one) || ok;
  }
  if (!ok) return { ok: false };
  // The id of `standard` is signed; for the others everything that is signed is the id.
  const key = found.id ?? createHash("sha256").update(signed).digest("hex");
  return { ok: true, key, fades };
}

function find(hook: Hook, headers: HookHeaders): Shown | undefined {
  switch (hook.scheme) {
    case "github":
      return { signatures: [headers["x-hub-signature-256"] ?? ""] };
    case "stripe": {
      const fields = (headers["stripe-signature"] ?? "").split(",").map((field) => field.trim().split("=", 2));
      const time = fields.find(([name]) => name === "t")?.[1];
      if (time === undefined) return undefined;
      return { time, signatures: fields.filter(([name]) => name === "v1").map(([, text]) => text ?? "") };
    }
    case "standard": {
      const id = headers["webhook-id"];
      const time = headers["webhook-timestamp"];
      if (!id || id.length > 256 || id.includes(".") || time === undefined) return undefined;
      const list = (headers["webhook-signature"] ?? "").split(" ").slice(0, 8);
      return { id, time, signatures: list.filter((one) => one.startsWith("v1,")).map((one) => one.slice(3)) };
    }
    case "hmac": {
      const time = hook.timestampHeader ? headers[hook.timestampHeader] : undefined;
      if (hook.timestampHeader && time === undefined) return undefined;
      return { signatures: [headers[hook.header] ?? ""], ...defined({ time }) };
    }
    case "bearer":
      return { signatures: [/^Bearer\s+(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? ""] };
    default:
      return assertNever(hook.scheme);
  }
}

function signedPrefix(hook: Hook, { id, time }: Shown): string {
  if (hook.scheme === "standard") return `${id}.${time}.`;
  return time === undefined ? "" : `${time}.`;
}

function listSecrets({ secret }: Hook): readonly string[] {
  return typeof secret === "string" ? [secret] : secret;
}

/** Standard Webhooks writes its secrets in Base64 behind `whsec_`. */
function decodeKey({ scheme }: Hook, secret: string): Buffer {
  return scheme === "standard" && secret.startsWith("whsec_")
    ? Buffer.from(secret.slice("whsec_".length), "base64")
    : Buffer.from(secret);
}

/** Hex or Base64 in either alphabet; empty when it is neither. */
function decodeSignature(text: string): Buffer {
  const bare = text.replace(/^sha256=/, "");
  if (/^[0-9a-f]{64}$/i.test(bare)) return Buffer.from(bare, "hex");
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(bare)) return Buffer.from(bare, "base64");
  return Buffer.alloc(0);
}
