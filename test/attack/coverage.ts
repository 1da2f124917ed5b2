/**
 * Which modules read text with repetitions of any length, and which of them the pump table reaches. A module counts as reached
 * when a reader imports it, or when a reached module of the same folder does.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { type Expression, expressionsOf } from "../expressions/find.ts";

const ROOT = resolve(import.meta.dirname, "..", "..");

/** Modules with an expression that has no upper bound, or one that is put together when the program runs. */
export function modulesThatRepeat(): string[] {
  const found = expressionsOf(["src", "ui/src"]).filter(isUnbounded);
  return [...new Set(found.map(({ file }) => file))].sort();
}

function isUnbounded({ source }: Expression): boolean {
  const plain = source.replace(/\\./g, "x").replace(/\[[^\]]*\]/g, "x");
  return /[*+]|\{\d+,\}/.test(plain);
}

export function modulesReached(readers: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const todo = readers.flatMap((file) => importsOf(resolve(ROOT, file)));
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    const name = relative(ROOT, file).split(sep).join("/");
    if (reached.has(name)) continue;
    reached.add(name);
    // An index stands for its whole folder, which no row reads; it passes on nothing but itself.
    for (const next of importsOf(file)) if (isNear(file, next)) todo.push(next);
  }
  return reached;
}

/** In the same folder or below it. */
function isNear(from: string, to: string): boolean {
  return to.startsWith(dirname(from) + sep);
}

function importsOf(file: string): string[] {
  // A type is no code: who imports nothing else of a module doesn't run it.
  const text = readFileSync(file, "utf8").replace(/^import type [^;]*;$/gm, "");
  return [...text.matchAll(/(?:from|new URL\(|import\() ?"(\.[^"\n]*\.ts)"/g)]
    .map((found) => join(dirname(file), found[1]!))
    .filter((path) => existsSync(path));
}
