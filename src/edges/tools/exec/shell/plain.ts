/**
 * Plain texts: simple commands with literal words, joined by nothing but `;`, `&&`, `||` and `|`, their input and output
 * redirected to nothing but literal names. One alone, without redirections, is started without a shell. The others are written
 * down again from their words, each in single quotes with its program's path, so that the shell gets what was judged and not
 * what was typed (comments, odd blanks and quoting tricks are gone).
 */
import type { CommandNode, Redirect, SyntaxNode } from "unbash";
import { readWord } from "./word.ts";

export type Joint = ";" | "\n" | "&&" | "||" | "|";

export interface Sequence {
  commands: string[][];
  /** For each command, its redirections as a shell reads them: `2>&1`, `> out.txt`. */
  redirects: string[][];
  /** One fewer than commands. */
  joints: Joint[];
}

/** `text` is what the script was read from: commands on lines of their own keep them. */
export function plainScript(script: SyntaxNode, text: string): Sequence | undefined {
  if (script.type !== "Script" || script.errors?.length || script.commands.length === 0) return undefined;
  const sequence: Sequence = { commands: [], redirects: [], joints: [] };
  for (const [i, statement] of script.commands.entries()) {
    if (statement.background) return undefined;
    const before = i > 0 ? text.slice(script.commands[i - 1]!.end, statement.pos) : "";
    if (i > 0) sequence.joints.push(before.includes("\n") ? "\n" : ";");
    if (!take(sequence, statement.command)) return undefined;
  }
  return sequence;
}

function take(sequence: Sequence, node: SyntaxNode): boolean {
  if (node.type === "AndOr") {
    return node.commands.every((part, i) => {
      if (i > 0) sequence.joints.push(node.operators[i - 1]!);
      return take(sequence, part);
    });
  }
  if (node.type === "Pipeline") {
    if (node.prefixes.length > 0) return false;
    return node.commands.every((part, i) => {
      if (i > 0) {
        if (node.operators[i - 1] !== "|") return false;
        sequence.joints.push("|");
      }
      return takeCommand(sequence, part);
    });
  }
  return takeCommand(sequence, node as CommandNode);
}

function takeCommand(sequence: Sequence, node: CommandNode): boolean {
  if (node.type !== "Command" || !node.name || node.prefix.length > 0) return false;
  const words: string[] = [];
  const redirects: string[] = [];
  for (const part of [node.name, ...node.suffix]) {
    if (part.type === "Redirect") {
      const text = redirection(part);
      if (text === undefined) return false;
      redirects.push(text);
      continue;
    }
    if (part.type !== "Word") return false;
    const { literal } = readWord(part);
    if (literal === undefined) return false;
    words.push(literal);
  }
  if (words[0] === "") return false;
  sequence.commands.push(words);
  sequence.redirects.push(redirects);
  return true;
}

export const TO_FILE = /^(>|>>|>\||<|&>|&>>)$/;

/** `2>&1`, `> /dev/stderr`: a copy of another descriptor, no file. `>& name` writes to a file instead, and is not plain. */
export function isDuplicate({ operator, target }: Redirect): boolean {
  if (operator === ">" || operator === ">>") return /^\/dev\/std(out|err)$/.test(target?.text ?? "");
  return (operator === ">&" || operator === "<&") && target !== undefined && /^[0-2]$/.test(target.text);
}

/** A redirection written down again, or undefined when it is more than input and output of a named file. */
function redirection(node: Redirect): string | undefined {
  const { operator, descriptor, target } = node;
  if (!target || (descriptor && descriptor.type !== "FileDescriptor")) return undefined;
  const from = descriptor ? String(descriptor.value) : "";
  if (isDuplicate(node)) return `${from}${operator}${target.text}`;
  // Descriptors above 2 are for other programs to find.
  if (!TO_FILE.test(operator) || !/^[0-2]?$/.test(from)) return undefined;
  const { literal } = readWord(target);
  return literal === undefined || literal === "" ? undefined : `${from}${operator} ${quote(literal)}`;
}

/** `paths` are the programs' files, one for each command. */
export function render({ commands, redirects, joints }: Sequence, paths: readonly string[]): string {
  return commands
    .map(([, ...args], i) => {
      return (
        joined(i === 0 ? undefined : joints[i - 1]) + [...[paths[i]!, ...args].map(quote), ...redirects[i]!].join(" ")
      );
    })
    .join("");
}

/** As few quotes as possible: people read this. */
export function quote(word: string): string {
  if (/^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:=@%+,-]*$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** What stands between two commands. */
function joined(joint: string | undefined): string {
  if (joint === undefined) return "";
  return { ";": "; ", "\n": "\n" }[joint] ?? ` ${joint} `;
}
