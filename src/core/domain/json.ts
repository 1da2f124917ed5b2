/** Plain data: what may be journalled, parked, or sent over a wire. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** T, if JSON gives it back as it was: a function, a date or a number too large for it has no place anywhere inside. */
export type Jsonable<T> = T extends Json | undefined
  ? T
  : T extends
        | ((...given: never[]) => unknown)
        | symbol
        | bigint
        | Date
        | RegExp
        | Uint8Array
        | ReadonlyMap<unknown, unknown>
    ? never
    : { [K in keyof T]: Jsonable<T[K]> };

/** A value of our own as JSON. The checker cannot see that an interface has no other fields, so this is the one place that says so. */
export function toJson<T>(value: T & Jsonable<T>): Json {
  return value as Json;
}

/** The other way: only for what `toJson` made, and this program wrote and reads. What others wrote is parsed by a schema. */
export function fromJson<T>(value: Json): T {
  return value as T;
}

/** Neither null nor a list. */
export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: unknown): value is Record<string, unknown>;
export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What others wrote is read field by field; anything but an object is read as an empty one. */
export function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The value of a JSON text; undefined when it isn't one. */
export function asJson(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** A number that can count something. */
export function asCount(value: unknown): number | undefined {
  const number = asNumber(value);
  return number !== undefined && number >= 0 ? number : undefined;
}

/** The same value when it is an object. */
export function findObject(value: unknown): Record<string, unknown> | undefined {
  return isObject(value) ? value : undefined;
}

/** The objects in a list; anything else counts as none. */
export function listObjects(value: unknown): Record<string, unknown>[] {
  return asList(value).filter((one) => isObject(one));
}
