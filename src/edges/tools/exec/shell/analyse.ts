/**
 * What a shell text would run: every command the parser finds, wherever it hides (substitutions, here-documents, arithmetic,
 * function bodies, texts given to `bash -c`, `eval`, `env -S`), and the reasons why the whole is not a plain command.
 *
 * SHELL-1: programs a shell would start for the text ⊆ commands reported, or a reason says that the text is not understood,
 *     computed or evaluated (`CANNOT_KNOW`). test/gate compares with a real shell.
 * SHELL-2: any parse error, however deep, makes the whole text `unparsed`.
 * SHELL-3: nothing here touches the file system; programs are looked up afterwards.
 */
import { type Command, forEachChild, parse, type SyntaxNode } from "unbash";
import {
  SHELL_REASONS,
  type ShellCommand,
  type ShellReason,
  type ShellReasonKind,
  type ShellWord,
} from "../../../../core/contracts/index.ts";
import { defined } from "../../../../core/kit/index.ts";
import { assignmentReason, SPLITS_LINE } from "./assignment.ts";
import { fedBy } from "./fed.ts";
import { visitKind, type Walk } from "./kinds.ts";
import { plainScript, type Sequence } from "./plain.ts";
import { type Around, add, MOST_WORDS, NO_PROGRAM, push, quoted, readRedirects, type Scan } from "./scan.ts";
import { leavesUnexplained } from "./unexplained.ts";
import { type Fed, NOTHING, unwrap } from "./unwrap.ts";
import { setPositional, setting, takeSettings } from "./variables.ts";
import { guessWord, readWord, readWords, setVariable } from "./word.ts";

/** Nobody reads more before saying yes, and the parser takes quadratic time on some longer texts. */
const LONGEST = 32_768;

/** With one of these, commands may run that are not reported. */
export const CANNOT_KNOW: ReadonlySet<ShellReasonKind> = new Set([
  "unparsed",
  "computed-program",
  "hidden-code",
  "evaluates",
  "startup-file",
  "inline-code",
  "wrapper",
  "script",
  "load-assignment",
]);

export interface Analysis {
  commands: ShellCommand[];
  reasons: ShellReason[];
  /** Set when all of it is plain. */
  sequence?: Sequence;
}

/** Texts inside texts inside texts; deeper is nobody's honest command. */
const DEEPEST = 8;

/** How far one structure of the shell may stand inside another. The parser and every walk over its tree recurse. */
const DEEPEST_NODE = 100;
/** Substitutions and braces in one text: the parser reads ahead from each. */
const MOST_SUBSTITUTIONS = 400;
const MOST_BRACES = 2000;
/** Texts fed to commands (`<<END`) in one text: for each the parser looks at the rest again. A text to be written may quote many. */
const MOST_HEREDOCS = 1000;
export function analyse(text: string): Analysis {
  const scan: Scan = { commands: [], reasons: [], size: { words: 0, isFull: false }, variables: new Map() };
  const script = scanText(scan, text, []);
  if (scan.size.isFull) add(scan, "unparsed", "It has too many words to be judged.");
  const sequence = script && !scan.size.isFull ? plainScript(script, text) : undefined;
  if (scan.commands.length === 0 && scan.reasons.length === 0) {
    add(scan, "construct", "It starts no program.");
  }
  const weight = (r: ShellReason) => SHELL_REASONS.indexOf(r.kind);
  const seen = new Set<string>();
  const reasons = scan.reasons
    // Redirections of plain commands are facts of the commands; the gate judges each by its target.
    .filter((r) => !(sequence && r.kind === "redirection"))
    .filter((r) => !seen.has(r.text) && seen.add(r.text))
    .sort((a, b) => weight(a) - weight(b));
  return { commands: scan.commands, reasons, ...defined({ sequence }) };
}

function scanText(scan: Scan, text: string, within: string[]): SyntaxNode | undefined {
  if (within.length > DEEPEST) {
    add(scan, "unparsed", "Commands are nested too deeply to be judged.");
    return undefined;
  }
  if (text.length > LONGEST) {
    add(scan, "unparsed", `The command has ${text.length} characters; more than ${LONGEST} are not judged.`);
    return undefined;
  }
  if (scan.size.isFull) return undefined;
  if (hasMore(text, /`|[$<>]\(|\$\[|\$\{/g, MOST_SUBSTITUTIONS) || hasMore(text, /\{/g, MOST_BRACES)) {
    add(scan, "unparsed", "The command has too many substitutions or braces to be judged.");
    return undefined;
  }
  if (hasMore(text, /<</g, MOST_HEREDOCS)) {
    add(scan, "unparsed", "The command has too many here-documents to be judged.");
    return undefined;
  }
  try {
    const script = parse(text);
    visit(scan, script, { within, fed: NOTHING, depth: 0 });
    return script;
  } catch (error) {
    const why =
      error instanceof RangeError
        ? "Commands are nested too deeply to be judged."
        : `The text can't be parsed as shell: ${(error as Error).message}.`;
    add(scan, "unparsed", why);
    return undefined;
  }
}

function hasMore(text: string, what: RegExp, most: number): boolean {
  let count = 0;
  for (const _ of text.matchAll(what)) if (++count > most) return true;
  return false;
}

function visit(scan: Scan, node: SyntaxNode, outer: Around): void {
  if (scan.size.isFull) return;
  if (outer.depth > DEEPEST_NODE) {
    add(scan, "unparsed", "Commands are nested too deeply to be judged.");
    return;
  }
  const around: Around = { ...outer, depth: outer.depth + 1 };
  if (leavesUnexplained(node, around.inTest ?? false)) {
    add(scan, "unparsed", "The parser took something for plain text that a shell would not.");
  }
  const walk: Walk = {
    scan,
    around,
    down: (within = outer.within) => forEachChild(node, (child) => visit(scan, child, { ...around, within })),
    visit: (child, below) => visit(scan, child, below),
    command: (command) => visitCommand(scan, command, around),
  };
  visitKind(walk, node);
}

function visitCommand(scan: Scan, node: Command, { within, fed }: Around): void {
  const { variables } = scan;
  const assignments: ShellCommand["assignments"] = [];
  for (const child of node.prefix) {
    if (child.type !== "Assignment") continue;
    const value: ShellWord =
      child.value.type === "Word"
        ? readWord(child.value, variables)
        : { guess: child.value.elements.map((element) => guessWord(element, variables)).join(" ") };
    assignments.push({ name: child.name, value });
    setVariable(variables, child.name, value);
    // `IFS=, read a b` splits that line and nothing else.
    const isForRead = child.name === "IFS" && value.literal !== undefined && node.name?.text === "read";
    scan.reasons.push(isForRead ? SPLITS_LINE : assignmentReason(child.name, value));
  }
  const words: ShellWord[] = [];
  if (node.name) words.push(...readWords(node.name, variables));
  for (const argument of node.args) {
    if (words.length > MOST_WORDS) break;
    words.push(...(argument.type === "Word" ? readWords(argument, variables) : [setting(argument, variables)]));
  }
  takeSettings(words, variables);
  const redirects = readRedirects(node.redirects, variables);
  if (words.length === 0) {
    if (assignments.length || redirects.length) push(scan, { ...NO_PROGRAM, assignments, redirects, within });
    return;
  }
  report(scan, { words, assignments, redirects, within }, fedBy(node.redirects, fed));
}

/** Reports a command and whatever it would start in turn. */
function report(scan: Scan, command: ShellCommand, fed: Fed): void {
  if (!push(scan, fed.kind === "nothing" ? command : Object.assign(command, { isFed: true }))) return;
  const [program] = command.words;
  if (program!.literal === undefined) {
    add(scan, "computed-program", `Which program runs is computed: ${quoted(program!.guess)}.`);
  }
  if (command.within.length > DEEPEST) {
    add(scan, "unparsed", "Commands are nested too deeply to be judged.");
    return;
  }
  const inner = unwrap(command, fed);
  scan.reasons.push(...inner.reasons);
  for (const { text, label, sure, args } of inner.texts) {
    // What was only guessed to be shell may be anything: what it seems to run is kept, that it does not parse is no news.
    const into: Scan = sure ? { ...scan } : { ...scan, reasons: [] };
    if (args) {
      into.variables = new Map(scan.variables);
      setPositional(into.variables, args);
    }
    scanText(into, text, [...command.within, label]);
  }
  for (const { words, label } of inner.commands) {
    if (words.length === 0) continue;
    report(scan, { words, assignments: [], redirects: [], within: [...command.within, label] }, fed);
  }
}
