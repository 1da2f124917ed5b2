/**
 * What each kind of the shell's syntax means for the judgement: a row for every kind the parser knows. A kind that a later parser adds
 * does not compile until it has its row.
 */
import { type Command, type Function as FunctionNode, forEachChild, type SyntaxNode, type Word } from "unbash";
import type { ShellReasonKind } from "../../../../core/contracts/index.ts";
import { visibleLine } from "../../escape.ts";
import { fedBy, saidBy } from "./fed.ts";
import { type Around, add, MOST_WORDS, NO_PROGRAM, push, quoted, readRedirects, type Scan } from "./scan.ts";
import { UNSEEN_WORD } from "./variables.ts";
import { guessWord, readWords, setVariable } from "./word.ts";

type Kind = SyntaxNode["type"];
type NodeOf<K extends Kind> = Extract<SyntaxNode, { type: K }>;

/** The way on from one node. */
export interface Walk {
  scan: Scan;
  around: Around;
  /** Looks at everything below the node, inside the given texts instead of its own. */
  down(within?: string[]): void;
  visit(node: SyntaxNode, around: Around): void;
  /** Reports a command and what it would start. */
  command(node: Command): void;
}

type Visitors = { readonly [K in Kind]: (walk: Walk, node: NodeOf<K>) => void };

/** Means nothing by itself; what stands in it may. */
const inside = ({ down }: Walk): void => down();

/** A reason, and on with what stands in it. */
function because(walk: Walk, kind: ShellReasonKind, text: string): void {
  add(walk.scan, kind, text);
  walk.down();
}

const VISITORS: Visitors = {
  Script({ scan, down }, { errors = [] }) {
    for (const error of errors) add(scan, "unparsed", `The text can't be parsed as shell: ${error.message}.`);
    down();
  },
  Statement({ scan, down }, { background }) {
    if (background) add(scan, "construct", "It leaves a command in the background (&).");
    down();
  },
  Command({ command, down }, node) {
    command(node);
    down();
  },
  Pipeline({ around, visit }, { prefixes, commands }) {
    const { within, depth } = around;
    for (const prefix of prefixes) visit(prefix, around);
    for (const [i, part] of commands.entries()) {
      visit(part, i === 0 ? around : { within, fed: saidBy(commands[i - 1]!), depth });
    }
  },
  Redirected({ scan, around, visit }, { redirects, command }) {
    const { within, depth } = around;
    const fed = fedBy(redirects, around.fed);
    // A group, a loop or a branch writes and reads files like a command: `{ date; ls; } > report`.
    push(scan, { ...NO_PROGRAM, redirects: readRedirects(redirects, scan.variables), within });
    visit(command, { within, fed, depth });
    for (const redirect of redirects) visit(redirect, around);
  },
  Redirect: visitRedirect,
  HereDoc: visitHereDoc,
  HereString: (walk) => because(walk, "heredoc", "Text is fed to a command (<<<)."),

  CommandExpansion: visitSubstitution,
  ArithmeticCommandExpansion: visitSubstitution,
  ProcessSubstitution({ scan, around, down }, { text, script, operator }) {
    add(scan, "substitution", `${quoted(text)} runs alongside the command.`);
    if (!script) add(scan, "unparsed", `${quoted(text)} can't be parsed as shell.`);
    down([...around.within, `${operator}( )`]);
  },
  SimpleExpansion: (walk, { text }) => because(walk, "expansion", `${quoted(text)} is only known when it runs.`),
  ParameterExpansion: visitParameter,
  Slice: (walk) =>
    because(walk, "evaluates", "The bounds of a slice are computed, and the shell may run code while it computes."),
  ArithmeticExpansion: visitArithmetic,
  ArithmeticCommand: visitArithmetic,
  ArithmeticFor: visitArithmetic,
  Assignment({ scan, down }, { index, text }) {
    if (index && !/^\d+$/.test(index.text)) add(scan, "evaluates", `The index in ${quoted(text)} is evaluated.`);
    down();
  },

  TestCommand({ scan, around, visit }, { expression }) {
    add(scan, "construct", "It uses more than plain commands ([[ ]]).");
    visit(expression, { ...around, inTest: true });
  },
  TestBinary({ scan, down }, { operator }) {
    if (/^-(eq|ne|lt|le|gt|ge)$/.test(operator)) add(scan, "evaluates", `[[ … ${operator} … ]] evaluates both sides.`);
    down();
  },
  TestUnary({ scan, down }, { operator }) {
    if (operator === "-v" || operator === "-R") add(scan, "evaluates", `[[ ${operator} … ]] evaluates an index.`);
    down();
  },

  Function({ scan, around, down }, node) {
    const { text } = node.name;
    add(scan, "function", `It defines a function ${quoted(text)}.`);
    if (isForkBomb(node)) add(scan, "fork-bomb", `The function ${quoted(text)} starts copies of itself without end.`);
    down([...around.within, `function ${visibleLine(text)}`]);
  },
  // bash 5.2 writes a coprocess inside $( ) down again with its name, and then takes the name for the program.
  Coproc: (walk) => because(walk, "evaluates", "coproc runs a command in the background."),
  Time: construct("time"),
  Negation: construct("!"),
  If: construct("if"),
  While: construct("while"),
  Case: construct("case"),
  Subshell: construct("( )"),
  BraceGroup: construct("{ }"),
  For: visitFor,
  Select(walk) {
    add(walk.scan, "construct", "It uses more than plain commands (select).");
    because(walk, "evaluates", "select reads from its input.");
  },

  AndOr: inside,
  AnsiCQuoted: inside,
  ArithmeticBinary: inside,
  ArithmeticGroup: inside,
  ArithmeticTernary: inside,
  ArithmeticUnary: inside,
  ArithmeticWord: inside,
  ArrayValue: inside,
  BraceExpansion: inside,
  CaseItem: inside,
  CaseModification: inside,
  CompoundList: inside,
  Default: inside,
  DoubleQuoted: inside,
  Elif: inside,
  ExtendedGlob: inside,
  FileDescriptor: inside,
  FileDescriptorVariable: inside,
  Glob: inside,
  HereDocBody: inside,
  HereDocDelimiter: inside,
  Literal: inside,
  LocaleString: inside,
  Names: inside,
  Remove: inside,
  Replace: inside,
  SingleQuoted: inside,
  TestGroup: inside,
  TestLogical: inside,
  TestNot: inside,
  Transform: inside,
  Unknown: inside,
  Word: inside,
};

export function visitKind(walk: Walk, node: SyntaxNode): void {
  (VISITORS[node.type] as (walk: Walk, node: SyntaxNode) => void)(walk, node);
}

function construct(shown: string): (walk: Walk) => void {
  return (walk) => because(walk, "construct", `It uses more than plain commands (${shown}).`);
}

function visitFor({ scan, down }: Walk, { name, wordlist }: NodeOf<"For">): void {
  add(scan, "construct", "It uses more than plain commands (for).");
  const from = wordlist?.slice(0, MOST_WORDS).flatMap((word) => readWords(word, scan.variables));
  const all = scan.variables.get("@");
  for (const word of from ?? [all === undefined ? UNSEEN_WORD : { guess: all }])
    setVariable(scan.variables, name.text, word);
  if (name.text.includes("[")) add(scan, "evaluates", "The loop's variable has an index.");
  down();
}

function visitRedirect({ scan, down }: Walk, { target, operator, descriptor }: NodeOf<"Redirect">): void {
  add(scan, "redirection", `It redirects: ${operator} ${target ? visibleLine(target.text) : "nothing"}`);
  if (!target) add(scan, "unparsed", "A redirection has no target.");
  if (descriptor?.type === "FileDescriptorVariable") {
    add(scan, "evaluates", `The descriptor {${visibleLine(descriptor.name)}} is a variable.`);
  }
  down();
}

function visitSubstitution(
  { scan, around, down }: Walk,
  { text, script }: NodeOf<"CommandExpansion" | "ArithmeticCommandExpansion">,
): void {
  add(scan, "substitution", `The output of ${quoted(text)} becomes part of a command.`);
  if (!script) add(scan, "unparsed", `${quoted(text)} can't be parsed as shell.`);
  down([...around.within, "$( )"]);
}

function visitArithmetic(
  walk: Walk,
  node: NodeOf<"ArithmeticExpansion" | "ArithmeticCommand" | "ArithmeticFor">,
): void {
  const names = node.type === "ArithmeticFor" || mentionsName(node);
  // A name's value is itself evaluated, and an index in it may hold a substitution.
  because(walk, names ? "evaluates" : "expansion", "Arithmetic is computed when it runs.");
}

function visitParameter({ scan, down }: Walk, node: NodeOf<"ParameterExpansion">): void {
  add(scan, "expansion", `${quoted(node.text)} is only known when it runs.`);
  if (node.prefix === "!") add(scan, "evaluates", `${quoted(node.text)} reads a variable whose name is computed.`);
  if (node.index && !/^([@*]|\d+)$/.test(node.index.text)) {
    add(scan, "evaluates", `The index in ${quoted(node.text)} is evaluated.`);
  }
  const { operation } = node;
  if (operation?.type === "Transform") add(scan, "evaluates", `${quoted(node.text)} evaluates the value again.`);
  if (operation?.type === "Unknown") add(scan, "unparsed", `${quoted(node.text)} is not understood.`);
  down();
}

function visitHereDoc({ scan, down }: Walk, node: NodeOf<"HereDoc">): void {
  if (!node.delimiter || !node.closing) add(scan, "unparsed", "A here-document has no end.");
  if (!node.delimiter?.quoted && /[$`\\]/.test(node.body.text)) {
    add(scan, "heredoc-expansion", "A here-document is expanded before the command reads it; quote its delimiter.");
  } else add(scan, "heredoc", "Text is fed to a command (a here-document).");
  down();
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
