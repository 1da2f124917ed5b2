/**
 * Conditional spreads that `defined()` or `truthy()` of core/kit say shorter: `...(x === undefined ? {} : { x })`,
 * `...(x ? { x } : {})`, `...(x && { x })`. One with a condition of its own, or whose value is made from x, is fine.
 */
import { type Ast, lineOf, parse, visit } from "./syntax.ts";

/** They may not import core/kit: the protocol is also the web UI's, and the kit is built on the domain. */
export const WITHOUT_KIT = /^core\/(domain|contracts|protocol|render)\//;

export function needlessSpreads(path: string, source: string): string[] {
  const found: string[] = [];
  const text = (node: Ast) => source.slice(node.start, node.end as number);
  visit(parse(source), (node) => {
    if (node.type !== "ObjectExpression") return;
    for (const property of node.properties as Ast[]) {
      if (property.type !== "SpreadElement") continue;
      const { tested, given } = conditional(property.argument as Ast);
      if (!tested || !given) continue;
      const [field, ...more] = given.properties as Ast[];
      if (field?.type !== "Property" || more.length > 0) continue;
      if (text(field.value as Ast) === text(tested)) {
        found.push(
          `src/${path}:${lineOf(source, property.start)} ${text(property)}: use defined() or truthy() of core/kit`,
        );
      }
    }
  });
  return found;
}

/** Fields in braces of their own, `{ ...{ a, b }, c }`, which are simply fields. */
export function literalSpreads(path: string, source: string): string[] {
  const found: string[] = [];
  visit(parse(source), (node) => {
    if (node.type === "SpreadElement" && isObject(node.argument as Ast))
      found.push(`src/${path}:${lineOf(source, node.start)}`);
  });
  return found;
}

/** The value whose presence is tested, and the object that is spread when it is there. */
function conditional(node: Ast): { tested?: Ast; given?: Ast } {
  if (node.type === "ParenthesizedExpression") return conditional(node.expression as Ast);
  const { left, right, test, consequent, alternate } = node as Ast & Record<string, Ast>;
  if (node.type === "LogicalExpression" && node.operator === "&&" && isObject(right)) {
    return { tested: presence(left!), given: right };
  }
  if (node.type !== "ConditionalExpression") return {};
  if (isObject(consequent) && isEmpty(alternate)) return { tested: presence(test!), given: consequent };
  if (isObject(alternate) && isEmpty(consequent)) return { tested: presence(test!), given: alternate };
  return {};
}

/** `x` of `x`, `!x`, `x === undefined` and `x !== null`; nothing else is a plain test of presence. */
function presence(node: Ast): Ast | undefined {
  if (["Identifier", "MemberExpression", "ChainExpression"].includes(node.type)) return node;
  if (node.type === "UnaryExpression" && node.operator === "!") return presence(node.argument as Ast);
  const { left, right } = node as Ast & Record<string, Ast>;
  const isNothing = right?.name === "undefined" || (right?.type === "Literal" && right.value === null);
  return node.type === "BinaryExpression" && isNothing ? presence(left!) : undefined;
}

const isObject = (node: Ast | undefined) => node?.type === "ObjectExpression";
const isEmpty = (node: Ast | undefined) => isObject(node) && (node!.properties as Ast[]).length === 0;
