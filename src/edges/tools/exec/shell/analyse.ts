/**
 * What a shell text would run: every command the parser finds, wherever it hides (substitutions, here-documents, arithmetic,
 * function bodies, texts given to `bash -c`, `eval`, `env -S`), and the reasons why the whole is not a plain command.
 *
 * SHELL-1: programs a shell would start for the text ⊆ commands reported, or a reason says that the text is not understood,
 *     computed or evaluated (`CANNOT_KNOW`). test/gate compares with a real shell.
 * SHELL-2: any parse error, however deep, makes the whole text `unparsed`.
 * SHELL-3: nothing here touches the file system; programs are looked up afterwards.
 */
import {
  type Assignment,
  type Command,
  type Function as FunctionNode,
  forEachChild,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from "unbash";
import {
  SHELL_REASONS,
  type ShellCommand,
  type ShellReason,
  type ShellReasonKind,
  type ShellWord,
} from "../../../../core/contracts/index.ts";
import { defined } from "../../../../core/kit/index.ts";
import { visibleLine } from "../../escape.ts";
import { assignmentReason, splitAssignment } from "./assignment.ts";
import { isDuplicate, plainScript, type Sequence } from "./plain.ts";
import { type Fed, HIDDEN, NOTHING, unwrap } from "./unwrap.ts";
import { guessWord, readWord, readWords, setVariable, type Variables } from "./word.ts";

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
/** The gate holds each word against every place it knows, so the words are counted before it gets them. */
const MOST_WORDS = 500;
const MOST_WORDS_IN_ALL = 2000;

interface Scan {
  commands: ShellCommand[];
  reasons: ShellReason[];
  /** Shared by all texts inside a text: what was only guessed to be shell counts as well. */
  size: { words: number; isFull: boolean };
  /** What the text has set so far, in the order it is written. */
  variables: Map<string, string>;
}

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
        : `The text cannot be read as shell: ${(error as Error).message}.`;
    add(scan, "unparsed", why);
    return undefined;
  }
}

function hasMore(text: string, what: RegExp, most: number): boolean {
  let count = 0;
  for (const _ of text.matchAll(what)) if (++count > most) return true;
  return false;
}

interface Around {
  within: string[];
  /** Inside `[[ ]]`, where patterns may hold characters that mean something elsewhere. */
  inTest?: true;
  /** What comes in on standard input here. */
  fed: Fed;
  depth: number;
}

function visit(scan: Scan, node: SyntaxNode, outer: Around): void {
  const { within } = outer;
  if (scan.size.isFull) return;
  if (outer.depth > DEEPEST_NODE) {
    add(scan, "unparsed", "Commands are nested too deeply to be judged.");
    return;
  }
  const around: Around = { ...outer, depth: outer.depth + 1 };
  if (leavesUnexplained(node, around.inTest ?? false)) {
    add(scan, "unparsed", "The parser took something for plain text that a shell would not.");
  }
  const down = (inner = within) => forEachChild(node, (child) => visit(scan, child, { ...around, within: inner }));
  switch (node.type) {
    case "Script":
      for (const error of node.errors ?? []) {
        add(scan, "unparsed", `The text cannot be read as shell: ${error.message}.`);
      }
      down();
      return;
    case "Command":
      visitCommand(scan, node, around);
      down();
      return;
    case "Pipeline":
      for (const prefix of node.prefixes) visit(scan, prefix, around);
      for (const [i, part] of node.commands.entries()) {
        visit(scan, part, i === 0 ? around : { within, fed: saidBy(node.commands[i - 1]!), depth: around.depth });
      }
      return;
    case "Redirected": {
      const fed = fedBy(node.redirects, around.fed);
      // A group, a loop or a branch writes and reads files like a command: `{ date; ls; } > report`.
      push(scan, { ...NO_PROGRAM, redirects: readRedirects(node.redirects, scan.variables), within });
      visit(scan, node.command, { within, fed, depth: around.depth });
      for (const redirect of node.redirects) visit(scan, redirect, around);
      return;
    }
    case "CommandExpansion":
    case "ArithmeticCommandExpansion":
      add(scan, "substitution", `The output of ${quoted(node.text)} becomes part of a command.`);
      if (!node.script) add(scan, "unparsed", `${quoted(node.text)} cannot be read as shell.`);
      down([...within, "$( )"]);
      return;
    case "ProcessSubstitution":
      add(scan, "substitution", `${quoted(node.text)} runs beside the command.`);
      if (!node.script) add(scan, "unparsed", `${quoted(node.text)} cannot be read as shell.`);
      down([...within, `${node.operator}( )`]);
      return;
    case "SimpleExpansion":
      add(scan, "expansion", `${quoted(node.text)} is only known when it runs.`);
      down();
      return;
    case "ParameterExpansion":
      expansionReasons(scan, node);
      down();
      return;
    case "Slice":
      add(scan, "evaluates", "A slice of a variable is computed, and computing evaluates text.");
      down();
      return;
    case "ArithmeticExpansion":
    case "ArithmeticCommand":
    case "ArithmeticFor": {
      const names = node.type === "ArithmeticFor" || mentionsName(node);
      // A name's value is itself evaluated, and an index in it may hold a substitution.
      add(scan, names ? "evaluates" : "expansion", "Arithmetic is computed when it runs.");
      down();
      return;
    }
    case "Assignment": {
      const index = node.index;
      if (index && !/^\d+$/.test(index.text)) add(scan, "evaluates", `The index in ${quoted(node.text)} is evaluated.`);
      down();
      return;
    }
    case "TestCommand":
      add(scan, "construct", "It is more than plain commands ([[ ]]).");
      visit(scan, node.expression, { ...around, inTest: true });
      return;
    case "TestBinary":
      if (/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
        add(scan, "evaluates", `[[ … ${node.operator} … ]] evaluates both sides.`);
      }
      down();
      return;
    case "TestUnary":
      if (node.operator === "-v" || node.operator === "-R") {
        add(scan, "evaluates", `[[ ${node.operator} … ]] evaluates an index.`);
      }
      down();
      return;
    case "HereDoc":
      heredocReason(scan, node);
      down();
      return;
    case "HereString":
      add(scan, "heredoc", "Text is fed to a command (<<<).");
      down();
      return;
    case "Redirect": {
      const target = node.target ? visibleLine(node.target.text) : "nothing";
      add(scan, "redirection", `It redirects: ${node.operator} ${target}`);
      if (!node.target) add(scan, "unparsed", "A redirection has no target.");
      if (node.descriptor?.type === "FileDescriptorVariable") {
        add(scan, "evaluates", `The descriptor {${visibleLine(node.descriptor.name)}} is a variable.`);
      }
      down();
      return;
    }
    case "Function":
      add(scan, "function", `It defines a function ${quoted(node.name.text)}.`);
      if (isForkBomb(node)) add(scan, "fork-bomb", `The function ${quoted(node.name.text)} starts itself without end.`);
      down([...within, `function ${visibleLine(node.name.text)}`]);
      return;
    case "Coproc":
      // bash 5.2 writes a coprocess inside $( ) down again with its name, and then takes the name for the program.
      add(scan, "evaluates", "coproc runs a command in the background.");
      down();
      return;
    case "Statement":
      if (node.background) add(scan, "construct", "It leaves a command in the background (&).");
      down();
      return;
    case "Time":
    case "Negation":
    case "If":
    case "For":
    case "Select":
    case "While":
    case "Case":
    case "Subshell":
    case "BraceGroup":
      add(scan, "construct", `It is more than plain commands (${CONSTRUCTS[node.type]}).`);
      if (node.type === "Select") add(scan, "evaluates", "select reads from its input.");
      if (node.type === "For") {
        const from = node.wordlist?.slice(0, MOST_WORDS).flatMap((word) => readWords(word, scan.variables));
        const all = scan.variables.get("@");
        for (const word of from ?? [all === undefined ? UNSEEN_WORD : { guess: all }])
          setVariable(scan.variables, node.name.text, word);
      }
      if (node.type === "For" && node.name.text.includes("["))
        add(scan, "evaluates", "The loop's variable has an index.");
      down();
      return;
    default:
      down();
  }
}

const CONSTRUCTS = {
  Time: "time",
  Negation: "!",
  If: "if",
  For: "for",
  Select: "select",
  While: "while",
  Case: "case",
  Subshell: "( )",
  BraceGroup: "{ }",
} as const;

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
    scan.reasons.push(assignmentReason(child.name, value));
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

const NO_PROGRAM: Pick<ShellCommand, "words" | "assignments"> = {
  words: [{ literal: "", guess: "" }],
  assignments: [],
};

function readRedirects(redirects: readonly Redirection[], variables: Variables): ShellCommand["redirects"] {
  return redirects.map((redirect) => ({
    operator: redirect.operator,
    target: redirect.type === "HereDoc" || !redirect.target ? { guess: "" } : readWord(redirect.target, variables),
    ...(redirect.type === "Redirect" && isDuplicate(redirect) ? { isDescriptor: true as const } : {}),
  }));
}

/** False when there are more words than can be judged; nothing is reported from then on. */
function push(scan: Scan, command: ShellCommand): boolean {
  const { size } = scan;
  const words = command.words.length + command.assignments.length + command.redirects.length;
  // A program has to be looked up for each command.
  size.words += words + 1;
  size.isFull ||= words > MOST_WORDS || size.words > MOST_WORDS_IN_ALL;
  if (!size.isFull) scan.commands.push(command);
  return !size.isFull;
}

/** Reports a command and whatever it would start in turn. */
function report(scan: Scan, command: ShellCommand, fed: Fed): void {
  if (!push(scan, command)) return;
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

/** What a redirection puts on standard input; the last one holds. */
function fedBy(redirects: readonly Redirection[], before: Fed): Fed {
  let fed = before;
  for (const redirect of redirects) {
    if (redirect.type === "HereDoc") {
      const { text } = redirect.body;
      fed = redirect.delimiter?.quoted || !/[$`\\]/.test(text) ? { kind: "shown", text } : HIDDEN;
    } else if (redirect.type === "HereString") {
      const text = redirect.target && readWord(redirect.target).literal;
      fed = text === undefined ? HIDDEN : { kind: "shown", text };
    } else if (redirect.operator.startsWith("<")) {
      fed = redirect.target?.text === "/dev/null" ? NOTHING : HIDDEN;
    }
  }
  return fed;
}

/** What the left side of a pipe says, when it is as plain as `echo words`. */
function saidBy(node: SyntaxNode): Fed {
  if (node.type !== "Command" || node.prefix.length > 0 || node.name?.text !== "echo") return HIDDEN;
  const said: string[] = [];
  for (const part of node.suffix) {
    const literal = part.type === "Word" ? readWord(part).literal : undefined;
    if (literal === undefined || literal.includes("\\") || literal.startsWith("-")) return HIDDEN;
    said.push(literal);
  }
  return { kind: "shown", text: said.join(" ") };
}

/** Builtins that set variables or the positional parameters. */
function takeSettings(words: readonly ShellWord[], variables: Map<string, string>): void {
  const [name, ...args] = words;
  if (/^(export|declare|typeset|local|readonly|env)$/.test(name?.guess ?? "")) {
    for (const { guess } of args) {
      const set = splitAssignment(guess);
      if (set) setVariable(variables, set.name, { guess: set.value });
    }
  } else if (name?.guess === "read" || name?.guess === "mapfile") {
    for (const { guess } of args) if (/^\w+$/.test(guess)) setVariable(variables, guess, UNSEEN_WORD);
  } else if (name?.guess === "printf" && args[0]?.guess === "-v" && args[1]) {
    setVariable(variables, args[1].guess, UNSEEN_WORD);
  } else if (name?.guess === "set" && args[0]?.guess === "--") setPositional(variables, args.slice(1));
}

const UNSEEN_WORD: ShellWord = { guess: "*", isUnseen: true };

function setPositional(variables: Map<string, string>, words: readonly ShellWord[]): void {
  for (const [i, word] of words.slice(0, 9).entries()) setVariable(variables, String(i + 1), word);
  for (const all of ["@", "*"]) setVariable(variables, all, { guess: words.map(({ guess }) => guess).join(" ") });
}

/** `NAME=value` given to export, alias and their like. */
function setting(argument: Assignment, variables: Variables): ShellWord {
  if (argument.value.type !== "Word" || argument.index) return { guess: argument.text.replace(/["']/g, "") };
  const value = readWord(argument.value, variables);
  const head = `${argument.name}${argument.append ? "+" : ""}=`;
  return { ...(value.literal === undefined ? {} : { literal: head + value.literal }), guess: head + value.guess };
}

function expansionReasons(scan: Scan, node: Extract<SyntaxNode, { type: "ParameterExpansion" }>): void {
  add(scan, "expansion", `${quoted(node.text)} is only known when it runs.`);
  if (node.prefix === "!") add(scan, "evaluates", `${quoted(node.text)} reads a variable whose name is computed.`);
  if (node.index && !/^([@*]|\d+)$/.test(node.index.text)) {
    add(scan, "evaluates", `The index in ${quoted(node.text)} is evaluated.`);
  }
  const { operation } = node;
  if (operation?.type === "Transform") add(scan, "evaluates", `${quoted(node.text)} evaluates the value again.`);
  if (operation?.type === "Unknown") add(scan, "unparsed", `${quoted(node.text)} is not understood.`);
}

function heredocReason(scan: Scan, node: Extract<SyntaxNode, { type: "HereDoc" }>): void {
  if (!node.delimiter || !node.closing) add(scan, "unparsed", "A here-document has no end.");
  if (!node.delimiter?.quoted && /[$`\\]/.test(node.body.text)) {
    add(scan, "heredoc-expansion", "A here-document is expanded before the command reads it; quote its delimiter.");
  } else add(scan, "heredoc", "Text is fed to a command (a here-document).");
}

/** The parser's double: a piece it calls plain text must hold nothing that a shell would act on. */
function leavesUnexplained(node: SyntaxNode, inTest: boolean): boolean {
  switch (node.type) {
    case "Word":
      return !node.parts && (ACTIVE.test(unescaped(node.text)) || (!inTest && SEPARATES.test(unescaped(node.text))));
    case "Literal":
    case "BraceExpansion":
    case "ExtendedGlob":
      return !("parts" in node && node.parts) && ACTIVE.test(unescaped(node.text));
    case "Command":
    case "For":
    case "Select":
    case "ArrayValue":
      return hasTouchingWords(node);
    case "HereDoc":
      return !node.delimiter?.quoted && !node.body.parts && ACTIVE_QUOTED.test(unescaped(node.body.text));
    case "ArithmeticWord":
      return !node.parts && /`|\$\(/.test(unescaped(node.value));
    default:
      return false;
  }
}

/** Two words without a blank between them are one word to a shell: `a<(x)` is not `a` and `<(x)`. */
function hasTouchingWords(node: SyntaxNode): boolean {
  let end = -1;
  let touches = false;
  forEachChild(node, (child) => {
    touches ||= child.pos === end && (child.type === "Word" || child.type === "Assignment");
    end = child.end;
  });
  return touches;
}

const ACTIVE = /`|\$[({[A-Za-z_0-9]|[<>]\(/;
const ACTIVE_QUOTED = /`|\$[({[A-Za-z_0-9]/;
const SEPARATES = /[;&|<>() \t\n"']/;

function unescaped(text: string): string {
  return text.replace(/\\[\s\S]/g, "");
}

function mentionsName(node: SyntaxNode): boolean {
  if (node.type === "ArithmeticWord" && !/^(\d+|0[xX][\da-fA-F]+)$/.test(node.value)) return true;
  if (node.type === "ArithmeticCommand" && !node.expression && node.body.trim() !== "") return true;
  let found = false;
  forEachChild(node, (child) => {
    found ||= mentionsName(child);
  });
  return found;
}

/** A function that calls itself from a pipeline or in the background. */
function isForkBomb(node: FunctionNode): boolean {
  const name = node.name.value;
  let callsItself = false;
  let splits = false;
  const look = (child: SyntaxNode): void => {
    if (child.type === "Command" && wordIs(child.name, name)) callsItself = true;
    if (child.type === "Pipeline" && child.commands.length > 1) splits = true;
    if (child.type === "Statement" && child.background) splits = true;
    if (child.type === "Subshell" || child.type === "CommandExpansion") splits = true;
    forEachChild(child, look);
  };
  look(node.body);
  return callsItself && splits;
}

function wordIs(word: Word | undefined, name: string): boolean {
  return word !== undefined && (word.value === name || guessWord(word) === name);
}

function add(scan: Scan, kind: ShellReasonKind, text: string): void {
  scan.reasons.push({ kind, text });
}

function quoted(text: string): string {
  const line = visibleLine(text);
  return line.length > 80 ? `${line.slice(0, 50)} […] ${line.slice(-25)}` : line;
}
