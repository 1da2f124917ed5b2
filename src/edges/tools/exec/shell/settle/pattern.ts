/** File-name patterns, expanded as bash would: in byte order, without hidden files, and left as they are when nothing fits. */
import { lstat, opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fitsWildcards } from "../../wildcards.ts";
import type { SettleBudget } from "./budget.ts";

/** One sign of a pattern: itself, any one sign, any number of them, or one of a set. */
export type PatternToken =
  | { is: string }
  | { any: "one" | "many" }
  | { set: readonly [string, string][]; isNot: boolean };

/** More matches than this nobody wants on one command line. */
const MOST_MATCHES = 200;
/** What one entry of a folder costs besides comparing its name, in letters. */
const ENTRY = 10;

/** The names a pattern stands for, relative to `cwd`. Undefined: it meets a link, leads out, or there are too many. */
export async function expand(
  pattern: readonly PatternToken[],
  { cwd, budget, made }: { cwd: string; budget: SettleBudget; made: readonly string[] },
): Promise<string[] | undefined> {
  const parts = split(pattern);
  // Absolute patterns and those that go up are for a person to judge.
  if (parts[0]!.length === 0 || parts.some((part) => literal(part) === "..")) return undefined;
  const isFolder = parts.at(-1)!.length === 0;
  if (isFolder) parts.pop();
  if (parts.some((part) => part.length === 0)) return undefined;
  let found = [""];
  for (const [depth, part] of parts.entries()) {
    const next: string[] = [];
    const wantsFolder = isFolder || depth < parts.length - 1;
    for (const base of found) {
      const name = literal(part);
      const names = name === undefined ? await namesIn(join(cwd, base), part, budget, made) : [name];
      for (const one of names) {
        budget.spend("look");
        const stats = await lstat(join(cwd, base, one)).catch(() => undefined);
        // What a link leads to is not what its name says.
        if (stats?.isSymbolicLink()) return undefined;
        const isThere = stats
          ? !wantsFolder || stats.isDirectory()
          : !wantsFolder && made.includes(join(cwd, base, one));
        if (isThere) next.push(base === "" ? one : `${base}/${one}`);
        if (next.length > MOST_MATCHES) return undefined;
      }
    }
    found = next;
  }
  return found
    .map((path) => (isFolder ? `${path}/` : path))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

async function namesIn(
  folder: string,
  part: readonly PatternToken[],
  budget: SettleBudget,
  made: readonly string[],
): Promise<string[]> {
  const names: string[] = [];
  budget.spend("look");
  const [first] = part;
  const showsHidden = first !== undefined && "is" in first && first.is === ".";
  // No such folder, or none we may read: nothing fits, as for a shell.
  const entries = await opendir(folder, { bufferSize: 256 }).catch(() => undefined);
  if (!entries) return names;
  const add = (name: string) => {
    budget.spend("letter", ENTRY + part.length * name.length);
    if ((showsHidden || !name.startsWith(".")) && fits(part, [...name])) names.push(name);
  };
  for await (const { name } of entries) add(name);
  for (const path of made) if (dirname(path) === folder && !names.includes(basename(path))) add(basename(path));
  return names;
}

/** Each star gives up only what comes after the last one, so no pattern takes forever. */
function fits(pattern: readonly PatternToken[], name: readonly string[]): boolean {
  return fitsWildcards(pattern, name, { isStar: (token) => "any" in token && token.any === "many", takes });
}

function takes(token: PatternToken, sign: string): boolean {
  if ("is" in token) return token.is === sign;
  if ("any" in token) return true;
  return token.set.some(([from, to]) => from <= sign && sign <= to) !== token.isNot;
}

/** `[a-m]`, `[!0-9]`; undefined for anything with more in it. */
export function bracket(text: string): PatternToken | undefined {
  const match = /^\[([!^]?)([A-Za-z0-9_-]+)\]$/.exec(text);
  if (!match) return undefined;
  const set: [string, string][] = [];
  const signs = match[2]!;
  for (let i = 0; i < signs.length; i++) {
    if (signs[i + 1] === "-" && signs[i + 2] !== undefined) {
      set.push([signs[i]!, signs[i + 2]!]);
      i += 2;
    } else set.push([signs[i]!, signs[i]!]);
  }
  return { set, isNot: match[1] !== "" };
}

function split(pattern: readonly PatternToken[]): PatternToken[][] {
  const parts: PatternToken[][] = [[]];
  for (const token of pattern) {
    if ("is" in token && token.is === "/") parts.push([]);
    else parts.at(-1)!.push(token);
  }
  return parts;
}

function literal(part: readonly PatternToken[]): string | undefined {
  return part.every((token) => "is" in token)
    ? part.map((token) => ("is" in token ? token.is : "")).join("")
    : undefined;
}
