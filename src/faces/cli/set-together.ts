/** Keys of one section that need each other: `config set` takes one at a time, so a refusal names the command that sets them. */
import { AppError, fromJson, type Json, type JsonObject } from "../../core/domain/index.ts";
import {
  type ConfigProblem,
  explain,
  getFromFile,
  maskSecrets,
  parseConfig,
  setInFile,
} from "../../ground/config/index.ts";
import type { Context } from "./context.ts";
import { configWords as words } from "./words/set-up.ts";

interface Asked {
  /** What the file says now. */
  text: string;
  key: string;
  value: Json;
}

/** More keys than this don't fit a line that people read. */
const MOST_MISSING = 3;

/** What to type instead; nothing when no other key is missing. Every command it names was tried on the file. */
export async function wayToSet(
  ctx: Context,
  { text, key, value }: Asked,
): Promise<{ first?: string; section?: string; command: string } | undefined> {
  const section = key.slice(0, Math.max(key.lastIndexOf("."), 0));
  const name = key.slice(section.length + 1);
  if (section === "" || value === undefined) return undefined;
  const schema = await ctx.ports.configSchema();
  const keys = explain(schema);
  const findProblems = async (next: string): Promise<ConfigProblem[]> => {
    try {
      await parseConfig({ schema, env: ctx.ports.env.variables, text: next });
      return [];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return fromJson<ConfigProblem[]>(error.details?.problems ?? []);
    }
  };
  const missing = (problems: readonly ConfigProblem[], set: JsonObject) =>
    problems
      .filter(({ path }) => path.startsWith(`${section}.`))
      .map(({ path }) => path.slice(section.length + 1))
      .find((one) => one !== "" && !/[.[]/.test(one) && one !== name && !Object.hasOwn(set, one));

  const there = await getFromFile(text, section).catch(() => undefined);
  if (isSection(there)) {
    const first = missing(await findProblems(await setInFile(text, key, value)), there);
    if (first === undefined) return undefined;
    for (const one of likely(keys, `${section}.${first}`)) {
      if ((await findProblems(await setInFile(text, `${section}.${first}`, one))).length > 0) continue;
      return { first: `${section}.${first}`, command: words.setCommand(`${section}.${first}`, quote(one)) };
    }
    return undefined;
  }

  const complete = async (set: JsonObject, left: number): Promise<JsonObject | undefined> => {
    const problems = await findProblems(await setInFile(text, section, set));
    if (problems.length === 0) return set;
    const next = left > 0 ? missing(problems, set) : undefined;
    if (next === undefined) return undefined;
    for (const one of likely(keys, `${section}.${next}`)) {
      const found = await complete({ ...set, [next]: one }, left - 1);
      if (found) return found;
    }
    return undefined;
  };
  const isSecret = maskSecrets(value, new Set(), name) !== value;
  const own = isSecret ? toPlaceholder(name) : value;
  for (let most = 1; most <= MOST_MISSING; most++) {
    const found = await complete({ [name]: own }, most);
    if (found) return { section, command: words.setCommand(section, quote(found)) };
  }
  return undefined;
}

/** Values for a key that nobody has given yet: its choices, its example, or a word that says what belongs there. */
function likely(keys: ReturnType<typeof explain>, key: string): Json[] {
  const known = keys.find((one) => matches(key, one.key));
  if (!known) return [];
  const choices = /^one of (.*)$/.exec(known.type)?.[1]?.split(", ");
  if (choices) return choices;
  const example = known.example ?? /Example: (\S+)$/.exec(known.sentence)?.[1];
  return [example ?? toPlaceholder(key.slice(key.lastIndexOf(".") + 1))];
}

/** Whether this is the key, where `<name>` stands for any name. */
function matches(key: string, known: string): boolean {
  const wanted = known.split(".");
  const parts = key.split(".");
  return parts.length === wanted.length && parts.every((part, i) => wanted[i] === part || wanted[i] === "<name>");
}

function toPlaceholder(name: string): string {
  return `YOUR_${name.toUpperCase()}`;
}

function isSection(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As a shell takes it for one word. */
function quote(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
