/** Every regular expression in the program's and the page's sources: literals, and `RegExp(...)` with constant text. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { parse as parseSvelte } from "svelte/compiler";
import { parseAst } from "vitest/node";

export interface Expression {
  file: string;
  line: number;
  source: string;
  flags: string;
}

const ROOT = resolve(import.meta.dirname, "..", "..");

export function expressionsOf(folders: readonly string[]): Expression[] {
  return sourceFiles(folders).flatMap((file) => expressionsIn(file, readFileSync(join(ROOT, file), "utf8")));
}

/** By their paths in the repository, in order; tests are no sources. */
export function sourceFiles(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(ROOT, folder, name)),
    )
    .filter((file) => /\.(ts|svelte)$/.test(file) && !file.endsWith(".test.ts"))
    .map((file) => relative(ROOT, file).split(sep).join("/"))
    .sort();
}

export function expressionsIn(file: string, text: string): Expression[] {
  const tree: unknown = file.endsWith(".svelte") ? parseSvelte(text, { modern: true }) : parseAst(text, { lang: "ts" });
  const found: Expression[] = [];
  visit(tree, (node) => {
    const words = regexOf(node);
    if (words) found.push({ file, line: text.slice(0, Number(node.start)).split("\n").length, ...words });
  });
  return found;
}

type Node = Record<string, unknown>;

function regexOf(node: Node): { source: string; flags: string } | undefined {
  const regex = node.type === "Literal" ? (node.regex as { pattern: string; flags: string } | undefined) : undefined;
  if (regex) return { source: regex.pattern, flags: regex.flags };
  if (node.type !== "NewExpression" && node.type !== "CallExpression") return undefined;
  if ((node.callee as Node | undefined)?.name !== "RegExp") return undefined;
  const [source, flags] = node.arguments as Node[];
  if (typeof source?.value !== "string") return undefined;
  return { source: source.value, flags: typeof flags?.value === "string" ? flags.value : "" };
}

export function visit(node: unknown, look: (node: Node) => void): void {
  if (Array.isArray(node)) for (const one of node) visit(one, look);
  else if (node !== null && typeof node === "object") {
    if (typeof (node as Node).type === "string") look(node as Node);
    for (const value of Object.values(node)) if (value !== null && typeof value === "object") visit(value, look);
  }
}
