/** Conditional expressions inside another one: a table or early returns read better. */
import { type Ast, lineOf, parse, visit } from "./syntax.ts";

export function nestedTernaries(path: string, source: string): string[] {
  return ternariesIn(parse(source), `src/${path}`, source);
}

/** The same for a tree that is already there, with positions in `source`. */
export function ternariesIn(tree: Ast, path: string, source: string): string[] {
  const found: string[] = [];
  visit(tree, (node) => {
    if (node.type !== "ConditionalExpression") return;
    const isNested = [node.test, node.consequent, node.alternate].some((part) => inner(part as Ast) === node.type);
    if (isNested)
      found.push(`${path}:${lineOf(source, node.start)} has a nested ternary; use a table or early returns`);
  });
  return found;
}

function inner(node: Ast): string {
  return node.type === "ParenthesizedExpression" ? inner(node.expression as Ast) : node.type;
}
