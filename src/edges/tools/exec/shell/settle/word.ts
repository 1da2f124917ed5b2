/** Words of a text that is being settled: literals, quoted text, patterns, and the variable of the loop around them. */
import type { DoubleQuotedChild, ParsedScript, Word, WordPart } from "unbash";
import { readLiteral, readWord } from "../word.ts";
import { giveUp, type SettleBudget } from "./budget.ts";
import { bracket, expand, type PatternToken } from "./pattern.ts";
import type { SettledList, SettledWord, WordPiece } from "./tree.ts";

/** The variable of a loop, in one of its rounds. */
export interface Round {
  name: string;
  value: string;
}

export interface WordContext {
  cwd: string;
  budget: SettleBudget;
  round?: Round | undefined;
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
  const signs = readParts(word).flatMap((part) => known(part, around));
  const text = signs.map((sign) => sign.text).join("");
  const tokens = signs.map((sign) => sign.token);
  if (tokens.every((token) => "is" in token)) return [text];
  if (around.mayHaveChanged) giveUp("files may have changed before it");
  const found = (await expand(tokens, around.cwd, around.budget)) ?? giveUp("a pattern that leads elsewhere");
  // A file's name that looks like an option is one to the program.
  if (found.some((path) => path.startsWith("-"))) giveUp("a file named like an option");
  return found.length > 0 ? found : [text];
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
  if (readWord(word).literal !== undefined || !readParts(word).some(isOpen)) return settleWord(word, around);
  around.budget.spend("word");
  around.budget.spend("letter", word.text.length);
  const pieces: WordPiece[] = [];
  for (const part of readParts(word)) {
    const isQuoted = part.type === "DoubleQuoted";
    // Empty quotes make a word where the rest of it is nothing.
    if (isQuoted) pieces.push({ text: "" });
    for (const child of isQuoted ? part.parts : [part]) {
      if (isComputed(child)) pieces.push(await computed(child, isQuoted, inner));
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

function isOpen(part: WordPart): boolean {
  return isComputed(part) || (part.type === "DoubleQuoted" && part.parts.some(isComputed));
}

type Computed = Extract<WordPart, { type: "CommandExpansion" | "ArithmeticExpansion" | "SimpleExpansion" }>;

function isComputed(part: WordPart | DoubleQuotedChild): part is Computed {
  if (part.type === "SimpleExpansion") return SHOWN.test(part.text);
  return part.type === "CommandExpansion" || part.type === "ArithmeticExpansion";
}

/** Variables of every command that hold no secret. Others may: what an agent was granted comes as variables. */
const SHOWN = /^\$(\?|HOME|PWD|PATH|LANG|LC_ALL|TZ|TERM|UID)$/;
const SUM = /^\$\(\([\d\s+*-]+\)\)$/;

async function computed(
  part: Computed,
  isQuoted: boolean,
  inner: (script: ParsedScript) => Promise<SettledList>,
): Promise<WordPiece> {
  if (part.type === "CommandExpansion") return { output: await inner(part.script ?? giveUp("no script")), isQuoted };
  if (part.type === "ArithmeticExpansion" && !SUM.test(part.text)) giveUp("a sum with names in it");
  return { raw: isQuoted ? `"${part.text}"` : part.text };
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

/** Only the loop's own variable is filled in. */
function roundValue(
  part: Extract<WordPart, { type: "SimpleExpansion" | "ParameterExpansion" }>,
  { round, budget }: WordContext,
): string {
  const isPlain = part.type === "SimpleExpansion" || (!part.prefix && !part.index && !part.operation);
  const name = part.type === "SimpleExpansion" ? part.text.slice(1) : part.parameter;
  if (!isPlain || round === undefined || name !== round.name) return giveUp("a variable that is not known");
  budget.spend("letter", round.value.length);
  return round.value;
}
