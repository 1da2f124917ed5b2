/**
 * Settling a text: patterns are expanded, a loop over known words is unrolled, and the rest is written down again from what was
 * understood. What comes out is a text we wrote ourselves, in which almost every word is literal, so that the gate can
 * hold its rules against it. It is only ever used to allow: a text that cannot be settled is judged as it was written.
 *
 * SHELL-4: a text is settled only if it consists of these, and of nothing else: pipelines of simple commands joined by `;`, `&&`,
 *     `||` and line breaks; `cd DIR` at the very beginning, before `&&`, `;` or a line break; `time` before a pipeline;
 *     `for NAME in WORDS; do …; done` on its own, not nested; `if …; then …; elif …; else …; fi` on its own, in such a loop or in
 *     another `if`; patterns;
 *     text that is fed to a command; `$( )` as a word of `echo` or `printf`; `find | xargs`; `xargs wc` behind a list of files;
 *     `type NAME` and `command -v NAME`.
 * SHELL-5: what was judged is what runs: one tree is written twice, and the text for judging is read again and compared with it.
 * SHELL-6: there is one folder for the whole text, inside the agent's own folders, and no link leads to it.
 */
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type AndOr,
  type Command,
  type For,
  type If,
  type ParsedScript,
  type Pipeline,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
} from "unbash";
import { isDuplicate, TO_FILE } from "../plain.ts";
import { findProgram } from "../programs.ts";
import { readWord } from "../word.ts";
import { giveUp, SettleBudget, Unsettled } from "./budget.ts";
import { countsFed, type FindAction, listsFiles, withExec, withXargs } from "./found.ts";
import { isLookup, lookedUp } from "./lookup.ts";
import type { SettledCommand, SettledIf, SettledList, SettledPipeline, SettledRedirect, SettledWord } from "./tree.ts";
import { type Round, settleOpen, settleText, settleWord, type WordContext } from "./word.ts";

export interface SettledText {
  /** The folder all of it runs in. */
  cwd: string;
  list: SettledList;
}

export interface SettleWhere {
  cwd: string;
  home: string;
  roots?: readonly string[];
  path: string;
  /** Words git gets besides its own. */
  guard: (args: readonly string[]) => string[];
}

/** Programs that leave files as they are, whatever their arguments. After any other one no pattern is expanded. */
const LEAVES_FILES =
  /^(ls|cat|tac|nl|head|tail|wc|grep|egrep|fgrep|echo|printf|cut|tr|test|\[|pwd|basename|dirname|realpath|stat|du|df|diff|cmp|comm|paste|seq|true|false|whoami|id|uname|which|type|command|jq|sha256sum|md5sum|sleep|fold|rev)$/;
/** Names that mean something to bash or to programs are longer or have capitals or underscores, but for this one. */
const LOOP_NAME = /^(?!histchars$)[a-z][a-z0-9]*$/;
/** The words of these are printed and nothing else. */
const PRINTS = /^(echo|printf)$/;

export async function settle(text: string, where: SettleWhere): Promise<SettledText | undefined> {
  const script = parse(text);
  if (script.errors?.length || script.commands.length === 0) return undefined;
  try {
    const budget = new SettleBudget();
    const { cwd, statements } = await entered(script.commands, where, budget);
    return { cwd, list: await new Settling(where, cwd, budget).script(statements) };
  } catch (error) {
    if (error instanceof Unsettled) return undefined;
    throw error;
  }
}

/**
 * Takes `cd DIR &&` and `cd DIR;` off the beginning, as often as they stand there. The folder is there, and the rest is started in it:
 * no `cd` runs that could fail and leave the rest where it was.
 */
async function entered(
  statements: readonly Statement[],
  where: SettleWhere,
  budget: SettleBudget,
): Promise<{ cwd: string; statements: readonly (Statement | AndOr)[] }> {
  let { cwd } = where;
  let [first, ...rest] = statements;
  for (; rest.length > 0 && !first!.background; [first, ...rest] = rest) {
    const target = readFolder(first!.command);
    if (target === undefined) break;
    budget.spend("look", 2);
    cwd = await folderAt(resolve(cwd, target), where);
  }
  const node = first!.command;
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

class Settling {
  private hasChanged = false;
  private readonly where: SettleWhere;
  private readonly cwd: string;
  private readonly budget: SettleBudget;

  constructor(where: SettleWhere, cwd: string, budget: SettleBudget) {
    this.where = where;
    this.cwd = cwd;
    this.budget = budget;
  }

  async script(statements: readonly (Statement | AndOr)[]): Promise<SettledList> {
    const out: SettledPart[] = [];
    for (const one of statements) {
      const node = one.type === "Statement" ? one.command : one;
      if (one.type === "Statement" && one.background) giveUp("a command in the background");
      out.push(...(node.type === "For" ? await this.loop(node) : await this.parts(node, {})));
    }
    return out;
  }

  private async loop({ name, wordlist, body }: For): Promise<SettledPart[]> {
    if (!wordlist?.length || !LOOP_NAME.test(name.text)) return giveUp("a loop of another kind");
    const values: string[] = [];
    for (const word of wordlist) values.push(...(await settleWord(word, this.around({}))));
    const out: SettledPart[] = [];
    for (const value of values) out.push(...(await this.list(body.commands, { round: { name: name.text, value } })));
    return out;
  }

  private async list(statements: readonly Statement[], at: At): Promise<SettledPart[]> {
    const out: SettledPart[] = [];
    for (const { command, background } of statements) {
      if (background) giveUp("a command in the background");
      out.push(...(await this.parts(command, at)));
    }
    return out;
  }

  private async parts(node: SyntaxNode, at: At): Promise<SettledPart[]> {
    return node.type === "If" && !at.isInside ? [await this.branch(node, at)] : this.joined(node, at);
  }

  /** Which way it goes is not known: every command of every branch is judged as one that runs, in the order of the text. */
  private async branch(node: If, at: At): Promise<SettledIf> {
    const branches: { test: SettledList; body: SettledList }[] = [];
    for (const { clause, then } of [node, ...node.elif])
      branches.push({ test: await this.list(clause.commands, at), body: await this.list(then.commands, at) });
    return node.else ? { branches, otherwise: await this.list(node.else.commands, at) } : { branches };
  }

  private async joined(node: SyntaxNode, at: At): Promise<SettledPipeline[]> {
    const parts = node.type === "AndOr" ? node.commands : [node];
    const out: SettledPipeline[] = [];
    for (const [i, part] of parts.entries()) {
      const joint = node.type === "AndOr" && i > 0 ? node.operators[i - 1]! : "\n";
      out.push({
        joint,
        ...(part.type === "Pipeline" && isTimed(part) ? { isTimed: true } : {}),
        commands: part.type === "Pipeline" ? await this.pipeline(part, at) : [await this.one(part, at)],
      });
    }
    return out;
  }

  private async pipeline({ prefixes, commands, operators }: Pipeline, at: At): Promise<SettledCommand[]> {
    const isMore = (prefixes.length > 0 && !isTimed({ prefixes })) || operators.some((one) => one !== "|");
    if (isMore || commands.length === 0) giveUp("more than a pipeline");
    const out: SettledCommand[] = [];
    for (let i = 0; i < commands.length; i++) {
      const found = await this.foundBy(commands[i]!, commands[i + 1], at);
      if (found) i++;
      out.push(found ?? (await this.one(commands[i]!, at, out)));
    }
    return out;
  }

  /** `before`: what it is fed by, in a pipe. */
  private async one(node: SyntaxNode, at: At, before: readonly SettledCommand[] = []): Promise<SettledCommand> {
    if (node.type !== "Command" || !node.name || node.prefix.length > 0) return giveUp(node.type);
    const name = readWord(node.name).literal ?? giveUp("a program that is computed");
    const path = this.program(isLookup(name) ? "which" : name);
    const words: SettledWord[] = [];
    const inner = (script: ParsedScript) => this.output(script, at);
    const mayBeOpen = PRINTS.test(name) && !at.isInside;
    for (const word of node.args) {
      if (word.type !== "Word") return giveUp("an assignment");
      words.push(...(await (mayBeOpen ? settleOpen(word, this.around(at), inner) : settleWord(word, this.around(at)))));
    }
    const redirects = this.redirects(node.redirects, at);
    const known = words.filter((word) => typeof word === "string");
    if (name === "find" && known.includes("-exec"))
      return this.running(withExec(known) ?? giveUp("find runs something"), redirects);
    if (isLookup(name)) {
      const names = lookedUp(name, known) ?? giveUp("more than a name");
      return { name: "which", path: name, words: names, run: known, redirects };
    }
    const counting = name === "xargs" ? countsFed(known) : undefined;
    if (counting) return this.counting(counting, { name, path, words, redirects }, before);
    this.hasChanged ||= !LEAVES_FILES.test(name);
    return { name, path, words, ...(name === "git" ? { run: this.where.guard(known) } : {}), redirects };
  }

  /** `xargs wc`, which may count the files of a list and nothing that another program makes up. */
  private counting(
    { options, words }: NonNullable<ReturnType<typeof countsFed>>,
    xargs: SettledCommand,
    before: readonly SettledCommand[],
  ): SettledCommand {
    const isFed = [...before, xargs].some(({ redirects }) => redirects.some(({ operator }) => /^</.test(operator)));
    if (isFed || !listsFiles(before)) return giveUp("names that nobody has listed");
    return { ...xargs, words: [...options, "wc", ...words], run: [...options, this.program("wc"), ...words] };
  }

  /** Commands whose output becomes part of a word: no loop in them, and no output of others. */
  private async output({ commands, errors }: ParsedScript, at: At): Promise<SettledList> {
    if (errors?.length || commands.length === 0) giveUp("nothing to run");
    return this.list(commands, { ...at, isInside: true });
  }

  /** `find | xargs`, as one command. */
  private async foundBy(find: SyntaxNode, xargs: SyntaxNode | undefined, at: At): Promise<SettledCommand | undefined> {
    if (!isCalled(find, "find") || !xargs || !isCalled(xargs, "xargs") || find.redirects.length > 0) return undefined;
    const words: string[][] = [[], []];
    for (const [i, { args }] of [find, xargs].entries())
      for (const word of args)
        words[i]!.push(...(await settleWord(word.type === "Word" ? word : giveUp("an assignment"), this.around(at))));
    const running = withXargs(words[0]!, words[1]!) ?? giveUp("xargs with more to it");
    return this.running(running, this.redirects(xargs.redirects, at));
  }

  private running({ find, program, end }: FindAction, redirects: SettledRedirect[]): SettledCommand {
    const [name, ...more] = program;
    const [path, inner] = [this.program("find"), this.program(name)];
    this.hasChanged ||= !LEAVES_FILES.test(name);
    const words = [...find, "-exec", name, ...more, "{}", end];
    return { name: "find", path, words, run: [...find, "-exec", inner, ...more, "{}", end], redirects };
  }

  private redirects(redirects: readonly Redirection[], at: At): SettledRedirect[] {
    return redirects.map((node) => {
      if (node.descriptor && node.descriptor.type !== "FileDescriptor") return giveUp("a descriptor");
      const from = node.descriptor ? String(node.descriptor.value) : "";
      if (!/^[0-2]?$/.test(from)) return giveUp("a descriptor");
      if (node.type === "HereDoc") {
        const { text } = node.body;
        if (node.operator !== "<<" || !node.delimiter?.quoted || from !== "" || !/^$|\n$/.test(text))
          return giveUp("a here-document");
        this.budget.spend("letter", text.length);
        // A here-string ends its text with a line break, too.
        return text === "" ? { from, operator: "<", target: "/dev/null" } : fed(text.slice(0, -1));
      }
      const word = node.target ?? giveUp("no target");
      if (node.type === "HereString")
        return from === "" ? fed(settleText(word, this.around(at))) : giveUp("a descriptor");
      if (isDuplicate(node)) return { from, operator: node.operator, target: word.text, isDescriptor: true };
      const target = settleText(word, this.around(at));
      if (!TO_FILE.test(node.operator) || target === "") return giveUp("a redirection of another kind");
      this.hasChanged ||= node.operator !== "<" && target !== "/dev/null";
      return { from, operator: node.operator, target };
    });
  }

  private around({ round }: At): WordContext {
    return { cwd: this.cwd, budget: this.budget, round, mayHaveChanged: this.hasChanged };
  }

  private program(name: string): string {
    this.budget.countCommand();
    const found = name.includes("/") ? undefined : findProgram(name, this.where.path, this.cwd);
    return found?.trusted ? found.path : giveUp("no such program");
  }
}

type SettledPart = SettledList[number];

/** `time` and nothing else before it: it prints how long the pipeline took. */
function isTimed({ prefixes }: Pick<Pipeline, "prefixes">): boolean {
  const [prefix, ...more] = prefixes;
  return prefix?.type === "Time" && prefix.posix === undefined && more.length === 0;
}

/** Where a command stands. */
interface At {
  round?: Round;
  /** Its output becomes part of a word. */
  isInside?: true;
}

function fed(target: string): SettledRedirect {
  return { from: "", operator: "<<<", target };
}

/** A command of this name with nothing set for it, and nothing fed to it. */
function isCalled(node: SyntaxNode, name: string): node is Command {
  if (node.type !== "Command" || node.name?.text !== name || node.prefix.length > 0) return false;
  return node.redirects.every((redirect) => redirect.type === "Redirect" && redirect.operator !== "<");
}
