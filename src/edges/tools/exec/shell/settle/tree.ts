/**
 * What settling makes of a text: a list of pipelines of simple commands, and of branches with such lists in them. It is written down
 * twice, once for judging with programs by name, once for running with their paths, and it says itself which commands the written
 * text must consist of.
 */
import type { ShellCommand } from "../../../../../core/contracts/index.ts";
import { quote } from "../plain.ts";

/** A word that is known, or one that `echo` and `printf` may get although only running it can tell. */
export type SettledWord = string | { open: readonly WordPiece[] };
/** Text, a variable or a sum as the shell is to read it, or the output of commands. */
export type WordPiece = { text: string } | { raw: string } | { output: SettledList; isQuoted: boolean };

export type SettledRedirect =
  /** `from` is the descriptor: `2` in `2> file`. */
  { from: string; operator: string; target: string; isDescriptor?: true };

export interface SettledCommand {
  name: string;
  /** What runs: the program's file, or a word of the shell's own that is judged as the program of that name. */
  path: string;
  words: readonly SettledWord[];
  /** The words when it runs, where it gets more than those that were judged. */
  run?: readonly string[];
  redirects: readonly SettledRedirect[];
}

export interface SettledPipeline {
  /** What stands before it; the first one's is not written. */
  joint: "\n" | "&&" | "||";
  /** The shell is to say how long it took. Nothing is judged differently for that, so only the text that runs has it. */
  isTimed?: true;
  commands: readonly SettledCommand[];
}

/** `if …; then …; elif …; then …; else …; fi`, never joined to what stands before or after it. */
export interface SettledIf {
  branches: readonly { test: SettledList; body: SettledList }[];
  otherwise?: SettledList;
}

export type SettledList = readonly (SettledPipeline | SettledIf)[];

export function written(list: SettledList, isPinned: boolean): string {
  return list
    .map((part, i) => {
      if ("branches" in part) return (i === 0 ? "" : "\n") + writtenIf(part, isPinned);
      const { joint, commands, isTimed } = part;
      const between = joint === "\n" ? "\n" : ` ${joint} `;
      const before = (i === 0 ? "" : between) + (isTimed && isPinned ? "time " : "");
      return before + commands.map((command) => writtenCommand(command, isPinned)).join(" | ");
    })
    .join("");
}

function writtenIf({ branches, otherwise }: SettledIf, isPinned: boolean): string {
  return [
    ...branches.map(
      ({ test, body }, i) => `${i === 0 ? "if" : "elif"} ${written(test, isPinned)}\nthen\n${written(body, isPinned)}`,
    ),
    ...(otherwise ? [`else\n${written(otherwise, isPinned)}`] : []),
    "fi",
  ].join("\n");
}

function writtenCommand({ name, path, words, run, redirects }: SettledCommand, isPinned: boolean): string {
  const args: readonly SettledWord[] = isPinned ? (run ?? words) : words;
  return [
    quote(isPinned ? path : name),
    ...args.map((word) => (typeof word === "string" ? quote(word) : writtenOpen(word.open, isPinned))),
    ...redirects.map(({ from, operator, target, isDescriptor }) =>
      isDescriptor ? `${from}${operator}${target}` : `${from}${operator} ${quote(target)}`,
    ),
  ].join(" ");
}

function writtenOpen(pieces: readonly WordPiece[], isPinned: boolean): string {
  return pieces
    .map((piece) => {
      if ("text" in piece) return `'${piece.text.replaceAll("'", "'\\''")}'`;
      if ("raw" in piece) return piece.raw;
      const inner = `$(${written(piece.output, isPinned)})`;
      return piece.isQuoted ? `"${inner}"` : inner;
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
    return part.commands.flatMap((command) => [
      { command, depth },
      ...command.words.flatMap((word) =>
        typeof word === "string"
          ? []
          : word.open.flatMap((piece) => ("output" in piece ? flat(piece.output, depth + 1) : [])),
      ),
    ]);
  });
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
