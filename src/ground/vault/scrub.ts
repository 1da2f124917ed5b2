import type { Json } from "../../core/domain/index.ts";

/** The same value with every text in it, names of fields included, passed through `redact`. The given value is not changed. */
export function scrub(value: Json, redact: (text: string) => string): Json {
  if (typeof value === "string") return redact(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item: Json) => scrub(item, redact));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), scrub(item as Json, redact)]));
}
