/**
 * What settling makes of a text: a list of pipelines of simple commands, and of branches and loops with such lists in them. It is
 * written down twice, once for judging with programs by name, once for running with their paths, and it says itself which commands
 * the written text must consist of.
 *
 * For judging, a loop is written as what it does in two rounds: in the second one every command comes after every other. `read`,
 * tests for the end, variables that are set and words to the shell itself leave no trace there, apart from the commands inside them.
 */
import type { ShellCommand } from "../../../../../core/contracts/index.ts";
import { quote } from "../plain.ts";

/** A word that is known, or one that `echo` and `printf` may get although only running it can tell. */
export type SettledWord = string | { open: readonly WordPiece[] };
/** Text, a variable or a sum as the shell is to read it, or the output of commands. */
export type WordPiece =
  | { text: string }
  | { raw: string }
  | { sum: string }
  | { output: SettledList; isQuoted: boolean }
  /** `<( … )`, which a program reads like a file. */
  | { output: SettledList; isFile: true };

export type SettledRedirect =
  /** `from` is the descriptor: `2` in `2> file`. */
  { from: string; operator: string; target: string; isDescriptor?: true };

export interface SettledCommand {
  name: string;
  /** What runs: the program's file, or a word of the shell's own that is judged as the program of that name. */
  path: string;
  /** `LC_ALL=C`. Nothing is judged differently for that, so only the text that runs has it. */
  front?: readonly string[];
  /** The program that starts it, with its words: `timeout 10`. In the text that runs only. */
  starter?: readonly string[];
  words: readonly SettledWord[];
  /** The words when it runs, where it gets more than those that were judged. */
  run?: readonly string[];
  redirects: readonly SettledRedirect[];
}

export interface SettledPipeline {
  /** What stands before it; the first one's is not written. */
  joint: "\n" | "&&" | "||";
  /** `time` or `!`. Nothing is judged differently for that, so only the text that runs has it. */
  prefix?: "time" | "!";
  /** A word to the shell itself, without any command: `set -e`, `exit 1`. In the text that runs only. */
  said?: string;
  commands: readonly (SettledCommand | SettledCompound)[];
}

/** What consists of commands and may stand in a pipe. */
export type SettledCompound = SettledLoop | SettledEach | SettledGroup;

/** `for NAME in $( … ); do …; done`. */
export interface SettledEach {
  each: string;
  words: readonly WordPiece[];
  body: SettledList;
  redirects: readonly SettledRedirect[];
}

/** `{ …; }` or `( … )`. */
export interface SettledGroup {
  group: "{ }" | "( )";
  body: SettledList;
  redirects: readonly SettledRedirect[];
}

/** `while …; do …; done`, alone or in a pipe. */
export interface SettledLoop {
  loop: "while" | "until";
  /** What is run before each round, or the words of a `read`. `separator`: what it splits a line at. */
  test: SettledList | { read: readonly string[]; separator?: string };
  body: SettledList;
  redirects: readonly SettledRedirect[];
}

/** `NAME=value`, for a variable that is only printed or compared. */
export interface SettledSetting {
  set: string;
  value: readonly WordPiece[];
}

/** `if …; then …; elif …; then …; else …; fi`, never joined to what stands before or after it. */
export interface SettledIf {
  branches: readonly { test: SettledList; body: SettledList }[];
  otherwise?: SettledList;
}

/** `case … in …) …;; esac`. Patterns are written as they were. */
export interface SettledCase {
  word: readonly WordPiece[];
  items: readonly { patterns: readonly string[]; body: SettledList }[];
}

export type SettledList = readonly (SettledPipeline | SettledIf | SettledCase | SettledSetting)[];

export function written(list: SettledList, isPinned: boolean): string {
  return list
    .map((part, i) => {
      const line = i === 0 ? "" : "\n";
      if ("branches" in part) return line + writtenIf(part, isPinned);
      if ("set" in part) return line + writtenSetting(part, isPinned);
      if ("items" in part) return line + writtenCase(part, isPinned);
      const { joint, commands, prefix, said } = part;
      // For judging, what was left out can't be joined to.
      const isJoined = i > 0 && joint !== "\n" && (isPinned || isPipe(list[i - 1]!));
      const before = isJoined ? ` ${joint} ` : line;
      if (isPinned)
        return before + (prefix ? `${prefix} ` : "") + (said ?? commands.map((one) => writtenMember(one)).join(" | "));
      const simple = commands.filter(isSimple);
      const compound = commands.filter((one): one is SettledCompound => !isSimple(one));
      const pipe = simple.map((command) => writtenCommand(command, false)).join(" | ");
      const rest = compound.flatMap((one) => judgedParts(one).map((list) => written(list, false)));
      return (simple.length > 0 ? before + pipe : line) + rest.map((text) => `\n${text}`).join("");
    })
    .join("");
}

function isSimple(member: SettledCommand | SettledCompound): member is SettledCommand {
  return "name" in member;
}

/** Simple commands and nothing else. */
function isPipe(part: SettledList[number]): boolean {
  return "commands" in part && part.commands.length > 0 && part.commands.every(isSimple);
}

function writtenMember(member: SettledCommand | SettledCompound): string {
  if (isSimple(member)) return writtenCommand(member, true);
  const body = written(member.body, true);
  const end = (word: string) => [word, ...writtenRedirects(member.redirects)].join(" ");
  if ("group" in member)
    return member.group === "{ }" ? ["{", body, end("}")].join("\n") : ["(", body, end(")")].join("\n");
  if ("each" in member)
    return [`for ${member.each} in ${writtenOpen(member.words, true)}`, "do", body, end("done")].join("\n");
  const { loop, test } = member;
  const until = "read" in test ? writtenRead(test) : written(test, true);
  return [`${loop} ${until}`, "do", body, end("done")].join("\n");
}

function writtenRead({ read, separator }: { read: readonly string[]; separator?: string }): string {
  const before = separator === undefined ? [] : [`IFS='${separator.replaceAll("'", "'\\''")}'`];
  return [...before, "read", ...read].join(" ");
}

/** What it does, as lists one after the other: it opens its files, and goes through all the rest, a loop twice. */
function judgedParts(member: SettledCompound): SettledList[] {
  const files: SettledCommand = { name: "", path: "", words: [], redirects: member.redirects };
  const opened: SettledList[] = member.redirects.length > 0 ? [[{ joint: "\n", commands: [files] }]] : [];
  if ("group" in member) return [...opened, member.body];
  if ("each" in member) return [...opened, ...outputs(member.words), member.body, member.body];
  const round = [...("read" in member.test ? [] : [member.test]), member.body];
  return [...opened, ...round, ...round];
}

function writtenSetting({ set, value }: SettledSetting, isPinned: boolean): string {
  if (isPinned) return `${set}=${writtenOpen(value, true)}`;
  return outputs(value)
    .map((list) => written(list, false))
    .join("\n");
}

function writtenCase({ word, items }: SettledCase, isPinned: boolean): string {
  if (!isPinned)
    return [...outputs(word), ...items.map(({ body }) => body)].map((one) => written(one, false)).join("\n");
  const choices = items.map(({ patterns, body }) => `${patterns.join("|")})\n${written(body, true)}\n;;`);
  return [`case ${writtenOpen(word, true)} in`, ...choices, "esac"].join("\n");
}

function outputs(pieces: readonly WordPiece[]): SettledList[] {
  return pieces.flatMap((piece) => ("output" in piece ? [piece.output] : []));
}

function writtenIf({ branches, otherwise }: SettledIf, isPinned: boolean): string {
  if (!isPinned)
    return [...branches.flatMap(({ test, body }) => [test, body]), ...(otherwise ? [otherwise] : [])]
      .map((one) => written(one, false))
      .join("\n");
  return [
    ...branches.map(
      ({ test, body }, i) => `${i === 0 ? "if" : "elif"} ${written(test, true)}\nthen\n${written(body, true)}`,
    ),
    ...(otherwise ? [`else\n${written(otherwise, true)}`] : []),
    "fi",
  ].join("\n");
}

function writtenCommand(command: SettledCommand, isPinned: boolean): string {
  const { name, path, front = [], starter = [], words, run, redirects } = command;
  const args: readonly SettledWord[] = isPinned ? (run ?? words) : words;
  return [
    ...(isPinned ? [...front, ...starter.map(quote)] : []),
    ...(name === "" ? [] : [quote(isPinned ? path : name)]),
    ...args.map((word) => (typeof word === "string" ? quote(word) : writtenOpen(word.open, isPinned))),
    ...writtenRedirects(redirects),
  ].join(" ");
}

function writtenRedirects(redirects: readonly SettledRedirect[]): string[] {
  return redirects.map(({ from, operator, target, isDescriptor }) =>
    isDescriptor ? `${from}${operator}${target}` : `${from}${operator} ${quote(target)}`,
  );
}

function writtenOpen(pieces: readonly WordPiece[], isPinned: boolean): string {
  return pieces
    .map((piece) => {
      if ("text" in piece) return `'${piece.text.replaceAll("'", "'\\''")}'`;
      if ("raw" in piece) return piece.raw;
      // Which numbers it is made of makes no difference to the judgement.
      if ("sum" in piece) return isPinned ? `"${piece.sum}"` : '"$((0))"';
      const inner = `(${written(piece.output, isPinned)})`;
      if ("isFile" in piece) return `<${inner}`;
      return piece.isQuoted ? `"$${inner}"` : `$${inner}`;
    })
    .join("");
}

/** Whether these commands, read from the written text, are those of the tree: word by word, in the same order and depth. */
export function isSame(list: SettledList, read: readonly ShellCommand[]): boolean {
  const wanted = flat(list, 0);
  return wanted.length === read.length && wanted.every((one, i) => isSameCommand(one, read[i]!));
}

interface Nested {
  command: SettledCommand;
  depth: number;
}

/** A command stands before those inside its words. */
function flat(list: SettledList, depth: number): Nested[] {
  return list.flatMap((part) => {
    if ("branches" in part) {
      const { branches, otherwise = [] } = part;
      return [...branches.flatMap(({ test, body }) => [test, body]), otherwise].flatMap((one) => flat(one, depth));
    }
    if ("set" in part) return outputs(part.value).flatMap((one) => flat(one, depth));
    if ("items" in part)
      return [...outputs(part.word), ...part.items.map(({ body }) => body)].flatMap((one) => flat(one, depth));
    const { commands } = part;
    return [
      ...commands.flatMap((one) => (isSimple(one) ? flatCommand(one, depth) : [])),
      ...commands.flatMap((one) => (isSimple(one) ? [] : judgedParts(one).flatMap((round) => flat(round, depth)))),
    ];
  });
}

function flatCommand(command: SettledCommand, depth: number): Nested[] {
  const inner = command.words.flatMap((word) => (typeof word === "string" ? [] : outputs(word.open)));
  return [{ command, depth }, ...inner.flatMap((list) => flat(list, depth + 1))];
}

function isSameCommand({ command, depth }: Nested, { words, redirects, assignments, within }: ShellCommand): boolean {
  const [name, ...args] = words;
  return (
    within.length === depth &&
    assignments.length === 0 &&
    name!.literal === command.name &&
    args.length === command.words.length &&
    command.words.every((word, i) => args[i]!.literal === (typeof word === "string" ? word : undefined)) &&
    redirects.length === command.redirects.length &&
    command.redirects.every(({ operator, target, isDescriptor }, i) => {
      const other = redirects[i]!;
      return other.operator === operator && other.target.literal === target && other.isDescriptor === isDescriptor;
    })
  );
}
