/**
 * The one folder a text runs in: `cd DIR` at its beginning, and `git -C DIR` where nothing else in the text names a file.
 */
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { AndOr, Command, Pipeline, Statement, SyntaxNode } from "unbash";
import { isDuplicate } from "../plain.ts";
import { readWord } from "../word.ts";
import { giveUp, type SettleBudget } from "./budget.ts";
import type { SettleWhere } from "./settle.ts";

export interface Entered {
  cwd: string;
  statements: readonly (Statement | AndOr)[];
  /** The git command whose `-C DIR` was taken off: it is started in DIR instead. */
  git?: Command;
}

/**
 * Takes `cd DIR &&` and `cd DIR;` off the beginning, as often as they stand there. The folder is there, and the rest is started in it:
 * no `cd` runs that could fail and leave the rest where it was.
 */
export async function entered(
  statements: readonly Statement[],
  where: SettleWhere,
  budget: SettleBudget,
): Promise<Entered> {
  let { cwd } = where;
  let [first, ...rest] = unwrapped(statements);
  const piped = rest.length === 0 && !first!.background ? groupElsewhere(first!.command) : undefined;
  if (piped) {
    budget.spend("look", 2);
    cwd = await folderAt(resolve(cwd, piped.folder), where);
    return { cwd, statements: [{ ...first!, command: piped.pipeline }] };
  }
  for (; rest.length > 0 && !first!.background; [first, ...rest] = rest) {
    const target = readFolder(first!.command);
    if (target === undefined) break;
    budget.spend("look", 2);
    cwd = await folderAt(resolve(cwd, target), where);
  }
  const node = first!.command;
  if (rest.length === 0 && !first!.background) {
    const git = gitElsewhere(node);
    if (git) return { cwd: await folderAt(resolve(cwd, git.folder), where), statements: [first!], git: git.command };
  }
  if (node.type !== "AndOr" || first!.background) return { cwd, statements: [first!, ...rest] };
  let { commands, operators } = node;
  for (; operators[0] === "&&"; commands = commands.slice(1), operators = operators.slice(1)) {
    const target = readFolder(commands[0]!);
    if (target === undefined) break;
    budget.spend("look", 2);
    cwd = await folderAt(resolve(cwd, target), where);
  }
  return { cwd, statements: [{ ...node, commands, operators }, ...rest] };
}

/** A text that is one group or one subshell does the same without it: nothing comes after it. */
function unwrapped(statements: readonly Statement[]): readonly Statement[] {
  const [only, ...more] = statements;
  if (only === undefined || more.length > 0 || only.background) return statements;
  const { command } = only;
  return command.type === "Subshell" || command.type === "BraceGroup" ? unwrapped(command.body.commands) : statements;
}

/** Programs that only pass on what they are fed, with options alone. */
const PASSES_ON = /^(head|tail|wc|sort|uniq|cat|nl)$/;

/** `(cd DIR && …) | …`: the others name no file, so all of it may run in DIR. A `cd` behind the first stays, and is none of a settled text. */
function groupElsewhere(node: SyntaxNode): { pipeline: Pipeline; folder: string } | undefined {
  if (node.type !== "Pipeline" || node.prefixes.length > 0) return undefined;
  const [first, ...others] = node.commands;
  const group = first?.type === "Redirected" ? first.command : first;
  if (group?.type !== "Subshell" || others.length === 0 || !others.every(isLoose)) return undefined;
  const isHere =
    first?.type !== "Redirected" || first.redirects.every((one) => one.type === "Redirect" && isDuplicate(one));
  const [statement, ...rest] = group.body.commands;
  if (!isHere || statement === undefined || statement.background) return undefined;
  const { command } = statement;
  const [cd, ...behind] = command.type === "AndOr" ? command.commands : [command];
  const folder = readFolder(cd!);
  if (folder === undefined || behind.length + rest.length === 0) return undefined;
  const operators = command.type === "AndOr" ? command.operators : [];
  if (operators.length > 0 && operators[0] !== "&&") return undefined;
  const left =
    command.type === "AndOr"
      ? [{ ...statement, command: { ...command, commands: behind, operators: operators.slice(1) } }]
      : [];
  const inner = { ...group, body: { ...group.body, commands: [...left, ...rest] } };
  const head = first?.type === "Redirected" ? { ...first, command: inner } : inner;
  return { pipeline: { ...node, commands: [head, ...others] }, folder };
}

/** A program that passes on what it is fed and names no file. */
function isLoose(node: SyntaxNode): boolean {
  return (
    node.type === "Command" &&
    PASSES_ON.test(node.name?.text ?? "") &&
    node.prefix.length + node.redirects.length === 0 &&
    node.args.every(({ text }) => /^(-[A-Za-z0-9]+|\d+)$/.test(text))
  );
}

/** `git -C DIR …`, alone or before programs that name no file. It follows links on its way up, so there is no `..` in DIR. */
function gitElsewhere(node: SyntaxNode): { command: Command; folder: string } | undefined {
  const [command, ...others] = node.type === "Pipeline" && node.prefixes.length === 0 ? node.commands : [node];
  if (command?.type !== "Command" || command.name?.text !== "git" || command.prefix.length > 0) return undefined;
  const [option, word] = command.args;
  const folder = option?.text === "-C" && word?.type === "Word" ? readWord(word).literal : undefined;
  if (folder === undefined || !/^[A-Za-z0-9._][\w./ -]*$/.test(folder) || /(^|\/)\.\.(\/|$)/.test(folder))
    return undefined;
  return others.every(isLoose) && command.redirects.length === 0 ? { command, folder } : undefined;
}

/** DIR of a plain `cd DIR`. */
function readFolder(node: SyntaxNode): string | undefined {
  if (node.type !== "Command" || node.name?.text !== "cd") return undefined;
  const [word, ...more] = node.args;
  if (word?.type !== "Word" || more.length + node.prefix.length + node.redirects.length > 0) return undefined;
  const target = readWord(word).literal;
  return target === undefined || target === "" || /^[-~]/.test(target) ? undefined : target;
}

async function folderAt(path: string, { home, roots = [] }: SettleWhere): Promise<string> {
  if (![home, ...roots].some((root) => path === root || path.startsWith(`${root}/`))) giveUp("cd out");
  const [real, stats] = await Promise.all([realpath(path), stat(path)]).catch(() => giveUp("no such folder"));
  return real === path && stats.isDirectory() ? path : giveUp("a link on the way");
}
