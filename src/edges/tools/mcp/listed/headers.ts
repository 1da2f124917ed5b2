/**
 * Parameters that a server wants repeated in a header (`x-mcp-header`, 2026-07-28), so that proxies can route by them. A declaration
 * that breaks the rules makes its tool unusable: what a proxy sees and what the server reads could differ.
 */
const KEY = "x-mcp-header";
/** A token of RFC 9110: what may be part of a header's name. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** What is wrong with the headers that a schema declares. The schema's depth was checked before. */
export function findHeaderProblem(schema: unknown): string | undefined {
  const seen = new Set<string>();
  const look = (value: unknown, isProperty: boolean, isReached: boolean): string | undefined => {
    if (value === null || typeof value !== "object") return undefined;
    if (Array.isArray(value)) return first(value, (one) => look(one, false, false));
    const { [KEY]: name, type, properties, ...rest } = value as Record<string, unknown>;
    const bad = name === undefined ? undefined : judgeHeader(name, { type, isProperty, seen });
    if (bad) return bad;
    const below =
      properties !== null && typeof properties === "object"
        ? first(Object.values(properties), (one) => look(one, isReached, isReached))
        : undefined;
    return below ?? first(Object.values(rest), (one) => look(one, false, false));
  };
  return look(schema, false, true);
}

function judgeHeader(name: unknown, at: { type: unknown; isProperty: boolean; seen: Set<string> }): string | undefined {
  if (!at.isProperty) return "declares a header for something that is no plain parameter";
  if (typeof name !== "string" || !TOKEN.test(name)) return "declares a header without a valid name";
  if (!TYPES.has(at.type))
    return `declares the header ${name} for something that isn't a text, a whole number or yes or no`;
  if (at.seen.has(name.toLowerCase())) return `declares the header ${name} twice`;
  at.seen.add(name.toLowerCase());
  return undefined;
}

function first<T>(values: readonly T[], find: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const found = find(value);
    if (found) return found;
  }
  return undefined;
}
