/** What is SQL. Its words are English too, so a text counts by its shape; how its letters are written does not matter. */
import { type Ast, type Text, visit } from "./syntax.ts";

/** Stands where a template puts something in. */
const HOLE = "\u0000";

const WRITTEN_LARGE =
  /\b(SELECT|INSERT (OR \w+ )?INTO|REPLACE INTO|UPDATE|DELETE FROM|(CREATE|DROP|ALTER) TABLE|PRAGMA)\b/;
const NAME = `["\`]?(?:\\w|${HOLE})+["\`]?`;
const BY_SHAPE = new RegExp(
  [
    `^\\s*(with\\s+(recursive\\s+)?\\w+\\s*(\\([^)]*\\)\\s*)?as\\s*\\()`,
    `\\bselect\\s+(distinct\\s+)?(\\*|[\\w.${HOLE}]+(\\([^)]*\\))?(\\s+as\\s+\\w+)?(\\s*,\\s*[^,]+)*)\\s+from\\s+(${NAME}|\\()(\\s+(\\w{1,3}\\s+)?(where|join|left|inner|order|group|limit|union)\\b|\\s*\\)|\\s*;?\\s*$)`,
    `^\\s*insert\\s+(or\\s+\\w+\\s+)?into\\s+${NAME}\\s*(\\(|values|select)`,
    `^\\s*replace\\s+into\\s+${NAME}\\s*(\\(|values|select)`,
    `^\\s*update\\s+(or\\s+\\w+\\s+)?${NAME}\\s+set\\s+${NAME}\\s*=`,
    `^\\s*delete\\s+from\\s+${NAME}(\\s+where\\b|\\s*;?\\s*$)`,
    `^\\s*(create|drop|alter)\\s+(virtual\\s+|temp(orary)?\\s+|unique\\s+)?(table|index|trigger|view)\\s+(if\\s+(not\\s+)?exists\\s+)?${NAME}\\s*(\\(|using|on|add|rename|drop|;?\\s*$)`,
    `^\\s*pragma\\s+\\w+(\\s*[=(;]|\\s*$)`,
  ].join("|"),
  "i",
);

export function isSql(text: string): boolean {
  return WRITTEN_LARGE.test(text) || BY_SHAPE.test(text);
}

/**
 * Strings and whole templates that are SQL, with a hole where something is put in; concatenated and joined ones as the one text they
 * become. `isPiece` says what counts although it is no whole statement.
 */
export function sqlTextsIn(tree: Ast, isPiece: (text: string) => boolean = () => false): Text[] {
  const found: Text[] = [];
  const seen = new Set<Ast>();
  visit(tree, (node) => {
    if (seen.has(node)) return;
    const text = wholeText(node, seen);
    if (text !== undefined && (isSql(text) || isPiece(text))) found.push({ at: node.start, text });
  });
  return found;
}

function wholeText(node: Ast, seen: Set<Ast>): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type === "TemplateLiteral") {
    return (node.quasis as Ast[]).map((quasi) => (quasi.value as { raw: string }).raw).join(HOLE);
  }
  const { parts, between } = puzzle(node);
  const texts = parts.map((part) => wholeText(part, seen));
  if (texts.every((text) => text === undefined)) return undefined;
  for (const part of parts) seen.add(part);
  return texts.map((text) => text ?? HOLE).join(between);
}

/** What a sum, `[…].join(…)` or `….concat(…)` is made of. */
function puzzle(node: Ast): { parts: Ast[]; between: string } {
  if (node.type === "BinaryExpression" && node.operator === "+")
    return { parts: [node.left as Ast, node.right as Ast], between: "" };
  const { callee } = node as Ast & { callee?: Ast & { object?: Ast; property?: { name?: string } } };
  const given = (node.arguments as Ast[] | undefined) ?? [];
  const object = callee?.object;
  if (callee?.property?.name === "join" && object?.type === "ArrayExpression") {
    const between = given[0]?.type === "Literal" ? String(given[0].value) : HOLE;
    return { parts: (object.elements as (Ast | null)[]).filter((one) => one !== null), between };
  }
  return callee?.property?.name === "concat" && object
    ? { parts: [object, ...given], between: "" }
    : { parts: [], between: "" };
}
