/** Values that are said to be of a type which the checker does not believe. A type that does not fit is missing somewhere. */
import { type Ast, lineOf, parse, visit } from "./syntax.ts";

/** Files of the program that still do it, how often, and why no type can say it. */
export const FORCED: Readonly<Record<string, { times: number; why: string }>> = {
  "ground/config/schema.ts": { times: 1, why: "zod's introspection, of which this room sees a part" },
  "ground/config/settings.ts": {
    times: 1,
    why: "whatever the schema, settings were parsed from YAML and are plain data",
  },
};

/** Lines where a value is said to be of a type that the checker does not believe: `as never`, `as unknown as T`. */
export function forcedTypes(source: string): number[] {
  const found: number[] = [];
  visit(parse(source), (node) => {
    if (node.type !== "TSAsExpression") return;
    const { typeAnnotation, expression } = node as Ast & { typeAnnotation: Ast; expression: Ast };
    const isForced =
      typeAnnotation.type === "TSNeverKeyword" ||
      (expression.type === "TSAsExpression" && (expression.typeAnnotation as Ast).type === "TSUnknownKeyword");
    if (isForced) found.push(lineOf(source, node.start));
  });
  return found;
}
