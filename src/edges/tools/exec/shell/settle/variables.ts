/**
 * The variables of a text that is settled, found before anything else is: how often each is set, and to what.
 *
 * SHELL-8: a variable's value becomes a word of a command only where the text sets it once, to plain text. Any other is only printed
 *     or compared, and only where every way through the text has set it before. Sums are made of numbers, and of variables
 *     that never hold anything else: bash evaluates what it finds in a sum. No sum may fail: its variable would keep what it held
 *     before, such as a secret, and the rest of the line would not run.
 */
import { type Assignment, type Command, type For, forEachChild, type Statement, type SyntaxNode } from "unbash";
import { readWord } from "../word.ts";
import { giveUp } from "./budget.ts";
import { countedBy } from "./counted.ts";

/** `plain`: set once, to a text that stands there. `number`: holds whole numbers only. `text`: anything. */
export type VariableKind = "plain" | "number" | "text";

/** Names that mean something to bash or to programs have capitals, or end like this. These with capitals mean nothing to either. */
const NAME =
  /^((?!histchars$)(?!.*_proxy$)[a-z][a-z0-9_]*|[A-Z]|DATE|TODAY|NOW|DAY|MONTH|YEAR|COUNT|TOTAL|NUM|NAME|FILE|FILES|DIR|LINE|RESULT|BRANCH|COMMIT|VERSION|SIZE)$/;
/** How often variables are set in one text. Finding out which are numbers takes longer than the text grows. */
const MOST_SET = 50;
/** Without a zero before it: bash takes 010 for 8, and can't read 08. */
const NUMBER = /^(0|[1-9]\d{0,8})$/;
/** A sum of numbers and names, as bash writes it. */
const SUM = /^\$\(\(([\w$ \t+*/%()-]*)\)\)$/;
/** One sign of a sum, with the blanks before it. */
const SIGN =
  /[ \t]*(?:(?<number>(?:0|[1-9]\d{0,8})(?!\d))|(?<name>\$?[a-z]\w*)|(?<step>\+\+|--)|(?<operator>\*\*|[-+*/%])|(?<bracket>[()]))/y;

export function isNumber(text: string | undefined): boolean {
  return text !== undefined && NUMBER.test(text);
}

export function isName(name: string): boolean {
  return NAME.test(name);
}

/** A statement that only sets variables. */
export function isSetting(node: SyntaxNode): node is Command {
  return node.type === "Command" && !node.name && node.prefix.length > 0 && node.redirects.length === 0;
}

/** `for NAME in $( … )`, whose rounds only running it can tell. */
export function isEach({ wordlist }: For): boolean {
  const [only, ...more] = wordlist ?? [];
  const [part, ...others] = only?.parts ?? [];
  return more.length + others.length === 0 && part?.type === "CommandExpansion" && countedBy(only!) === undefined;
}

/** `inherited`: variables every program gets already; setting one would change it for the programs of the text. */
export function survey(
  statements: readonly SyntaxNode[],
  inherited: readonly string[],
): ReadonlyMap<string, VariableKind> {
  const found = new Map<string, { value: Assignment["value"] | undefined; isTop: boolean }[]>();
  const loops = new Set<string>();
  let count = 0;
  const add = (name: string, value: Assignment["value"] | undefined, isTop: boolean) => {
    if (!isName(name) || inherited.includes(name)) giveUp("a name with a meaning");
    if (++count > MOST_SET) giveUp("too many variables");
    found.set(name, [...(found.get(name) ?? []), { value, isTop }]);
  };
  const look = (node: SyntaxNode, isTop: boolean): void => {
    if (isSetting(node)) for (const one of node.prefix) if (one.type === "Assignment") add(one.name, one.value, isTop);
    if (node.type === "Command" && node.name?.text === "read")
      for (const name of readNames(node)) add(name, undefined, false);
    if (node.type === "For" && isEach(node)) add(node.name.text, undefined, false);
    else if (node.type === "For") loops.add(node.name.text);
    forEachChild(node, (child) => look(child, false));
  };
  for (const one of statements) {
    const node = one.type === "Statement" ? (one as Statement).command : one;
    if (isSetting(node)) look(node, true);
    else look(one, false);
  }
  if ([...loops].some((name) => found.has(name))) giveUp("a loop's variable that is set elsewhere");
  return classified(found);
}

/** The variables that `read` fills. */
export function readNames({ args }: Command): string[] {
  return args.flatMap((word) => (word.text.startsWith("-") ? [] : [word.text]));
}

type Sources = ReadonlyMap<string, readonly { value: Assignment["value"] | undefined; isTop: boolean }[]>;

function classified(found: Sources): Map<string, VariableKind> {
  const kinds = new Map<string, VariableKind>();
  const text = ({ value }: { value: Assignment["value"] | undefined }) => (value?.type === "Word" ? value.text : "");
  // Numbers made of each other are numbers; one that isn't takes away those made of it.
  const numbers = new Set(found.keys());
  for (let before = -1; before !== numbers.size; ) {
    before = numbers.size;
    for (const name of numbers)
      if (
        !found
          .get(name)!
          .every((one) => NUMBER.test(text(one)) || isSum(text(one), { isNumber: (other) => numbers.has(other) }))
      )
        numbers.delete(name);
  }
  for (const [name, all] of found) {
    const [only, ...more] = all;
    const { value } = only!;
    const isPlain = more.length === 0 && only!.isTop && value?.type === "Word" && readWord(value).literal !== undefined;
    if (isPlain) kinds.set(name, "plain");
    else kinds.set(name, numbers.has(name) ? "number" : "text");
  }
  return kinds;
}

/** Bash itself gives up at a thousand. */
const DEEPEST = 20;

export interface SumNames {
  isNumber(name: string): boolean;
  /** What it holds, where that is known. Without it, what is divided by is not looked at. */
  readValue?(name: string): string | undefined;
}

/**
 * `$((i + 2))` where each name is known to be a number. Operands need an operator between them: bash puts `$y` in before it reads the
 * sum, so `x$y` may be the name of another variable, whose value it would evaluate. Brackets that don't match are no sum but `$( )`.
 * What is divided by is a number that is known and not 0, and an exponent one that is known: `5/n`, `2**(0-1)` may fail.
 */
export function isSum(text: string, { isNumber, readValue = () => "1" }: SumNames): boolean {
  const inner = SUM.exec(text)?.[1];
  if (inner === undefined) return false;
  let [depth, before] = [0, "operator" as "operator" | "name" | "value"];
  /** The operator that the next operand must not make fail, and whether one such has just been. */
  let [strict, wasStrict] = ["", false];
  for (let at = 0; at < inner.length; ) {
    SIGN.lastIndex = at;
    const { number, name, step, operator, bracket } = SIGN.exec(inner)?.groups ?? {};
    if (number !== undefined || name !== undefined) {
      const variable = name?.replace(/^\$/, "");
      if (before !== "operator" || (variable !== undefined && !isNumber(variable))) return false;
      const value = variable === undefined ? number : readValue(variable);
      if (strict !== "" && (value === undefined || (value === "0" && strict !== "**"))) return false;
      [wasStrict, strict] = [strict !== "", ""];
      before = name === undefined || name.startsWith("$") ? "value" : "name";
    } else if (step !== undefined) {
      // Behind a name it counts up, and the name remains an operand.
      if (before === "value" || strict !== "") return false;
      if (before === "name") before = "value";
    } else if (operator !== undefined) {
      if (before === "operator" && (strict !== "" || !/[+-]/.test(operator))) return false;
      // `1/2**64`: the power comes first, and may be anything.
      if (operator === "**" && wasStrict) return false;
      strict = /[*/%]/.test(operator) && operator !== "*" ? operator : "";
      wasStrict = false;
      before = "operator";
    } else if (bracket === "(") {
      if (before !== "operator" || strict !== "" || ++depth > DEEPEST) return false;
    } else if (bracket === ")") {
      if (before === "operator" || --depth < 0) return false;
      before = "value";
      wasStrict = false;
    } else if (inner.slice(at).trim() !== "") return false;
    else break;
    at = SIGN.lastIndex;
  }
  return depth === 0 && before !== "operator";
}
