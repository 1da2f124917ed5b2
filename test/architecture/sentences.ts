/** Sentences and phrases in code: what a person reads belongs in a catalogue, where it can be read through in one go. */
import { type Ast, lineOf, parse } from "./syntax.ts";

export interface Sentence {
  line: number;
  text: string;
}

/** Stands for what is put into a template; it counts as a word. */
const VALUE = "\u0000";
/** `--limit`, `-q`: part of a command, not of a phrase. */
const FLAG = /(^|[\s("'`])--?[a-z][\w-]*/g;
/** Two words in a row, at least one of them a real one. */
const TWO_WORDS = new RegExp(
  `\\p{L}{2}['’\\p{L}]*[.,;:!?…)"”]*\\s+["“(]?[\\p{L}${VALUE}]|[\\p{L}${VALUE}]["”)]?[.,;:!?]?\\s+["“(]?\\p{L}{2}`,
  "u",
);
/** One word that is a whole sentence: "Stopped." */
const ONE_WORD = /^\p{Lu}\p{L}+[.!?…]$/u;
/** Figures with their units: `12 min`, `3 MB`, `2 h 5 min`. */
const FIGURE = new RegExp(`^(?:${VALUE} (?:ms|s|min|h|d|B|kB|MB|GB) ?)+$`);

/** What counts as a sentence: two words in a row, where a value counts as one, or a single word with a full stop. */
export function isSentence(text: string): boolean {
  const plain = text.replace(FLAG, "$1").trim();
  return !FIGURE.test(plain) && (TWO_WORDS.test(plain) || ONE_WORD.test(plain));
}

export function sentencesIn(source: string): Sentence[] {
  return sentencesOf(parse(source), source);
}

/** The same for a tree that is already there, with positions in `source`. */
export function sentencesOf(tree: Ast, source: string): Sentence[] {
  const found: Sentence[] = [];
  const walk = (node: Ast): void => {
    if (isSilent(node)) return;
    const text = textOf(node);
    if (text !== undefined && isSentence(text))
      found.push({ line: lineOf(source, node.start), text: text.replaceAll(VALUE, "…") });
    for (const child of childrenOf(node)) walk(child);
  };
  walk(tree);
  return found;
}

function textOf(node: Ast): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  return (node.quasis as { value: { cooked?: string; raw: string } }[])
    .map(({ value }) => value.cooked ?? value.raw)
    .join(VALUE);
}

/** Nobody reads these: types, the paths of imports, and what a bug throws. */
function isSilent(node: Ast): boolean {
  if (node.type.startsWith("TS")) return !/^TS(As|Satisfies|NonNull)/.test(node.type);
  if (node.type === "NewExpression") return (node.callee as { name?: string }).name === "Error";
  return (
    node.type === "ImportDeclaration" ||
    node.type === "ImportExpression" ||
    (node.type === "ExportNamedDeclaration" && Boolean(node.source))
  );
}

function childrenOf(node: Ast): Ast[] {
  return Object.values(node)
    .flat()
    .filter((one): one is Ast => one !== null && typeof one === "object" && typeof (one as Ast).type === "string");
}
