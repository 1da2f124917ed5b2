/** How long functions are. A reader should see a whole function at once; a long one does several things. */
import { type Ast, lineOf, parse, visit } from "./syntax.ts";

/** STYLE.md: a function has fewer lines than this, unless it is a catalogue. */
export const MOST_FUNCTION_LINES = 80;

/**
 * Functions that are longer, as `file name`, with the lines they may have at most. Most hold one connection's state for the helpers
 * inside them. The list only gets shorter: split by idea, then take the line out.
 */
export const LONGER: Readonly<Record<string, number>> = {};

export interface Length {
  /** `file name`. */
  of: string;
  line: number;
  lines: number;
}

export function longFunctions(path: string, source: string): Length[] {
  const found: Length[] = [];
  const named = (node: Ast, name: string) => {
    if (!isFunction(node)) return;
    const lines = source.slice(node.start, node.end).split("\n").length;
    if (lines > MOST_FUNCTION_LINES) found.push({ of: `${path} ${name}`, line: lineOf(source, node.start), lines });
  };
  const seen = new Set<Ast>();
  visit(parse(source), (node) => {
    const { key, id, value, init } = node as Ast & Record<"key" | "id" | "value" | "init", Ast | null | undefined>;
    for (const inner of [value, init]) {
      if (inner && typeof inner === "object" && isFunction(inner)) {
        seen.add(inner);
        named(inner, nameIn(key ?? id));
      }
    }
    if (!seen.has(node)) named(node, nameIn(id));
  });
  return found;
}

function isFunction({ type, body }: Ast): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type) && Boolean(body);
}

function nameIn(node: Ast | null | undefined): string {
  return typeof node?.name === "string" ? node.name : "without a name";
}
