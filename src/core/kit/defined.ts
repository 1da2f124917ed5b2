/**
 * Optional fields without a conditional spread for each: `{ session, ...defined({ turn, error }) }`. A field that is absent
 * and one that holds undefined differ in hashes, in `Object.keys` and in what a later spread overwrites.
 */

/** The given fields without those that are undefined. null, "", 0 and false stay. */
export function defined<const T extends object>(fields: T): Kept<T, undefined> {
  const kept: Record<string, unknown> = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) kept[key] = value;
  }
  return kept as Kept<T, undefined>;
}

/** The given fields without those that are empty: undefined, null, "", 0 and false. */
export function truthy<const T extends object>(fields: T): Kept<T, Falsy> {
  const kept: Record<string, unknown> = {};
  for (const key in fields) {
    const value = fields[key];
    if (value) kept[key] = value;
  }
  return kept as Kept<T, Falsy>;
}

type Falsy = undefined | null | "" | 0 | false;
type Kept<T, Gone> = { -readonly [K in keyof T]?: Exclude<T[K], Gone> };
