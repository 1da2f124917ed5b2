/**
 * `lares.yaml` → one frozen object. Parsed once at start; each room receives its slice.
 *
 * CONFIG-1: nothing from a file with a problem is used; all problems are reported at once, with line and caret.
 * CONFIG-2: a missing or empty file is not a problem: the defaults apply.
 * CONFIG-3: `${VAR}` is resolved in memory only; the file's text is never made from resolved values (LK-03).
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError, isObject, type Json } from "../../core/domain/index.ts";
import { replaceFile } from "../../core/kit/index.ts";
import { type Complaint, check } from "./check.ts";
import { ensureHome, fileProblem, homeFileProblem } from "./home.ts";
import { type ConfigProblem, configInvalid, type Path, pathText, soundsSecret } from "./problems.ts";
import { resolveReferences } from "./references.ts";
import { type Config, type ConfigSchema, isForbiddenKey } from "./schema.ts";
import { readSource, type Source } from "./source.ts";

export const CONFIG_FILE = "lares.yaml";

export interface LoadedConfig<T> {
  readonly config: T;
  /** Where the file is, or would be. */
  readonly file: string;
  readonly exists: boolean;
  /** The file as it is written, references and comments included. */
  readonly text: string;
  /** Values that must never be printed: keys that sound secret, and variables that do. */
  readonly secrets: readonly string[];
}

interface Given<Schema extends ConfigSchema> {
  schema: Schema;
  /** Variables for `${VAR}`: `readEnvironment().variables`. */
  env: Readonly<Record<string, string | undefined>>;
  /** What `vault:NAME` stands for: `makeResolver(vault)`. Without it such a text stays as it is. */
  lookUp?: ((text: string) => string) | undefined;
  /** Values that win over the file, by dotted path: a flag such as `--port` is `{"gateway.port": 8080}`. */
  overrides?: Readonly<Record<string, Json>>;
}

/** Reads the home's config. Throws CONFIG_INVALID with `details.problems`. */
export async function loadConfig<Schema extends ConfigSchema>(
  given: Given<Schema> & { home: string },
): Promise<LoadedConfig<Config<Schema>>> {
  const file = join(given.home, CONFIG_FILE);
  const text = await readText(file, given.home);
  const parsed = await parseConfig({ ...given, text: text ?? "", file });
  return Object.freeze({ ...parsed, file, exists: text !== undefined, text: text ?? "" });
}

/** The same for a text at hand: `config check`, or a change about to be saved. Throws CONFIG_INVALID. */
export async function parseConfig<Schema extends ConfigSchema>(
  given: Given<Schema> & { text: string; file?: string },
): Promise<{ config: Config<Schema>; secrets: readonly string[] }> {
  const { value, problems, secrets } = await examine(given);
  if (problems.length > 0) throw configInvalid(given.file ?? CONFIG_FILE, problems);
  return Object.freeze({ config: deepFreeze(value) as Config<Schema>, secrets });
}

export interface Review<T> {
  readonly config: T;
  readonly problems: readonly ConfigProblem[];
  /** Sections with a problem: they hold their last good values. */
  readonly quarantined: readonly string[];
  readonly secrets: readonly string[];
}

/**
 * The same for a file that changed under a running program: a section with a problem keeps its last good values, the rest
 * is taken. A file that cannot be read as YAML changes nothing. Does not throw for what is in the text.
 */
export async function reviewConfig<Schema extends ConfigSchema>(
  given: Given<Schema> & { text: string; last: Config<Schema> },
): Promise<Review<Config<Schema>>> {
  const { value, problems, secrets, unreadable } = await examine(given);
  const sections = Object.keys(given.schema.slices);
  const bad = unreadable
    ? sections
    : sections.filter((name) =>
        problems.some(({ path }) => path === name || (/^[.[]/.test(path.slice(name.length)) && path.startsWith(name))),
      );
  const last = given.last as Record<string, unknown>;
  const config = Object.fromEntries(sections.map((name) => [name, bad.includes(name) ? last[name] : value[name]]));
  return Object.freeze({ config: deepFreeze(config) as Config<Schema>, problems, quarantined: bad, secrets });
}

interface Examined {
  value: Record<string, unknown>;
  problems: ConfigProblem[];
  secrets: readonly string[];
  /** True when nothing of the text could be used. */
  unreadable: boolean;
}

async function examine(given: Given<ConfigSchema> & { text: string }): Promise<Examined> {
  const source = await readSource(given.text.replace(/^\uFEFF/, ""));
  if (source.problems.length > 0) return { value: {}, problems: source.problems, secrets: [], unreadable: true };
  const resolved = resolveReferences(source.value, { variables: given.env, lookUp: given.lookUp });
  const overridden = override(resolved.value, given.overrides ?? {});
  const { value, complaints } = check(given.schema, overridden.value, resolved);
  const problems = tell(source, overridden.paths, [
    ...resolved.missing.map(({ path, message }): Complaint => ({ path, at: "value", message })),
    ...complaints,
  ]);
  const secrets = Object.freeze([...new Set([...resolved.secrets, ...secretValues(value)])]);
  return { value, problems, secrets, unreadable: false };
}

/** Replaces the file in one step: after a crash it is the old text or the new one, never half of either. */
export async function saveConfig(home: string, text: string): Promise<void> {
  const file = join(home, CONFIG_FILE);
  ensureHome(home);
  // A config may hold secrets, so a new file is the owner's alone; an existing one keeps what its owner chose.
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  try {
    await replaceFile(file, text, mode);
  } catch (error) {
    throw fileProblem(error, home) ?? error;
  }
}

export async function readText(file: string, home: string): Promise<string | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") {
      await refuseOtherSpelling(home);
      return undefined;
    }
    const problem = homeFileProblem(home) ?? fileProblem(cause, home, file);
    if (problem) throw problem;
    throw new AppError("CONFIG_INVALID", {
      message: `${file} could not be read (${(cause as NodeJS.ErrnoException).code ?? "unknown reason"}).`,
      hint: "Check who owns the file and its permissions.",
      retry: "after-change",
      cause,
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw configInvalid(file, [{ path: "", message: "the file is not UTF-8 text" }], cause);
  }
}

/** A file with a similar name would be silently ignored, and its author would wonder why. */
async function refuseOtherSpelling(home: string): Promise<void> {
  for (const name of ["lares.yml", "lares.json"]) {
    const found = await stat(join(home, name)).catch(() => undefined);
    if (found?.isFile()) {
      throw configInvalid(join(home, name), [
        { path: "", message: `the config file is called ${CONFIG_FILE}; rename it` },
      ]);
    }
  }
}

function override(value: Json, overrides: Readonly<Record<string, Json>>): { value: Json; paths: string[] } {
  let out = value;
  for (const [dotted, item] of Object.entries(overrides)) {
    const path = dotted.split(".");
    if (path.some((part) => part === "" || isForbiddenKey(part))) {
      throw configInvalid("The command line", [
        { path: dotted, message: `"${dotted}" is not the name of a config key` },
      ]);
    }
    out = put(out, path, item);
  }
  return { value: out, paths: Object.keys(overrides) };
}

function put(at: Json, [part, ...rest]: readonly string[], item: Json): Json {
  if (part === undefined) return item;
  const fields = isObject(at) ? at : {};
  return { ...fields, [part]: put(fields[part] ?? {}, rest, item) };
}

/** One problem per place: what follows from the first would only distract. In the order of the file. */
function tell(source: Source, overridden: readonly string[], complaints: readonly Complaint[]): ConfigProblem[] {
  const told = new Set<string>();
  const meant = new Set(complaints.map((complaint) => complaint.meant));
  const problems: ConfigProblem[] = [];
  for (const { path, at, message } of complaints) {
    const name = pathText(path);
    if (told.has(name) || (at === "key" && meant.has(name))) continue;
    told.add(name);
    const fromFlag = overridden.some(
      (flag) => name === flag || name.startsWith(`${flag}.`) || name.startsWith(`${flag}[`),
    );
    problems.push(
      fromFlag
        ? { path: name, message: `${message} (given on the command line)` }
        : source.problemAt(path, at, message),
    );
  }
  return problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

function secretValues(value: unknown, path: Path = []): string[] {
  if (typeof value === "string") {
    const name = path.findLast((part) => typeof part === "string");
    return value !== "" && typeof name === "string" && soundsSecret(name) ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => secretValues(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => secretValues(item, [...path, key]));
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
  return value;
}
