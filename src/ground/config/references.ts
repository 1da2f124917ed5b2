/**
 * `${VAR}` in a value stands for an environment variable. The file keeps the reference; only the object in memory has the
 * value, so that nothing which writes the file can write the secret (LK-03). `$${` is a plain `${`.
 */
import type { Json, JsonObject } from "../../core/domain/index.ts";
import { type Path, pathText, soundsSecret } from "./problems.ts";

const REFERENCE = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export interface Resolved {
  value: Json;
  /** Paths whose whole value was one reference: their text may stand for a number or a yes/no. */
  whole: Set<string>;
  missing: { path: Path; variable: string }[];
  /** Values of variables whose name sounds secret. */
  secrets: Set<string>;
}

export function resolveReferences(value: Json, variables: Readonly<Record<string, string | undefined>>): Resolved {
  const found: Resolved = { value, whole: new Set(), missing: [], secrets: new Set() };
  found.value = walk(value, [], variables, found);
  return found;
}

function walk(value: Json, path: Path, variables: Readonly<Record<string, string | undefined>>, found: Resolved): Json {
  if (typeof value === "string") return fill(value, path, variables, found);
  if (Array.isArray(value)) return value.map((item: Json, index) => walk(item, [...path, index], variables, found));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [key, walk(item, [...path, key], variables, found)]),
  );
}

function fill(
  text: string,
  path: Path,
  variables: Readonly<Record<string, string | undefined>>,
  found: Resolved,
): string {
  if (!text.includes("${")) return text;
  return text.replace(REFERENCE, (match, variable: string) => {
    if (match.startsWith("$$")) return match.slice(1);
    const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (value === undefined) {
      found.missing.push({ path, variable });
      return "";
    }
    if (match === text) found.whole.add(pathText(path));
    if (soundsSecret(variable)) found.secrets.add(value);
    return value;
  });
}
