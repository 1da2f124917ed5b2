/** Words of a text that is being settled: what each becomes, or how it is written down when only running it can tell. */

import type { DoubleQuotedChild, ParsedScript, Word, WordPart } from "unbash";
import { assertNever } from "../../../../../core/domain/index.ts";
import { quote } from "../plain.ts";
import { literalOf, readWord } from "../word.ts";
import { bracket, expand, type Token } from "./pattern.ts";

/** Writes something down: for judging with programs by name, for running with their paths. */
export type Print = (pinned: boolean) => string;
/** A value that is only known when it runs. */
export const OPEN = Symbol("open");

export interface State {
  cwd: string;
  variables: Map<string, string | typeof OPEN>;
}

/** What a word becomes: words that are known, or one text that is not. */
export type Settled = { words: string[] } | { open: Print };

/** Thrown where a text cannot be settled; the whole is then judged as it is. */
export class Unsettled extends Error {}
export function giveUp(why: string): never {
  throw new Unsettled(why);
}

export interface Rest {
  state: State;
  /** A command before this one may have changed files: patterns cannot be expanded yet. */
  mayHaveChanged: () => boolean;
  substitute: (script: ParsedScript) => Promise<Print>;
}

type Piece = { token: Token; text: string } | { open: Print };

const MOST_ALTERNATIVES = 64;
/** Values that a shell neither splits nor takes for a pattern. */
const WHOLE = /^[A-Za-z0-9_./:@%+,=-]+$/;

export async function settleWord(word: Word, rest: Rest): Promise<Settled> {
  const plain = readWord(word).literal;
  if (plain !== undefined) return { words: [plain] };
  // Empty braces stay as they are.
  if (/^-[A-Za-z]\{\}$/.test(word.text)) return { words: [word.text] };
  let rows: Piece[][] = [[]];
  for (const [i, part] of (word.parts ?? giveUp("no parts")).entries()) {
    if (i === 0 && part.type === "Literal" && part.text.startsWith("~")) giveUp("~");
    const ways = part.type === "BraceExpansion" ? braces(part.text) : [await pieces(part, rest)];
    if (rows.length * ways.length > MOST_ALTERNATIVES) giveUp("too many alternatives");
    rows = rows.flatMap((row) => ways.map((way) => [...row, ...way]));
  }
  if (rows.some((row) => row.some((piece) => "open" in piece))) return openWord(rows);
  const words: string[] = [];
  for (const row of rows) words.push(...(await matches(row as Extract<Piece, { token: Token }>[], rest)));
  return { words };
}

/** The one word a redirection or a value is made of. */
export async function settleOne(word: Word, rest: Rest): Promise<string> {
  const settled = await settleWord(word, rest);
  if (!("words" in settled) || settled.words.length !== 1 || settled.words[0] === "") return giveUp("not one word");
  return settled.words[0]!;
}

function openWord(rows: Piece[][]): Settled {
  const [row] = rows;
  if (rows.length !== 1 || row!.some((piece) => "token" in piece && !("is" in piece.token)))
    giveUp("a pattern beside it");
  return {
    open: (pinned) => row!.map((piece) => ("open" in piece ? piece.open(pinned) : quoted(piece.text))).join(""),
  };
}

function quoted(sign: string): string {
  return /^[A-Za-z0-9_./:%+,-]$/.test(sign) ? sign : quote(sign);
}

async function matches(row: Extract<Piece, { token: Token }>[], rest: Rest): Promise<string[]> {
  const text = row.map((piece) => piece.text).join("");
  const tokens = row.map((piece) => piece.token);
  if (tokens.every((token) => "is" in token)) return [text];
  if (rest.mayHaveChanged()) giveUp("files may have changed before it");
  const found = (await expand(tokens, rest.state.cwd)) ?? giveUp("a pattern that leads elsewhere");
  // A file's name that looks like an option is one to the program.
  if (found.some((path) => path.startsWith("-"))) giveUp("a file named like an option");
  return found.length > 0 ? found : [text];
}

function known(text: string): Piece[] {
  return [...text].map((sign) => ({ token: { is: sign }, text: sign }));
}

/** `{a,b}` with plain alternatives. */
function braces(text: string): Piece[][] {
  if (!/^\{[\w./-]*(,[\w./-]*)+\}$/.test(text)) giveUp("braces");
  return text.slice(1, -1).split(",").map(known);
}

async function pieces(part: WordPart, rest: Rest): Promise<Piece[]> {
  switch (part.type) {
    case "Literal":
      return known(literalOf(part.text) ?? giveUp("a literal"));
    case "SingleQuoted":
      return known(part.value);
    case "Glob":
      if (part.kind === "star") return [{ token: { any: "many" }, text: "*" }];
      if (part.kind === "question") return [{ token: { any: "one" }, text: "?" }];
      return [{ token: bracket(part.text) ?? giveUp("a set"), text: part.text }];
    case "DoubleQuoted": {
      const out: Piece[] = [];
      for (const child of part.parts) out.push(...(await inQuotes(child, rest)));
      return out;
    }
    case "SimpleExpansion":
    case "ParameterExpansion": {
      const value = variableOf(part, rest.state);
      if (value.known === undefined) return [{ open: () => value.name }];
      return WHOLE.test(value.known) ? known(value.known) : giveUp("a value that is split");
    }
    case "CommandExpansion":
    case "ArithmeticExpansion":
      return [{ open: await computed(part, rest) }];
    default:
      return giveUp(part.type);
  }
}

async function inQuotes(part: DoubleQuotedChild, rest: Rest): Promise<Piece[]> {
  switch (part.type) {
    case "Literal":
      return known(literalOf(`"${part.text}"`) ?? giveUp("a literal"));
    case "SimpleExpansion":
    case "ParameterExpansion": {
      const value = variableOf(part, rest.state);
      return value.known === undefined ? [{ open: () => `"${value.name}"` }] : known(value.known);
    }
    case "CommandExpansion":
    case "ArithmeticExpansion": {
      const print = await computed(part, rest);
      return [{ open: (pinned) => `"${print(pinned)}"` }];
    }
    default:
      return assertNever(part);
  }
}

/** Variables of every command that hold no secret. Others may: what an agent was granted comes as variables. */
const SHOWABLE = new Set([
  "PATH",
  "SHELL",
  "USER",
  "LOGNAME",
  "LANG",
  "LC_ALL",
  "TZ",
  "TERM",
  "HOSTNAME",
  "OLDPWD",
  "UID",
]);

function variableOf(
  part: Extract<WordPart, { type: "SimpleExpansion" | "ParameterExpansion" }>,
  { variables, cwd }: State,
): { name: string; known?: string } {
  const isPlain = part.type === "SimpleExpansion" || (!part.prefix && !part.index && !part.operation);
  const name = part.type === "SimpleExpansion" ? part.text.slice(1) : part.parameter;
  if (!isPlain) giveUp("an expansion with more in it");
  if (name === "?") return { name: "$?" };
  if (name === "PWD") return { name, known: cwd };
  const value = variables.get(name);
  if (value === undefined) return SHOWABLE.has(name) ? { name: `\${${name}}` } : giveUp("a variable that is not known");
  return value === OPEN ? { name: `\${${name}}` } : { name, known: value };
}

async function computed(
  part: Extract<WordPart, { type: "CommandExpansion" | "ArithmeticExpansion" }>,
  rest: Rest,
): Promise<Print> {
  if (part.type === "ArithmeticExpansion")
    return /^\$\(\([\d\s+*/%()-]+\)\)$/.test(part.text) ? () => part.text : giveUp("arithmetic with names");
  return rest.substitute(part.script ?? giveUp("a substitution"));
}
