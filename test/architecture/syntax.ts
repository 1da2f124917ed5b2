/** The syntax tree of a source file, as the architecture tests read it: comments and look-alike strings do not count. */
import { parseAst } from "vitest/node";
import { pretend } from "../support/pretend.ts";

export interface Ast {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

/** Every check reads the same thousand files. */
const parsed = new Map<string, Ast>();

export function parse(text: string): Ast {
  const tree = parsed.get(text) ?? pretend<Ast>(parseAst(text, { lang: "ts" }));
  parsed.set(text, tree);
  return tree;
}

export function visit(node: Ast, look: (node: Ast) => void): void {
  look(node);
  for (const child of Object.values(node)) {
    for (const item of Array.isArray(child) ? child : [child]) {
      if (item !== null && typeof item === "object" && typeof (item as Ast).type === "string") visit(item as Ast, look);
    }
  }
}

/** A string, a piece of a template between its expressions, or the source of a regular expression. */
export interface Text {
  at: number;
  text: string;
}

export function textsIn(tree: Ast): Text[] {
  const found: Text[] = [];
  visit(tree, (node) => {
    const { start: at, type, value, regex } = node as Ast & { value?: unknown; regex?: { pattern: string } };
    if (type === "TemplateElement") found.push({ at, text: (value as { raw: string }).raw });
    else if (type === "Literal" && regex) found.push({ at, text: regex.pattern });
    else if (type === "Literal" && typeof value === "string") found.push({ at, text: value });
  });
  return found;
}

export function lineOf(source: string, at: number): number {
  return source.slice(0, at).split("\n").length;
}
