/** Plain data: what may be journalled, parked, or sent over a wire. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

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
