/** Words of a text that is being settled: literals, quoted text, patterns, and the variable of the loop around them. */
import type { DoubleQuotedChild, ParsedScript, Word, WordPart } from "unbash";
import { readLiteral, readWord } from "../word.ts";
import { giveUp, type SettleBudget } from "./budget.ts";
import { MOST_COUNTED } from "./counted.ts";
import { bracket, expand, type PatternToken } from "./pattern.ts";
import type { SettledList, SettledWord, WordPiece } from "./tree.ts";
import { isNumber, isSum, type VariableKind } from "./variables.ts";

/** The variable of a loop, in one of its rounds. */
export interface Round {
  name: string;
  value: string;
}

export interface WordContext {
  cwd: string;
  budget: SettleBudget;
  round?: Round | undefined;
  /** What the text sets. */
  kinds: ReadonlyMap<string, VariableKind>;
  /** The values of those that are plain text, as far as the text has come. */
  values: ReadonlyMap<string, string>;
  /** Those that are set by now whichever way the text went. Any other may still hold what came from outside, such as a secret. */
  certain: ReadonlySet<string>;
  /** Only whether a variable is empty counts here, so it may be any. */
  takesAnyName?: boolean;
  /** Files that are not there yet, and will be when patterns are read: a redirection of the loop makes them. */
  made: readonly string[];
  /** A command before this one may have changed files: which names a pattern stands for is not known yet. */
  mayHaveChanged: boolean;
}

type Known = { token: PatternToken; text: string };
/** Values that a shell neither splits nor takes for a pattern. */
const WHOLE = /^[A-Za-z0-9_./:@%+,=-]+$/;

/** What one word becomes. A pattern stands for several. */
export async function settleWord(word: Word, around: WordContext): Promise<string[]> {
  around.budget.spend("word");
  around.budget.spend("letter", word.text.length);
  const plain = readWord(word).literal;
  if (plain !== undefined) return [plain];
  const braced = withBraces(word);
  if (braced) return braced;
  const signs = readParts(word).flatMap((part) => known(part, around));
  const text = signs.map((sign) => sign.text).join("");
  const tokens = signs.map((sign) => sign.token);
  if (tokens.every((token) => "is" in token)) return [text];
  if (around.mayHaveChanged) giveUp("files may have changed before it");
  const found = (await expand(tokens, around)) ?? giveUp("a pattern that leads elsewhere");
  // A file's name that looks like an option is one to the program.
  if (found.some((path) => path.startsWith("-"))) giveUp("a file named like an option");
  return found.length > 0 ? found : [text];
}

/** `{README,CHANGELOG}.md`: braces between plain text, and nothing in them that is more. */
function withBraces(word: Word): string[] | undefined {
  const parts = readParts(word);
  if (!parts.some(({ type }) => type === "BraceExpansion")) return undefined;
  let out = [""];
  for (const part of parts) {
    const isList = part.type === "BraceExpansion" && /^\{[\w./-]+(,[\w./-]+)+\}$/.test(part.text);
    const literal = part.type === "Literal" ? readLiteral(part.text) : undefined;
    const texts = isList ? part.text.slice(1, -1).split(",") : [literal ?? giveUp("braces with more in them")];
    out = out.flatMap((before) => texts.map((text) => before + text));
    if (out.length > MOST_COUNTED) giveUp("too many words");
  }
  return out;
}

/** One word without patterns, for what is redirected or fed. */
export function settleText(word: Word, around: WordContext): string {
  around.budget.spend("word");
  around.budget.spend("letter", word.text.length);
  const plain = readWord(word).literal;
  if (plain !== undefined) return plain;
  const signs = readParts(word).flatMap((part) => known(part, around));
  if (!signs.every(({ token }) => "is" in token)) giveUp("a pattern as a file");
  return signs.map((sign) => sign.text).join("");
}

/** A word for `echo` or `printf`, which may hold what only running it can tell. */
export async function settleOpen(
  word: Word,
  around: WordContext,
  inner: (script: ParsedScript) => Promise<SettledList>,
): Promise<SettledWord[]> {
  if (readWord(word).literal !== undefined || !readParts(word).some((part) => isOpen(part, around)))
    return settleWord(word, around);
  around.budget.spend("word");
  around.budget.spend("letter", word.text.length);
  const pieces: WordPiece[] = [];
  for (const part of readParts(word)) {
    const isQuoted = part.type === "DoubleQuoted";
    // Empty quotes make a word where the rest of it is nothing.
    if (isQuoted) pieces.push({ text: "" });
    for (const child of isQuoted ? part.parts : [part]) {
      if (isComputed(child, around)) pieces.push(await computed(child, { isQuoted, around, inner }));
      else {
        const signs = isQuoted ? quoted(child as DoubleQuotedChild, around) : known(child as WordPart, around);
        if (!signs.every(({ token }) => "is" in token)) giveUp("a pattern beside it");
        pieces.push({ text: signs.map((sign) => sign.text).join("") });
      }
    }
  }
  return [{ open: pieces }];
}

function readParts(word: Word): readonly WordPart[] {
  const parts = word.parts ?? giveUp("no parts");
  if (parts[0]?.type === "Literal" && parts[0].text.startsWith("~")) giveUp("~");
  return parts;
}

function isOpen(part: WordPart, around: WordContext): boolean {
  return (
    isComputed(part, around) || (part.type === "DoubleQuoted" && part.parts.some((child) => isComputed(child, around)))
  );
}

type Computed = Extract<
  WordPart,
  { type: "CommandExpansion" | "ArithmeticExpansion" | "SimpleExpansion" | "ParameterExpansion" }
>;

function isComputed(part: WordPart | DoubleQuotedChild, around: WordContext): part is Computed {
  if (part.type === "SimpleExpansion") return isShown(part.text.slice(1), around);
  if (part.type === "ParameterExpansion")
    return part.prefix !== "!" && !part.index && !part.operation && isShown(part.parameter, around);
  return part.type === "CommandExpansion" || part.type === "ArithmeticExpansion";
}

/** Variables of every command that hold no secret. Others may: what an agent was granted comes as variables. */
const SHOWN = /^(\?|HOME|PWD|PATH|LANG|LC_ALL|TZ|TERM|UID)$/;

function isShown(name: string, { kinds, certain, takesAnyName, round }: WordContext): boolean {
  if (name === round?.name) return false;
  const kind = kinds.get(name);
  if (kind !== undefined) return kind !== "plain" && (certain.has(name) || takesAnyName === true);
  return SHOWN.test(name) || (takesAnyName === true && /^[A-Za-z_]\w*$/.test(name));
}

async function computed(
  part: Computed,
  {
    isQuoted,
    around,
    inner,
  }: { isQuoted: boolean; around: WordContext; inner: (script: ParsedScript) => Promise<SettledList> },
): Promise<WordPiece> {
  if (part.type === "CommandExpansion") return { output: await inner(part.script ?? giveUp("no script")), isQuoted };
  if (part.type !== "ArithmeticExpansion") return { raw: isQuoted ? `"${part.text}"` : part.text };
  // A value that is filled in elsewhere must not be counted up here.
  const isStill = !/\+\+|--/.test(part.text);
  const readValue = (name: string) => {
    const value = isStill ? around.values.get(name) : undefined;
    return isNumber(value) ? value : undefined;
  };
  const names = {
    readValue,
    isNumber: (name: string) =>
      (around.kinds.get(name) === "number" && around.certain.has(name)) || readValue(name) !== undefined,
  };
  return isSum(part.text, names) ? { sum: part.text } : giveUp("a sum with names in it, or one that may fail");
}

function plainSigns(text: string): Known[] {
  return [...text].map((sign) => ({ token: { is: sign }, text: sign }));
}

function known(part: WordPart, around: WordContext): Known[] {
  switch (part.type) {
    case "Literal":
      return plainSigns(readLiteral(part.text) ?? giveUp("a literal"));
    case "SingleQuoted":
      return plainSigns(part.value);
    case "DoubleQuoted":
      return part.parts.flatMap((child) => quoted(child, around));
    case "Glob":
      if (part.kind === "star") return [{ token: { any: "many" }, text: "*" }];
      if (part.kind === "question") return [{ token: { any: "one" }, text: "?" }];
      return [{ token: bracket(part.text) ?? giveUp("a set"), text: part.text }];
    case "SimpleExpansion":
    case "ParameterExpansion": {
      const value = roundValue(part, around);
      return WHOLE.test(value) ? plainSigns(value) : giveUp("a value that is split");
    }
    default:
      return giveUp(part.type);
  }
}

function quoted(part: DoubleQuotedChild, around: WordContext): Known[] {
  switch (part.type) {
    case "Literal":
      return plainSigns(readLiteral(`"${part.text}"`) ?? giveUp("a literal"));
    case "SimpleExpansion":
    case "ParameterExpansion":
      return plainSigns(roundValue(part, around));
    default:
      return giveUp(part.type);
  }
}

/** The loop's own variable, and those that are set to plain text, are filled in. */
function roundValue(
  part: Extract<WordPart, { type: "SimpleExpansion" | "ParameterExpansion" }>,
  { round, values, budget }: WordContext,
): string {
  const isPlain = part.type === "SimpleExpansion" || (!part.prefix && !part.index && !part.operation);
  const name = part.type === "SimpleExpansion" ? part.text.slice(1) : part.parameter;
  const value = name === round?.name ? round.value : values.get(name);
  if (!isPlain || value === undefined) return giveUp("a variable that is not known");
  budget.spend("letter", value.length);
  return value;
}
