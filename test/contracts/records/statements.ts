/**
 * The SQL of the stores, as far as it can be read without running them: texts without holes, or whose holes are constants of the same
 * file. A real server is asked whether it takes them.
 */
import { readFileSync } from "node:fs";
import { type Ast, parse, visit } from "../../architecture/syntax.ts";

export interface Statement {
  file: string;
  sql: string;
}

export function statementsIn(files: readonly string[]): Statement[] {
  return files.flatMap((file) => {
    const tree = parse(readFileSync(file, "utf8"));
    const constants = constantsOf(tree);
    return topTexts(tree).flatMap((node) => {
      const sql = textOf(node, constants);
      return sql !== undefined && /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql) && !isPiece(sql)
        ? [{ file, sql }]
        : [];
    });
  });
}

/** `SELECT … FROM x s` that a condition is put behind is tried as it stands; an UPDATE without SET isn't one. */
function isPiece(sql: string): boolean {
  return /^\s*(UPDATE|DELETE|INSERT)\b/.test(sql) && !/\b(SET|FROM|VALUES|SELECT)\b/.test(sql);
}

function constantsOf(tree: Ast): Map<string, Ast> {
  const found = new Map<string, Ast>();
  for (const node of tree.body as Ast[]) {
    const declared = (node.type === "ExportNamedDeclaration" ? node.declaration : node) as Ast | null;
    if (declared?.type !== "VariableDeclaration") continue;
    for (const { id, init } of declared.declarations as (Ast & { id: { name?: string }; init?: Ast })[])
      if (id.name && init) found.set(id.name, init);
  }
  return found;
}

/** Strings and templates that are handed to a call or stand in a constant or an object, not in another template. */
function topTexts(tree: Ast): Ast[] {
  const found: Ast[] = [];
  const inside = new Set<Ast>();
  visit(tree, (node) => {
    if (node.type === "TemplateLiteral") for (const part of node.expressions as Ast[]) inside.add(part);
    if (inside.has(node)) return;
    // SQLite's own text of two.
    const { key, value } = node as Ast & { key?: { name?: string }; value?: Ast };
    if (node.type === "Property" && key?.name === "sqlite" && value) inside.add(value);
    if (node.type === "Literal" || node.type === "TemplateLiteral") found.push(node);
  });
  return found;
}

function textOf(node: Ast, constants: Map<string, Ast>): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type === "Identifier") {
    const constant = constants.get(node.name as string);
    return constant && textOf(constant, constants);
  }
  if (node.type !== "TemplateLiteral") return undefined;
  const holes = (node.expressions as Ast[]).map((one) => textOf(one, constants));
  const texts = (node.quasis as (Ast & { value: { cooked: string } })[]).map(({ value }) => value.cooked);
  return holes.includes(undefined) ? undefined : texts.map((text, n) => text + (holes[n] ?? "")).join("");
}
