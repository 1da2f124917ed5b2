/**
 * Settling a text: patterns are expanded, a loop over known words is unrolled, and the rest is written down again from what was
 * understood. What comes out is a text we wrote ourselves, in which almost every word is literal, so that the gate can
 * hold its rules against it. It is only ever used to allow: a text that cannot be settled is judged as it was written.
 *
 * SHELL-4: a text is settled only if it consists of these, and of nothing else: pipelines of simple commands joined by `;`, `&&`,
 *     `||` and line breaks; `cd DIR` at the very beginning, before `&&`, `;` or a line break; `time` or `!` before a pipeline;
 *     `for NAME in WORDS; do …; done` on its own, not nested; `if …; then …; elif …; else …; fi` on its own, in a loop or in
 *     another `if`; `while` and `until` with commands or `read` before each round; `NAME=value` (SHELL-8); patterns; `{a,b}` and
 *     `{1..9}`; text that is fed to a command; `$( )`, sums and variables as words of programs that print or compare them; `[[ ]]`
 *     where `[ ]` means the same; `case`; `<( )` as a file of programs that read; `find | xargs`; `xargs wc` behind a list of files; `type NAME` and `command -v NAME`;
 *     `{ }` and `( )`, and what stands in them (SHELL-9).
 * SHELL-5: what was judged is what runs: one tree is written twice, and the text for judging is read again and compared with it.
 * SHELL-6: there is one folder for the whole text, inside the agent's own folders, and no link leads to it.
 * SHELL-9: a group, a subshell, a loop with a redirection or in a pipe is judged by its parts, and its files like those of a command. What
 *     stands before a command and changes nothing about the judgement (`LC_ALL=C`, `timeout 10`), and words to the shell itself (`set -e`,
 *     `exit 1`), come from closed lists and are in the text that runs only.
 */
import { resolve } from "node:path";
import {
  type AndOr,
  type BraceGroup,
  type Case,
  type Command,
  type For,
  type If,
  type ParsedScript,
  type Pipeline,
  parse,
  type Redirection,
  type Statement,
  type Subshell,
  type SyntaxNode,
  type TestCommand,
  type While,
  type Word,
} from "unbash";
import { defined } from "../../../../../core/kit/index.ts";
import { isDuplicate, TO_FILE } from "../plain.ts";
import { findProgram } from "../programs.ts";
import { readWord } from "../word.ts";
import { giveUp, SettleBudget, Unsettled } from "./budget.ts";
import { countedBy } from "./counted.ts";
import { entered } from "./folder.ts";
import { countsFed, type FindAction, listsFiles, withExec, withXargs } from "./found.ts";
import { readFront, readLimit } from "./front.ts";
import { isLookup, lookedUp } from "./lookup.ts";
import { readBefore } from "./read-line.ts";
import { asksIfEmpty, asOne, checkedTest, isEmptyTest, TESTS, testWords } from "./test.ts";
import { saidToShell } from "./to-shell.ts";
import type {
  SettledCase,
  SettledCommand,
  SettledEach,
  SettledGroup,
  SettledIf,
  SettledList,
  SettledLoop,
  SettledPipeline,
  SettledRedirect,
  SettledWord,
  WordPiece,
} from "./tree.ts";
import { isEach, isName, isSetting, survey, type VariableKind } from "./variables.ts";
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
  /** The names of the variables that its programs get. */
  inherited: readonly string[];
  /** Words git gets besides its own. */
  guard: (args: readonly string[]) => string[];
  /** Started in the folder that its `-C` names. */
  git?: Command;
}

/** Programs that leave files as they are, whatever their arguments. After any other one no pattern is expanded. */
const LEAVES_FILES =
  /^(ls|cat|tac|nl|head|tail|wc|grep|egrep|fgrep|echo|printf|cut|tr|test|\[|pwd|basename|dirname|realpath|stat|du|df|diff|cmp|comm|paste|seq|true|false|whoami|id|uname|which|type|command|jq|sha256sum|md5sum|sleep|fold|rev)$/;
/** Programs to which what a group or a loop feeds them is text, besides those. */
const TAKES_TEXT = /^(sort|uniq|tee)$/;
/** Programs that take `<( … )` for a file to read. */
const READS_OUTPUT = /^(diff|comm|cmp|cat|paste|join|sort|wc|head|tail|grep|uniq)$/;
/** Of `case`: names with stars in them, in quotes or not. */
const PATTERN = /^("[\w .*?-]+"|'[\w .*?-]+'|[\w.*?-]+)$/;
/** The words of these are printed or compared, and nothing else. */
const TAKES_OPEN = /^(echo|printf|basename|dirname|test|\[)$/;

export async function settle(text: string, where: SettleWhere): Promise<SettledText | undefined> {
  const script = parse(text);
  if (script.errors?.length || script.commands.length === 0) return undefined;
  try {
    const budget = new SettleBudget();
    const { cwd, statements, git } = await entered(script.commands, where, budget);
    const settling = new Settling({ ...where, cwd, ...defined({ git }) }, budget, survey(statements, where.inherited));
    return { cwd, list: await settling.script(statements) };
  } catch (error) {
    if (error instanceof Unsettled) return undefined;
    throw error;
  }
}

class Settling {
  private hasChanged = false;
  private readonly where: SettleWhere;
  private readonly budget: SettleBudget;
  private readonly kinds: ReadonlyMap<string, VariableKind>;
  private readonly values = new Map<string, string>();
  /** Variables that are set by now, whichever way the text went. */
  private certain: ReadonlySet<string> = new Set();

  constructor(where: SettleWhere, budget: SettleBudget, kinds: ReadonlyMap<string, VariableKind>) {
    this.where = where;
    this.budget = budget;
    this.kinds = kinds;
  }

  async script(statements: readonly (Statement | AndOr)[]): Promise<SettledList> {
    const out: SettledPart[] = [];
    for (const one of statements) {
      const node = one.type === "Statement" ? one.command : one;
      if (one.type === "Statement" && one.background) giveUp("a command in the background");
      const isUnrolled = node.type === "For" && !isEach(node);
      out.push(...(isUnrolled ? await this.loop(node, {}) : await this.parts(node, {})));
    }
    return out;
  }

  /** `made`: files that its own redirections make before its patterns are read. */
  private async loop({ name, wordlist, body }: For, at: At, made: readonly string[] = []): Promise<SettledPart[]> {
    if (!wordlist?.length || !isName(name.text) || at.isLooped) return giveUp("a loop of another kind");
    const values: string[] = [];
    for (const word of wordlist) values.push(...(countedBy(word) ?? (await settleWord(word, this.around(at, made)))));
    this.hasChanged ||= made.length > 0;
    const out: SettledPart[] = [];
    const round = (value: string): At => ({ round: { name: name.text, value }, isLooped: true });
    for (const value of values) out.push(...(await this.list(body.commands, round(value))));
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
    if (at.isInside) return this.joined(node, at);
    if (isSetting(node)) return this.settings(node, at);
    if (node.type === "Case") return [await this.choice(node, at)];
    const said = saidToShell(node);
    if (said !== undefined) return [{ joint: "\n", said, commands: [] }];
    return node.type === "If" ? [await this.branch(node, at)] : this.joined(node, at);
  }

  private async choice({ word, items }: Case, at: At): Promise<SettledCase> {
    const out: { patterns: string[]; body: SettledList }[] = [];
    const compared = await this.value(word, at);
    const before = this.certain;
    const ends: ReadonlySet<string>[] = [];
    for (const { pattern, body, terminator } of items) {
      const patterns = pattern.map(({ text }) => (PATTERN.test(text) ? text : giveUp("another pattern")));
      if (terminator !== undefined && terminator !== ";;") giveUp("a way on to the next");
      this.certain = before;
      out.push({ patterns, body: await this.list(body.commands, at) });
      ends.push(this.certain);
    }
    const takesAll = out.some(({ patterns }) => patterns.includes("*"));
    this.certain = inAll(takesAll ? ends : [...ends, before]);
    return { word: compared, items: out };
  }

  private async settings({ prefix }: Command, at: At): Promise<SettledPart[]> {
    const out: SettledPart[] = [];
    for (const one of prefix) {
      if (one.type !== "Assignment" || one.append || one.index || one.value.type !== "Word") return giveUp("a list");
      const { name, value } = one;
      if (this.kinds.get(name) === "plain") this.values.set(name, settleText(value, this.around(at)));
      // Those that are filled in are set as well: what `$?` says afterwards is theirs.
      out.push({ set: name, value: await this.value(value, at) });
      this.certain = new Set([...this.certain, name]);
    }
    return out;
  }

  /** What a variable gets that is only printed or compared. */
  private async value(word: Word, at: At): Promise<readonly WordPiece[]> {
    if (word.text === "") return [{ text: "" }];
    const [first, ...more] = await settleOpen(word, this.around(at), (script) => this.output(script, at));
    if (more.length > 0 || first === undefined) return giveUp("a pattern as a value");
    return typeof first === "string" ? [{ text: first }] : first.open;
  }

  /**
   * The body is gone through twice, because in its second round files may have changed. What it sets is forgotten afterwards: there may be
   * no round, no file to read, or a pipe that keeps its variables apart.
   */
  private async rounds({ kind, clause, body }: While, redirects: readonly Redirection[], at: At): Promise<SettledLoop> {
    const connected = this.redirects(redirects, at);
    const before = this.certain;
    const inside: At = { ...at, isLooped: true };
    for (let round = 1; ; round++) {
      const line = readBefore(clause);
      // Where it can't read at all it fails and sets nothing, so behind `until` nothing is certain.
      if (line && kind === "while") this.certain = new Set([...before, ...line.read]);
      const test = line ?? (await this.list(clause.commands, inside));
      const loop = { loop: kind, test, body: await this.list(body.commands, inside), redirects: connected };
      this.certain = before;
      if (round === 2) return loop;
    }
  }

  /** `for NAME in $( … )`: its variable is only printed or compared. Gone through twice, and forgotten, as with `while`. */
  private async each({ name, wordlist, body }: For, redirects: readonly Redirection[], at: At): Promise<SettledEach> {
    if (at.isLooped) return giveUp("a loop in a loop");
    const connected = this.redirects(redirects, at);
    const words = await this.value(wordlist![0]!, at);
    const before = this.certain;
    for (let round = 1; ; round++) {
      this.certain = new Set([...before, name.text]);
      const list = await this.list(body.commands, { ...at, isLooped: true });
      this.certain = before;
      if (round === 2) return { each: name.text, words, body: list, redirects: connected };
    }
  }

  /** `{ }`, `( )`, and a loop or a branch that has redirections or stands in a pipe. What it sets is forgotten afterwards. */
  private async group(node: Grouped, redirects: readonly Redirection[], at: At): Promise<SettledGroup> {
    const wasChanged = this.hasChanged;
    const connected = this.redirects(redirects, at);
    const before = this.certain;
    let body: SettledList;
    if (node.type === "For") {
      const made = connected.filter(isMade).map(({ target }) => resolve(this.where.cwd, target));
      this.hasChanged = wasChanged;
      body = await this.loop(node, at, made);
    } else if (node.type === "If") body = [await this.branch(node, at)];
    else if (node.type === "Case") body = [await this.choice(node, at)];
    else body = await this.list(node.body.commands, at);
    this.certain = before;
    return { group: node.type === "Subshell" ? "( )" : "{ }", body, redirects: connected };
  }

  /** Which way it goes is not known: every command of every branch is judged as one that runs, in the order of the text. */
  private async branch(node: If, at: At): Promise<SettledIf> {
    const branches: { test: SettledList; body: SettledList }[] = [];
    const ends: ReadonlySet<string>[] = [];
    for (const { clause, then } of [node, ...node.elif]) {
      const test = await this.list(clause.commands, at);
      const tested = this.certain;
      branches.push({ test, body: await this.list(then.commands, at) });
      ends.push(this.certain);
      this.certain = tested;
    }
    const otherwise = node.else && (await this.list(node.else.commands, at));
    this.certain = inAll([...ends, this.certain]);
    return { branches, ...defined({ otherwise }) };
  }

  private async joined(node: SyntaxNode, at: At): Promise<SettledPipeline[]> {
    const parts = node.type === "AndOr" ? node.commands : [node];
    const out: SettledPipeline[] = [];
    for (const [i, part] of parts.entries()) {
      const joint = node.type === "AndOr" && i > 0 ? node.operators[i - 1]! : "\n";
      const said = at.isInside ? undefined : saidToShell(part);
      if (said !== undefined) {
        out.push({ joint, said, commands: [] });
        continue;
      }
      out.push({
        joint,
        ...(part.type === "Pipeline" ? defined({ prefix: readPrefix(part) }) : {}),
        commands: part.type === "Pipeline" ? await this.pipeline(part, at) : [await this.member(part, at)],
      });
    }
    return out;
  }

  private async pipeline({ prefixes, commands, operators }: Pipeline, at: At): Promise<PipeMember[]> {
    const isMore = (prefixes.length > 0 && !readPrefix({ prefixes })) || operators.some((one) => one !== "|");
    if (isMore || commands.length === 0) giveUp("more than a pipeline");
    const out: PipeMember[] = [];
    for (let i = 0; i < commands.length; i++) {
      const found = await this.foundBy(commands[i]!, commands[i + 1], at);
      if (found) i++;
      out.push(found ?? (await this.member(commands[i]!, at, out)));
    }
    const hasLoop = out.some((one) => !("name" in one));
    // Beside a loop or a group, programs are judged without what they are fed: it must mean nothing to them.
    const takesText = (one: PipeMember) => !("name" in one) || LEAVES_FILES.test(one.name) || TAKES_TEXT.test(one.name);
    if (hasLoop && !out.every(takesText)) giveUp("a loop that feeds more");
    return out;
  }

  /** `before`: what it is fed by, in a pipe. */
  private async member(node: SyntaxNode, at: At, before: readonly PipeMember[] = []): Promise<PipeMember> {
    const [inner, redirects] = node.type === "Redirected" ? [node.command, node.redirects] : [node, []];
    if (inner.type === "While" && !at.isInside) return this.rounds(inner, redirects, at);
    if (inner.type === "For" && isEach(inner) && !at.isInside) return this.each(inner, redirects, at);
    if (isGrouped(inner) && !at.isInside) return this.group(inner, redirects, at);
    if (inner.type === "TestCommand" && redirects.length === 0) return this.compared(inner, at);
    return this.one(node, at, before);
  }

  /** `[[ ]]` as the program `[`, which evaluates nothing. */
  private async compared({ expression }: TestCommand, at: At): Promise<SettledCommand> {
    const words: SettledWord[] = [];
    const around = this.around({ ...at, takesAnyName: asksIfEmpty(expression) });
    for (const word of testWords(expression)) {
      if (typeof word === "string") words.push(word);
      else words.push(asOne(await settleOpen(word, around, (script) => this.output(script, at))));
    }
    return { name: "[", path: this.program("["), words: checkedTest([...words, "]"]), redirects: [] };
  }

  private async one(node: SyntaxNode, at: At, before: readonly PipeMember[] = []): Promise<SettledCommand> {
    if (node.type !== "Command" || !node.name) return giveUp(node.type);
    const front = readFront(node.prefix);
    const isLimited = readWord(node.name).literal === "timeout";
    const limit = isLimited ? readLimit(node.args) : undefined;
    const { name, args } = limit ?? { name: node.name, args: node === this.where.git ? node.args.slice(2) : node.args };
    const command = await this.called({ name, args, redirects: node.redirects }, at, before);
    const starter = limit ? [this.program("timeout"), limit.seconds] : [];
    // A word of the shell's own can't be started by a program.
    if (front.length + starter.length > 0 && !command.path.startsWith("/")) giveUp("a word of the shell");
    return { ...command, ...(front.length > 0 ? { front } : {}), ...(starter.length > 0 ? { starter } : {}) };
  }

  private async called(
    node: Pick<Command, "args" | "redirects"> & { name: Word },
    at: At,
    before: readonly PipeMember[],
  ): Promise<SettledCommand> {
    const name = readWord(node.name).literal ?? giveUp("a program that is computed");
    if (name === "timeout") giveUp("a limit in a limit");
    const path = this.program(isLookup(name) ? "which" : name);
    const args = name === "git" ? withoutHere(node.args, this.where.cwd) : node.args;
    const words: SettledWord[] = [];
    const inner = (script: ParsedScript) => this.output(script, at);
    const mayBeOpen = TAKES_OPEN.test(name) && !at.isInside;
    const mayBeFed = READS_OUTPUT.test(name) && !at.isInside;
    const around = this.around({ ...at, takesAnyName: TESTS.test(name) && isEmptyTest(name, args) });
    for (const word of args) {
      if (word.type !== "Word") return giveUp("an assignment");
      const output = mayBeFed ? outputIn(word) : undefined;
      // No shell takes these braces for more than they are.
      if (name === "xargs" && word.text === "-I{}") words.push(word.text);
      else if (output) words.push({ open: [{ output: await inner(output), isFile: true }] });
      else words.push(...(await (mayBeOpen ? settleOpen(word, around, inner) : settleWord(word, around))));
    }
    if (TESTS.test(name)) words.splice(0, words.length, ...checkedTest(words.map((word) => asOne([word]))));
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
    before: readonly PipeMember[],
  ): SettledCommand {
    const isFed = [...before, xargs].some(({ redirects }) => redirects.some(({ operator }) => /^</.test(operator)));
    const listing = before.flatMap((one) => ("name" in one ? [one] : []));
    if (isFed || listing.length < before.length || !listsFiles(listing)) return giveUp("names that nobody has listed");
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
        const isExpanded = !node.delimiter?.quoted && /[$`\\]/.test(text);
        if (node.operator !== "<<" || isExpanded || from !== "" || !/^$|\n$/.test(text))
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
      const redirect = { from, operator: node.operator, target };
      this.hasChanged ||= isMade(redirect);
      return redirect;
    });
  }

  private around(
    { round, takesAnyName = false }: At & { takesAnyName?: boolean },
    made: readonly string[] = [],
  ): WordContext {
    const { budget, kinds, values, certain } = this;
    const { cwd } = this.where;
    return { cwd, budget, round, kinds, values, certain, takesAnyName, made, mayHaveChanged: this.hasChanged };
  }

  private program(name: string): string {
    this.budget.countCommand();
    const found = name.includes("/") ? undefined : findProgram(name, this.where.path, this.where.cwd);
    return found?.trusted ? found.path : giveUp("no such program");
  }
}

type Grouped = BraceGroup | Subshell | For | If | Case;

function isGrouped(node: SyntaxNode): node is Grouped {
  return /^(BraceGroup|Subshell|For|If|Case)$/.test(node.type);
}

/** A file that is there once the redirection is made. */
function isMade({ operator, target, isDescriptor }: SettledRedirect): boolean {
  return operator.includes(">") && !isDescriptor && target !== "/dev/null";
}

/** `git -C .` is git here. */
function withoutHere(args: Command["args"], cwd: string): Command["args"] {
  const [option, word] = args;
  const folder = option?.text === "-C" && word?.type === "Word" ? readWord(word).literal : undefined;
  return folder === "." || folder === "./" || folder === cwd ? args.slice(2) : args;
}

type SettledPart = SettledList[number];
type PipeMember = SettledPipeline["commands"][number];

/** What every way through a branch sets. */
function inAll(ends: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const [first, ...others] = ends;
  return new Set([...(first ?? [])].filter((name) => others.every((end) => end.has(name))));
}

/** The commands of a word that is `<( … )` and nothing else. */
function outputIn({ parts = [] }: Word): ParsedScript | undefined {
  const [only, ...more] = parts;
  if (only?.type !== "ProcessSubstitution" || only.operator !== "<" || more.length > 0) return undefined;
  return only.script;
}

/** One word before it: `time` prints how long the pipeline took, `!` turns its outcome around. */
function readPrefix({ prefixes }: Pick<Pipeline, "prefixes">): SettledPipeline["prefix"] {
  const [prefix, ...more] = prefixes;
  if (more.length > 0) return undefined;
  if (prefix?.type === "Negation") return "!";
  return prefix?.type === "Time" && prefix.posix === undefined ? "time" : undefined;
}

/** Where a command stands. */
interface At {
  round?: Round;
  /** Its output becomes part of a word. */
  isInside?: true;
  /** In a loop, where no `for` may stand. */
  isLooped?: true;
}

function fed(target: string): SettledRedirect {
  return { from: "", operator: "<<<", target };
}

/** A command of this name with nothing set for it, and nothing fed to it. */
function isCalled(node: SyntaxNode, name: string): node is Command {
  if (node.type !== "Command" || node.name?.text !== name || node.prefix.length > 0) return false;
  return node.redirects.every((redirect) => redirect.type === "Redirect" && redirect.operator !== "<");
}
