/**
 * Settling a text: patterns are expanded, loops over known words unrolled, variables filled in, and the rest is written down again
 * from what was understood. What comes out is a text of our own making in which almost every word is literal, so that the
 * gate can hold its rules against it. It is only ever used to allow: whatever cannot be settled is judged as it was written.
 *
 * SHELL-4: each construct is on the list below or the text is not settled. Nothing of the source reaches the output unquoted.
 * SHELL-5: what was judged is what runs: the same tree is written twice, once with programs by name, once with their paths.
 * SHELL-6: a folder is entered only where it is in the agent's own folders and no link leads to it; when that fails, the text ends.
 */
import { lstat, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type AndOr,
  type Assignment,
  type Command,
  type For,
  type If,
  type ParsedScript,
  type Pipeline,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type While,
} from "unbash";
import { isDuplicate, quote, TO_FILE } from "../plain.ts";
import { findProgram } from "../programs.ts";
import { readWord } from "../word.ts";
import { type Running, withExec, withXargs } from "./found.ts";
import { builtin, HARMLESS_SETTINGS, isFree, LEAVES_FILES } from "./names.ts";
import {
  giveUp,
  OPEN,
  type Print,
  type Rest,
  type Settled,
  type State,
  settleOne,
  settleWord,
  Unsettled,
} from "./word.ts";

export interface SettledText {
  /** For judging: programs by their names. */
  judged: string;
  /** For running: programs by their paths. */
  run: string;
  /** The working directory of each command, in the order they are written. */
  places: string[];
}

export interface SettleWhere {
  cwd: string;
  home: string;
  roots?: readonly string[];
  path: string;
  /** Words git gets besides its own. */
  guard: (args: readonly string[]) => string[];
}

/** More commands than this are not an everyday command. */
const MOST_COMMANDS = 100;
export async function settle(text: string, where: SettleWhere): Promise<SettledText | undefined> {
  const script = parse(text);
  if (script.errors?.length || script.commands.length === 0) return undefined;
  try {
    const writer = new Writer(where);
    const state: State = { cwd: where.cwd, variables: new Map([["HOME", where.home]]) };
    const print = await writer.list(script.commands, state);
    // Patterns are expanded already: what a value holds is not to be taken for one.
    return { judged: print(false), run: `set -f\n${print(true)}`, places: writer.places };
  } catch (error) {
    if (error instanceof Unsettled) return undefined;
    throw error;
  }
}

class Writer {
  readonly places: string[] = [];
  private hasChanged = false;
  /** How often it mattered that nothing had. */
  private patterns = 0;
  /** Inside a branch or a loop that may not run: what is set there is not known afterwards. */
  private branches = 0;
  private readonly where: SettleWhere;

  constructor(where: SettleWhere) {
    this.where = where;
  }

  async list(statements: readonly Statement[], state: State): Promise<Print> {
    const prints: Print[] = [];
    for (const [i, { command, background }] of statements.entries()) {
      if (background) giveUp("a command in the background");
      const print = await this.node(command, state, { isLast: i === statements.length - 1, isStatement: true });
      if (print) prints.push(print);
    }
    if (prints.length === 0) giveUp("nothing to run");
    return (pinned) => prints.map((print) => print(pinned)).join("\n");
  }

  /** Undefined: nothing is left to run, because a value was only kept. */
  private async node(
    node: SyntaxNode,
    state: State,
    at: { isLast?: boolean; isStatement?: boolean } = {},
  ): Promise<Print | undefined> {
    switch (node.type) {
      case "Command":
        return this.command(node, state, at.isStatement ?? false);
      case "AndOr":
        return this.andOr(node, state, at.isLast ?? false);
      case "Pipeline":
        return this.pipeline(node, state);
      case "If":
        return this.branch(node, state);
      case "For":
        return this.loop(node, state);
      case "While":
        return this.reading(node, state);
      case "Subshell": {
        const body = await this.list(node.body.commands, copy(state));
        return (pinned) => `(\n${body(pinned)}\n)`;
      }
      case "BraceGroup": {
        const from = state.cwd;
        const body = await this.list(node.body.commands, state);
        if (state.cwd !== from) giveUp("cd in a group");
        return (pinned) => `{\n${body(pinned)}\n}`;
      }
      case "Redirected": {
        const tail = await this.redirects(node.redirects, state);
        this.places.push(state.cwd);
        const body = await this.node(node.command, state);
        return (pinned) => `${body!(pinned)} ${tail(pinned)}`;
      }
      case "TestCommand": {
        const { expression } = node;
        if (expression.type !== "TestUnary" || !/^-[fdesnz]$/.test(expression.operator)) return giveUp("[[ ]]");
        const operand = await settleOne(expression.operand, this.rest(state));
        this.places.push(state.cwd);
        const program = this.program("[");
        return (pinned) => `${program(pinned)} ${expression.operator} ${quote(operand)} ]`;
      }
      default:
        return giveUp(node.type);
    }
  }

  private async andOr({ commands, operators }: AndOr, state: State, isLast: boolean): Promise<Print> {
    const prints: Print[] = [];
    for (const [i, part] of commands.entries()) {
      const before = state.cwd;
      this.branches += i === 0 ? 0 : 1;
      const isOnWay = isLast && this.branches === 1 && operators.slice(0, i).every((one) => one === "&&");
      const isEntering = i > 0 && isOnWay && isCd(part);
      // Nothing comes after it that could stand in the wrong folder.
      const print = isEntering
        ? await this.enter(part as Command, state, commands[i - 1])
        : await this.node(part, state);
      this.branches -= i === 0 ? 0 : 1;
      if (!print || (i > 0 && !isEntering && state.cwd !== before)) giveUp("a value set on the way");
      if (state.cwd !== before && operators.slice(i).some((one) => one !== "&&")) giveUp("|| behind cd");
      prints.push(print!);
    }
    return (pinned) => prints.map((print, i) => (i === 0 ? "" : ` ${operators[i - 1]} `) + print(pinned)).join("");
  }

  private async pipeline({ prefixes, commands, operators }: Pipeline, state: State): Promise<Print> {
    if (prefixes.some(({ type }) => type !== "Negation") || prefixes.length > 1) giveUp("time");
    if (operators.some((one) => one !== "|")) giveUp("|&");
    const prints: Print[] = [];
    for (let i = 0; i < commands.length; i++) {
      const part = commands[i]!;
      const inner = copy(state);
      const found = await this.foundBy(part, commands[i + 1], state);
      if (found) {
        prints.push(found);
        i++;
        continue;
      }
      prints.push((await this.node(part, inner)) ?? giveUp("a value set in a pipe"));
      if (inner.cwd !== state.cwd) giveUp("cd in a pipe");
    }
    return (pinned) => (prefixes.length > 0 ? "! " : "") + prints.map((print) => print(pinned)).join(" | ");
  }

  /** `find | xargs`, as one command. */
  private async foundBy(find: SyntaxNode, xargs: SyntaxNode | undefined, state: State): Promise<Print | undefined> {
    if (!isCalled(find, "find") || !xargs || !isCalled(xargs, "xargs")) return undefined;
    const running = withXargs(await this.known(find, state), await this.known(xargs, state));
    if (!running) return undefined;
    this.places.push(state.cwd);
    return this.running(running, await this.redirects(xargs.redirects, state));
  }

  private running({ find, program: [name, ...words], end }: Running, tail: Print): Print {
    const [found, program] = [this.program("find"), this.program(name)];
    this.hasChanged ||= !LEAVES_FILES.test(name);
    const last = end === "+" ? "+" : "';'";
    return (pinned) =>
      `${[found(pinned), ...find.map(quote), "-exec", program(pinned), ...words.map(quote), "{}", last].join(" ")} ${tail(pinned)}`.trimEnd();
  }

  private async known({ args }: Command, state: State): Promise<string[]> {
    const words: string[] = [];
    for (const word of args) {
      const settled = word.type === "Word" ? await settleWord(word, this.rest(state)) : giveUp("an assignment");
      words.push(...("words" in settled ? settled.words : giveUp("a computed word")));
    }
    return words;
  }

  private async branch(node: If, state: State): Promise<Print> {
    this.branches++;
    const list = ({ commands }: { commands: readonly Statement[] }) => this.list(commands, state);
    const heads: [Print, Print][] = [[await list(node.clause), await list(node.then)]];
    for (const { clause, then } of node.elif) heads.push([await list(clause), await list(then)]);
    const other = node.else ? await list(node.else) : undefined;
    this.branches--;
    return (pinned) =>
      `${heads.map(([clause, then], i) => `${i === 0 ? "if" : "elif"} ${clause(pinned)}\nthen ${then(pinned)}`).join("\n")}\n${other ? `else ${other(pinned)}\n` : ""}fi`;
  }

  private async loop({ name, wordlist, body }: For, state: State): Promise<Print> {
    const variable = name.text;
    if (!wordlist || !isFree(variable)) return giveUp("a loop over what it was given");
    const lists: Settled[] = [];
    for (const word of wordlist) lists.push(await settleWord(word, this.rest(state)));
    this.branches++;
    const prints: Print[] = [];
    if (lists.every((one) => "words" in one)) {
      for (const value of lists.flatMap((one) => ("words" in one ? one.words : []))) {
        state.variables.set(variable, value);
        prints.push(await this.list(body.commands, state));
      }
      this.branches--;
      if (prints.length === 0) giveUp("a loop over nothing");
      return (pinned) => `{\n${prints.map((print) => print(pinned)).join("\n")}\n}`;
    }
    state.variables.set(variable, OPEN);
    const inner = await this.repeated(body.commands, state);
    this.branches--;
    return (pinned) =>
      `for ${variable} in ${lists.map((one) => written(one, pinned)).join(" ")}\ndo ${inner(pinned)}\ndone`;
  }

  /** `while read -r line`: what it reads is only known when it runs. */
  private async reading({ kind, clause, body }: While, state: State): Promise<Print> {
    const [only, ...more] = clause.commands;
    const read = only?.command;
    if (kind !== "while" || more.length > 0 || only?.background || read?.type !== "Command") return giveUp("while");
    const words = [read.name, ...read.args].map((word) => (word?.type === "Word" ? readWord(word).literal : undefined));
    if (words[0] !== "read" || read.prefix.length + read.redirects.length > 0) return giveUp("while");
    const names = words.slice(1).filter((word) => word !== "-r");
    if (names.length === 0 || !names.every((word) => word !== undefined && isFree(word))) return giveUp("read");
    this.places.push(state.cwd);
    this.branches++;
    for (const word of names) state.variables.set(word!, OPEN);
    const inner = await this.repeated(body.commands, state);
    this.branches--;
    return (pinned) => `while ${words.join(" ")}\ndo ${inner(pinned)}\ndone`;
  }

  /** A body that runs nobody knows how often: what one round writes, the next one's patterns would find. */
  private async repeated(statements: readonly Statement[], state: State): Promise<Print> {
    const before = this.patterns;
    const print = await this.list(statements, state);
    if (this.patterns > before && this.hasChanged) giveUp("a pattern in a loop that writes");
    return print;
  }

  private async command(node: Command, state: State, isStatement: boolean): Promise<Print | undefined> {
    if (!node.name) return this.keep(node, state, isStatement);
    const name = readWord(node.name).literal ?? giveUp("a program that is computed");
    if (name === "cd") return this.enter(node, state);
    if (this.places.push(state.cwd) > MOST_COMMANDS) giveUp("too many commands");
    const settings: string[] = [];
    for (const part of node.prefix)
      settings.push(part.type === "Assignment" ? await this.setting(part, state) : giveUp("a prefix"));
    const words: Settled[] = [];
    for (const argument of node.args)
      words.push(argument.type === "Word" ? await settleWord(argument, this.rest(state)) : giveUp("an assignment"));
    const tail = await this.redirects(node.redirects, state);
    const running = name === "find" && settings.length === 0 ? withExec(literals(words)) : undefined;
    if (running) return this.running(running, tail);
    this.hasChanged ||= !LEAVES_FILES.test(name);
    const quiet = builtin(name, words);
    if (quiet !== undefined) return (pinned) => `${pinned ? quiet : ":"} ${tail(pinned)}`;
    const program = this.program(name);
    const guarded = name === "git" ? this.guarded(words) : words;
    return (pinned) =>
      [...settings, program(pinned), ...(pinned ? guarded : words).map((word) => written(word, pinned)), tail(pinned)]
        .filter((piece) => piece !== "")
        .join(" ");
  }

  private guarded(words: readonly Settled[]): Settled[] {
    const args = words.flatMap((word) => ("words" in word ? word.words : giveUp("git with a computed word")));
    return [{ words: this.where.guard(args) }];
  }

  /** `name=value`: kept here when it is known, and written down when it is not. */
  private async keep(node: Command, state: State, isStatement: boolean): Promise<Print | undefined> {
    if (!isStatement || this.branches > 0 || node.redirects.length > 0) giveUp("a value set on the way");
    const prints: Print[] = [];
    for (const part of node.prefix) {
      if (part.type !== "Assignment" || part.append || part.index || part.value.type !== "Word" || !isFree(part.name))
        return giveUp("a value");
      const index = this.places.length;
      const value = part.value.text === "" ? { words: [""] } : await settleWord(part.value, this.rest(state));
      if ("words" in value) {
        // No pattern is expanded in a value.
        if (value.words.length !== 1 || /[*?[{]/.test(part.value.text)) giveUp("a value that is a pattern");
        state.variables.set(part.name, value.words[0]!);
        continue;
      }
      if (node.prefix.length > 1) giveUp("several values at once");
      this.places.splice(index, 0, state.cwd);
      state.variables.set(part.name, OPEN);
      prints.push((pinned) => `${part.name}=${value.open(pinned)}`);
    }
    return prints[0];
  }

  private async setting(part: Assignment, state: State): Promise<string> {
    if (part.append || part.index || part.value.type !== "Word") return giveUp("a setting");
    const value = part.value.text === "" ? "" : await settleOne(part.value, this.rest(state));
    const isHarmless = HARMLESS_SETTINGS.some(([names, values]) => names.test(part.name) && values.test(value));
    return isHarmless ? `${part.name}=${quote(value)}` : giveUp("a setting");
  }

  private async enter(node: Command, state: State, before?: SyntaxNode): Promise<Print> {
    if (before === undefined && this.branches > 0) giveUp("cd in a branch");
    const [word, ...more] = node.args;
    if (word?.type !== "Word" || more.length + node.prefix.length + node.redirects.length > 0) return giveUp("cd");
    const target = await settleOne(word, this.rest(state));
    if (target.startsWith("-")) giveUp("cd with an option");
    const path = resolve(state.cwd, target);
    const roots = [this.where.home, ...(this.where.roots ?? [])];
    if (!roots.some((root) => path === root || path.startsWith(`${root}/`))) giveUp("cd out");
    const stats = await lstat(path).catch(() => undefined);
    const isThere = stats?.isDirectory() && (await realpath(path).catch(() => "")) === path;
    if (
      !isThere &&
      (stats ||
        !(before && makes(before, target)) ||
        (await realpath(resolve(path, "..")).catch(() => "")) !== resolve(path, ".."))
    )
      giveUp("no such folder");
    this.places.push(state.cwd);
    state.cwd = path;
    // Where it comes first, what follows stands in this folder or is not run at all.
    return (pinned) => (pinned && before === undefined ? `{ cd ${quote(path)} || exit 1\n}` : `cd ${quote(path)}`);
  }

  private async redirects(redirects: readonly Redirection[], state: State): Promise<Print> {
    const out: Print[] = [];
    for (const node of redirects) {
      if (node.descriptor && node.descriptor.type !== "FileDescriptor") giveUp("a descriptor");
      const from = node.descriptor?.type === "FileDescriptor" ? String(node.descriptor.value) : "";
      if (!/^[0-2]?$/.test(from)) giveUp("a descriptor");
      if (node.type === "HereDoc") {
        const { text } = node.body;
        const isPlain = node.delimiter?.quoted || !/[$`\\]/.test(text);
        if (node.operator !== "<<" || !isPlain || from !== "" || !/^$|\n$/.test(text)) giveUp("a here-document");
        out.push(() => (text === "" ? "< /dev/null" : `<<< '${text.slice(0, -1).replaceAll("'", "'\\''")}'`));
      } else if (node.type === "HereString") {
        const settled = await settleWord(node.target ?? giveUp("no text"), this.rest(state));
        if (from !== "" || ("words" in settled && settled.words.length !== 1)) giveUp("a here-string");
        out.push((pinned) => `<<< ${written(settled, pinned)}`);
      } else if (isDuplicate(node)) out.push(() => `${from}${node.operator}${node.target!.text}`);
      else {
        if (!TO_FILE.test(node.operator)) giveUp(node.operator);
        const target = await settleOne(node.target ?? giveUp("no target"), this.rest(state));
        this.hasChanged ||= node.operator !== "<" && target !== "/dev/null";
        out.push(() => `${from}${node.operator} ${quote(target)}`);
      }
    }
    return (pinned) => out.map((print) => print(pinned)).join(" ");
  }

  private rest(state: State): Rest {
    return {
      state,
      mayHaveChanged: () => {
        this.patterns++;
        return this.hasChanged;
      },
      substitute: async (script: ParsedScript) => {
        const inner = await this.list(script.commands, copy(state));
        return (pinned) => `$(${inner(pinned)})`;
      },
    };
  }

  private program(name: string): Print {
    const found = name.includes("/") ? undefined : findProgram(name, this.where.path, this.where.cwd);
    if (!found?.trusted) return giveUp("no such program");
    return (pinned) => (pinned ? quote(found.path) : name === "[" ? name : quote(name));
  }
}

function copy({ cwd, variables }: State): State {
  return { cwd, variables: new Map(variables) };
}

function written(word: Settled, pinned: boolean): string {
  return "words" in word ? word.words.map(quote).join(" ") : word.open(pinned);
}

function literals(words: readonly Settled[]): string[] {
  return words.flatMap((word) => ("words" in word ? word.words : giveUp("find with a computed word")));
}

/** A command of this name, with nothing set and nothing fed to it. */
function isCalled(node: SyntaxNode, name: string): node is Command {
  if (node.type !== "Command" || node.name?.text !== name || node.prefix.length > 0) return false;
  return node.redirects.every(
    (redirect) => name === "xargs" && redirect.type === "Redirect" && redirect.operator !== "<",
  );
}

function isCd(node: SyntaxNode): boolean {
  return node.type === "Command" && node.name?.text === "cd";
}

/** `mkdir -p out && cd out`: the folder that is not there yet is the one just made. */
function makes(node: SyntaxNode, target: string): boolean {
  if (node.type !== "Command" || node.name?.text !== "mkdir" || node.prefix.length > 0) return false;
  return node.args.some((word) => word.type === "Word" && readWord(word).literal === target);
}
