/** Settings as they may be shown: values of keys that sound secret, and values known to be secret, as their last characters. */
import type { Json, JsonObject } from "../../core/domain/index.ts";
import { soundsSecret } from "./problems.ts";

const MARK = "••••";
/** Of a shorter secret the last four characters would be too much of it. */
const SHOWS_END = 16;

export function maskSecrets(value: Json, secrets: ReadonlySet<string>, key = ""): Json {
  if (typeof value === "string") {
    // A reference is not the secret itself.
    if (/^(\$\{[A-Za-z_][A-Za-z0-9_]*\}|vault:[\w.-]+)$/.test(value)) return value;
    return value !== "" && (soundsSecret(key) || secrets.has(value)) ? mask(value) : value;
  }
  if (Array.isArray(value)) return value.map((item: Json) => maskSecrets(item, secrets, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, item]) => [name, maskSecrets(item, secrets, name)]),
  );
}

function mask(text: string): string {
  return text.length >= SHOWS_END ? `${MARK}${text.slice(-4)}` : MARK;
}

/** True when something in here is a mask: saving it would lose the secret it stands for. */
export function isMask(value: Json): boolean {
  if (typeof value === "string") return value.startsWith(MARK);
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some((item) => isMask(item as Json));
}
