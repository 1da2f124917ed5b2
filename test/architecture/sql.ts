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

/** Strings and whole templates that are SQL, with a hole where something is put in; concatenated ones as the one text they become. */
export function sqlTextsIn(tree: Ast): Text[] {
  const found: Text[] = [];
  const seen = new Set<Ast>();
  visit(tree, (node) => {
    if (seen.has(node)) return;
    const text = wholeText(node, seen);
    if (text !== undefined && isSql(text)) found.push({ at: node.start, text });
  });
  return found;
}

function wholeText(node: Ast, seen: Set<Ast>): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type === "TemplateLiteral") {
    return (node.quasis as Ast[]).map((quasi) => (quasi.value as { raw: string }).raw).join(HOLE);
  }
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  const sides = [node.left as Ast, node.right as Ast];
  const texts = sides.map((side) => wholeText(side, seen));
  if (texts.every((text) => text === undefined)) return undefined;
  for (const side of sides) seen.add(side);
  return texts.map((text) => text ?? HOLE).join("");
}
