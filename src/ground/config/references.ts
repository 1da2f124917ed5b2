/**
 * `${VAR}` in a value stands for an environment variable. The file keeps the reference; only the object in memory has the
 * value, so that nothing which writes the file can write the secret (LK-03). `$${` is a plain `${`.
 * A whole value may also stand for something kept elsewhere, such as `vault:NAME`; what that is, `lookUp` knows.
 */
import { AppError, type Json, type JsonObject, readSecretReference } from "../../core/domain/index.ts";
import { type Path, pathText, soundsSecret } from "./problems.ts";

const REFERENCE = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export interface Resolved {
  value: Json;
  /** Paths whose whole value was one reference: their text may stand for a number or a yes/no. */
  whole: Set<string>;
  /** Paths whose value is still a reference because nothing here can look it up: its form says nothing about the secret's. */
  unresolved: Set<string>;
  missing: { path: Path; message: string }[];
  /** Values of variables whose name sounds secret, and whatever `lookUp` gave. */
  secrets: Set<string>;
}

export interface References {
  variables: Readonly<Record<string, string | undefined>>;
  /** The secret a whole value stands for; the text itself when it stands for nothing. Throws when there is no such secret. */
  lookUp?: ((text: string) => string) | undefined;
}

export function resolveReferences(value: Json, from: References): Resolved {
  const found: Resolved = { value, whole: new Set(), unresolved: new Set(), missing: [], secrets: new Set() };
  found.value = walk(value, [], from, found);
  return found;
}

function walk(value: Json, path: Path, from: References, found: Resolved): Json {
  if (typeof value === "string") return fill(value, path, from, found);
  if (Array.isArray(value)) return value.map((item: Json, index) => walk(item, [...path, index], from, found));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [key, walk(item, [...path, key], from, found)]),
  );
}

function fill(text: string, path: Path, { variables, lookUp }: References, found: Resolved): string {
  try {
    const kept = lookUp?.(text) ?? text;
    if (kept !== text) {
      found.secrets.add(kept);
      return kept;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    found.missing.push({ path, message: [error.message.replace(/\.$/, ""), error.hint].filter(Boolean).join(". ") });
    return text;
  }
  if (!lookUp && readSecretReference(text) !== undefined) found.unresolved.add(pathText(path));
  if (!text.includes("${")) return text;
  return text.replace(REFERENCE, (match, variable: string) => {
    if (match.startsWith("$$")) return match.slice(1);
    const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (value === undefined) {
      found.missing.push({
        path,
        message: `${pathText(path)} refers to the environment variable ${variable}, which is not set here; ${remedy(path, variable)}`,
      });
      return "";
    }
    if (match === text) found.whole.add(pathText(path));
    if (soundsSecret(variable)) found.secrets.add(value);
    return value;
  });
}

function remedy(path: Path, variable: string): string {
  const set = "set it where Lares is started";
  if (!soundsSecret(variable) && !soundsSecret(String(path.at(-1) ?? ""))) return set;
  return `${set}, or store it with \`lares secrets set ${variable}\` and write vault:${variable}`;
}
