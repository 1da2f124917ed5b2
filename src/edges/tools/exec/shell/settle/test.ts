/**
 * `[ ]`, `test` and `[[ ]]`. What is compared may be known only when it runs. Such a word is quoted, so that it stays one word, and stands
 * beside no test for a file: whether a file is there that nobody has named is nothing to find out.
 */
import type { Assignment, TestCommand, Word } from "unbash";
import { giveUp } from "./budget.ts";
import type { SettledWord, WordPiece } from "./tree.ts";

export const TESTS = /^(test|\[)$/;
/** Operators that compare texts and numbers, and those that join. */
const COMPARES = /^(-[nzao]|-(eq|ne|lt|le|gt|ge)|!)$/;
const FILE_TESTS = /^-[efdsrwxLh]$/;

/** `-n "$NAME"` and nothing else: only whether it is empty is seen. With a word too many it is shown in a message. */
export function isEmptyTest(name: string, args: readonly (Word | Assignment)[]): boolean {
  const [operator, , ...more] = args;
  const end = more.map((word) => word.text).join(" ");
  return /^-[nz]$/.test(operator?.text ?? "") && args.length > 1 && end === (name === "[" ? "]" : "");
}

export function asksIfEmpty(expression: TestCommand["expression"]): boolean {
  return expression.type === "TestUnary" && /^-[nz]$/.test(expression.operator);
}

/** The words of a test, as they are judged and run. */
export function checkedTest(words: readonly SettledWord[]): SettledWord[] {
  const isOpen = words.some((word) => typeof word !== "string");
  const others = words.filter((word) => typeof word === "string" && /^(-.|!$)/.test(word)) as string[];
  if (isOpen && !others.every((word) => COMPARES.test(word) || /^-\d+$/.test(word))) giveUp("a file nobody has named");
  // Of two words side by side the first one would be taken for the test.
  const isLoose = words.some((word, i) => typeof word !== "string" && isOperand(words[i + 1]) && words[i + 1] !== "]");
  if (isLoose) giveUp("a test that nobody has seen");
  return words.map((word) => (typeof word === "string" ? word : { open: word.open.map(quotedPiece) }));
}

function isOperand(word: SettledWord | undefined): boolean {
  return word !== undefined && (typeof word !== "string" || !/^(=|==|!=|-[ao]|-(eq|ne|lt|le|gt|ge))$/.test(word));
}

function quotedPiece(piece: WordPiece): WordPiece {
  if ("output" in piece) return { ...piece, isQuoted: true };
  return "raw" in piece && !piece.raw.startsWith('"') ? { raw: `"${piece.raw}"` } : piece;
}

/** One word, not several: what a pattern stands for is not compared. */
export function asOne(words: readonly SettledWord[]): SettledWord {
  const [only, ...more] = words;
  return more.length > 0 || only === undefined ? giveUp("a pattern that is compared") : only;
}

/** What stands in `[[ ]]` as words of `[`, where both mean the same. */
export function testWords(expression: TestCommand["expression"]): (string | Word)[] {
  if (expression.type === "TestUnary") {
    const { operator, operand } = expression;
    if (!FILE_TESTS.test(operator) && !/^-[nz]$/.test(operator)) return giveUp("another test");
    return [operator, operand];
  }
  if (expression.type === "TestBinary") {
    const { operator, left, right } = expression;
    const isText = /^(=|==|!=)$/.test(operator);
    // On the right of `==` a pattern is one, and of `-eq` a name is a variable.
    if (isText ? hasPattern(right) : !/^-(eq|ne|lt|le|gt|ge)$/.test(operator)) return giveUp("another comparison");
    return [left, operator === "==" ? "=" : operator, right];
  }
  if (expression.type !== "TestLogical") return giveUp("a test of tests");
  const joint = expression.operator === "&&" ? "-a" : "-o";
  return expression.operands.flatMap((one, i) => [...(i > 0 ? [joint] : []), ...testWords(one)]);
}

function hasPattern(word: Word): boolean {
  return (word.parts ?? []).some(({ type }) => type === "Glob" || type === "ExtendedGlob" || type === "BraceExpansion");
}
