/** What is found in a shell text while it is read, and the bounds of that. */
import type { Redirection } from "unbash";
import type { ShellCommand, ShellReason, ShellReasonKind } from "../../../../core/contracts/index.ts";
import { visibleLine } from "../../escape.ts";
import { isDuplicate } from "./plain.ts";
import type { Fed } from "./unwrap.ts";
import { readWord, type Variables } from "./word.ts";

/** The gate holds each word against every place it knows, so the words are counted before it gets them. */
export const MOST_WORDS = 500;
const MOST_WORDS_IN_ALL = 2000;

export interface Scan {
  commands: ShellCommand[];
  reasons: ShellReason[];
  /** Shared by all texts inside a text: what was only guessed to be shell counts as well. */
  size: { words: number; isFull: boolean };
  /** What the text has set so far, in the order it is written. */
  variables: Map<string, string>;
}

export interface Around {
  within: string[];
  /** Inside `[[ ]]`, where patterns may hold characters that mean something elsewhere. */
  inTest?: true;
  /** What comes in on standard input here. */
  fed: Fed;
  depth: number;
}

export const NO_PROGRAM: Pick<ShellCommand, "words" | "assignments"> = {
  words: [{ literal: "", guess: "" }],
  assignments: [],
};

export function readRedirects(redirects: readonly Redirection[], variables: Variables): ShellCommand["redirects"] {
  return redirects.map((redirect) => ({
    operator: redirect.operator,
    target: redirect.type === "HereDoc" || !redirect.target ? { guess: "" } : readWord(redirect.target, variables),
    ...(redirect.type === "Redirect" && isDuplicate(redirect) ? { isDescriptor: true as const } : {}),
  }));
}

/** False when there are more words than can be judged; nothing is reported from then on. */
export function push(scan: Scan, command: ShellCommand): boolean {
  const { size } = scan;
  const words = command.words.length + command.assignments.length + command.redirects.length;
  // A program has to be looked up for each command.
  size.words += words + 1;
  size.isFull ||= words > MOST_WORDS || size.words > MOST_WORDS_IN_ALL;
  if (!size.isFull) scan.commands.push(command);
  return !size.isFull;
}

export function add(scan: Scan, kind: ShellReasonKind, text: string): void {
  scan.reasons.push({ kind, text });
}

export function quoted(text: string): string {
  const line = visibleLine(text);
  return line.length > 80 ? `${line.slice(0, 50)} […] ${line.slice(-25)}` : line;
}
