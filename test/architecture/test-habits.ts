/** What a test must not do, as far as its syntax shows it. */
import { type Ast, lineOf, parse, visit } from "./syntax.ts";

/**
 * Lines where a test expects something to take less than some time, of the clock or of the processor: a slow machine makes it fail, a
 * fast one hides what it should find. A lower bound is fine.
 */
export function timeBounds(source: string): number[] {
  const tree = parse(source);
  const clocks = new Set<string>();
  const times = new Set<string>();
  // Twice: a variable may be declared from one that is declared further down.
  for (let round = 0; round < 2; round++) {
    visit(tree, (node) => {
      const { type, id, init } = node as Ast & { id?: Ast & { name?: string }; init?: Ast | null };
      if (type !== "VariableDeclarator" || !init || !id?.name || /Function/.test(init.type)) return;
      if (isTime(init, clocks, times)) times.add(id.name);
      else if (has(init, (one) => readsClock(one) || isOneOf(one, clocks))) clocks.add(id.name);
    });
  }
  const found: number[] = [];
  visit(tree, (node) => {
    const { callee } = node as Ast & { callee?: Ast & { object?: Ast; property?: { name?: string } } };
    const matcher = node.type === "CallExpression" ? callee?.property?.name : undefined;
    const expected = callee?.object;
    if (!matcher || expected?.type !== "CallExpression" || (expected.callee as Ast).name !== "expect") return;
    const given = (expected.arguments as Ast[])[0];
    const isUpper = /^toBe(LessThan|CloseTo)/.test(matcher) || (given !== undefined && has(given, isLess));
    if (given && isUpper && isTime(given, clocks, times)) found.push(lineOf(source, node.start));
  });
  return found;
}

function isTime(node: Ast, clocks: ReadonlySet<string>, times: ReadonlySet<string>): boolean {
  return has(node, (one) => {
    if (isOneOf(one, times)) return true;
    if (one.type === "CallExpression" && /^(cpuUsage|hrtime)$/.test(called(one)) && argumentsOf(one).length > 0)
      return true;
    if (one.type !== "BinaryExpression" || one.operator !== "-") return false;
    return [one.left, one.right].some((side) => has(side as Ast, (deep) => readsClock(deep) || isOneOf(deep, clocks)));
  });
}

function readsClock(node: Ast): boolean {
  if (node.type !== "CallExpression") return false;
  const { object } = node.callee as Ast & { object?: { name?: string } };
  if (/^(cpuUsage|hrtime|bigint)$/.test(called(node))) return true;
  return called(node) === "now" && /^(Date|performance)$/.test(object?.name ?? "");
}

const isLess = (node: Ast) => node.type === "BinaryExpression" && /^<=?$/.test(String(node.operator));
const isOneOf = (node: Ast, names: ReadonlySet<string>) => node.type === "Identifier" && names.has(String(node.name));
const argumentsOf = (node: Ast) => node.arguments as Ast[];

function called(node: Ast): string {
  const { property } = node.callee as Ast & { property?: { name?: string } };
  return property?.name ?? "";
}

function has(node: Ast, look: (node: Ast) => boolean): boolean {
  let isFound = false;
  visit(node, (one) => {
    isFound ||= look(one);
  });
  return isFound;
}
