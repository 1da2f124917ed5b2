/**
 * Judging a command: its parts one by one, then the whole. Pure.
 *
 * GATE-1: only plain text can be allowed by a rule, and only when a rule covers each of its commands.
 * GATE-2: arguments that a rule leaves open are held against what is known of the program (programs.ts).
 * GATE-3: what a person could not see before saying yes is refused rather than asked.
 */
import type { ShellCommand, ShellPlan, ShellReason, ShellReasonKind } from "../../core/contracts/index.ts";
import { defined, isReaching, isSecretFile } from "../../core/kit/index.ts";
import { isDataFile } from "./data-files.ts";
import { takesData } from "./fed.ts";
import { opensFound, runOnFound } from "./found-files.ts";
import { hasWildcard, matchesGlob } from "./glob.ts";
import { absolute, isInWorkspace } from "./paths.ts";
import {
  hasFiles,
  isLooker,
  isSpeltWordByWord,
  type Judgement,
  judgeArguments,
  runsNothing,
  runsWhatIsSpelt,
} from "./programs.ts";
import { afterRearranging, type Mover } from "./rearranges.ts";
import { allowingRule, coveringRule, type GatePlace, isLoaded, isStanding, pathRule } from "./rules.ts";
import {
  gitTarget,
  gitWrites,
  loadedWord,
  mayChangeGit,
  reachedSecret,
  reachingWord,
  shownSecret,
  showsNothing,
  steeringWord,
} from "./word-concerns.ts";
import {
  afterMoving,
  BEFORE_GIT,
  coveredBut,
  covered as coveredBy,
  followsLinks,
  gitFolder,
  gitSetting,
  hardLinked,
  holdsSecretsText,
  isLoadedLater,
  isOutside,
  KEEPS_OUTPUT,
  linkOut,
  mayObeyInput,
  mayWriteSteering,
  NOT_PLAIN,
  noRuleAllows,
  readsFoundOutside,
  readsOutside,
  ruleWouldAllow,
  runsInside,
  searchesSecrets,
  UNNAMED_FILES,
  writesLoaded,
  writesSentIn,
  writesUnrestored,
  writesUnruled,
} from "./words.ts";

export interface JudgedPart {
  /** What was judged, as it would run. */
  what: string;
  verdict: "allow" | "ask" | "deny";
  because: string;
  /** The allow rule that covers it. */
  rule?: string;
  /** No rule covers it, and one could: a rule is what it lacks. */
  unruled?: true;
  /** A data file for output: only who or what is in the conversation keeps it from being written. */
  isOutput?: true;
  /** Where it stands, from the outside in. */
  within?: string[];
}

/** Reasons that refuse in mode `ask`: a person could not judge them either. */
const REFUSED: ReadonlySet<ShellReasonKind> = new Set([
  "unparsed",
  "fork-bomb",
  "computed-program",
  "hidden-code",
  "heredoc-expansion",
  "load-assignment",
]);
/** Programs that `judgeFound` judges together with what they run. */
const RUNS_ON_FOUND: ReadonlySet<string> = new Set(["xargs", "find"]);

/** The rules a command is held against, by what they speak about. */
export interface ShellRules {
  exec: readonly string[];
  read: readonly string[];
  write: readonly string[];
  keepOutput: OutputRule;
}

/**
 * Whether the output of an allowed command may go to a data file in the agent's folders without a rule for writing. `kept`: yes, it
 * is the owner's own wish. `restorable`: the agent's tools fetched text from outside, so undo has to cover the file. `sent-in`: no,
 * somebody's text came into the conversation. `unruled`: no, others are involved.
 */
export type OutputRule =
  | { says: "kept" | "sent-in" | "unruled" }
  | { says: "restorable"; restores: (bytes: number) => boolean };

/** The settled form of a command as a separate plan, for words that are about to allow it. */
export function settledForm(shell: ShellPlan): ShellPlan | undefined {
  const { settled, settings: _, settled: __, ...plan } = shell;
  if (!settled) return undefined;
  const { commands, reasons, settings, cwd } = settled;
  const form = { ...plan, form: "rendered" as const, cwd, commands: commands.map(withTexts), reasons };
  return settings ? { ...form, settings } : form;
}

/** Programs to which an argument that is only known when it runs is text: they print it or compare it. */
const TAKES_TEXT = /^(echo|printf|basename|dirname|test|\[)$/;

/** Programs that read `<( … )` like any file: what is in it comes from commands that are judged. */
const READS_OUTPUT = /^(diff|comm|cmp|cat|paste|join|sort|wc|head|tail|grep|uniq)$/;

function isSubstitution(within: string): boolean {
  return within === "$( )" || within === "<( )";
}

function withTexts(command: ShellCommand): ShellCommand {
  const [program, ...args] = command.words;
  const name = program!.literal;
  if (name === undefined || !(TAKES_TEXT.test(name) || READS_OUTPUT.test(name))) return command;
  const shown = TAKES_TEXT.test(name) ? "text" : "/dev/null";
  const text = { literal: shown, guess: shown };
  return { ...command, words: [program!, ...args.map((word) => (word.literal === undefined ? text : word))] };
}

/** The parts of a command, reasons that concern the whole text last. */
export function judgeShell(shell: ShellPlan, rules: ShellRules, place: GatePlace, isSettled = false): JudgedPart[] {
  const isPlain = shell.form !== "shell";
  const around = { shell, rules, place, isPlain, isSettled };
  const commands = shell.commands.filter(({ words, assignments }) => words[0]!.guess !== "" || assignments.length > 0);
  const parts: JudgedPart[] = commands.map((command) =>
    (isSettled && runsOnFound(command) ? judgeFound : judgeCommand)(command, around),
  );
  const finders = isSettled ? commands.filter((command) => runsOnFound(command)) : [];
  // What they run is judged with them.
  const isAnswered = finders.length > 0 && finders.every((one) => parts[commands.indexOf(one)]!.verdict === "allow");
  if (isAnswered)
    for (const part of parts)
      if (part.within?.some((one) => one === "xargs" || one === "find -exec")) part.verdict = "allow";
  const tops = parts.filter((part) => !part.within);
  const isSpelt =
    isPlain &&
    !isSettled &&
    tops.length > 0 &&
    tops.every((part) => part.rule && part.verdict === "allow" && !hasWildcard(part.rule));
  // A rule without a wildcard spells out what is wrapped, too.
  if (isSpelt)
    for (const part of parts) if (part.within) Object.assign(part, { verdict: "allow", rule: tops[0]!.rule });
  const spelt = isPlain ? allowSpelt(commands, parts, isSettled) : new Set<string>();
  for (const { kind, text, runs } of shell.reasons) {
    if (REFUSED.has(kind)) parts.push({ what: kind, verdict: "deny", because: text });
    else if (isKnownCode(runs, shell) || (runs && spelt.has(runs.program))) continue;
    else if (isAnswered && runs?.what === "program" && RUNS_ON_FOUND.has(runs.program)) continue;
    // A rule that covers the interpreter spells the script: judgeArguments leaves nothing before it open.
    else if (!isSpelt && !(isPlain && kind === "script")) parts.push({ what: kind, verdict: "ask", because: text });
  }
  if (isPlain) for (const command of shell.commands) parts.push(...judgeRedirects(command, around));
  if (isPlain && !isSpelt)
    for (const [command, before] of afterRearranging(shell)) parts.push(askedAfter(command, before));
  const git = isPlain
    ? commands.find((command, i) => isGitAfterWrite(command, commands.slice(0, i), around))
    : undefined;
  if (git && !isSpelt)
    parts.push({
      what: "git",
      verdict: "ask",
      because: BEFORE_GIT,
    });
  for (const setting of shell.settings ?? []) {
    parts.push({
      what: "git setting",
      verdict: "ask",
      because: gitSetting(setting),
    });
  }
  return parts;
}

/**
 * The programs of which a rule spells what they run, each time they are called: `make -j4` by a rule without a wildcard, `npx tsc …` by
 * "npx tsc *". What they start is allowed with them.
 */
function allowSpelt(commands: readonly ShellCommand[], parts: JudgedPart[], isSettled: boolean): ReadonlySet<string> {
  const found = new Map<string, boolean>();
  let isInside = false;
  for (const [i, { words, within }] of commands.entries()) {
    const part = parts[i]!;
    const name = baseName(words[0]!.guess);
    const args = words.slice(1).map((word) => word.guess);
    if (within.length === 0)
      isInside =
        part.verdict === "allow" &&
        part.rule !== undefined &&
        ((!isSettled && !hasWildcard(part.rule)) || runsWhatIsSpelt(name, args));
    else if (isInside) Object.assign(part, { verdict: "allow" });
    found.set(name, (found.get(name) ?? true) && isInside);
  }
  return new Set([...found].flatMap(([name, isSpelt]) => (isSpelt ? [name] : [])));
}

/** The code that an interpreter is said to run was read, and is harmless (`awk '{print $1}'`), or there is none (`node --version`). */
function isKnownCode(runs: ShellReason["runs"], { commands }: ShellPlan): boolean {
  if (runs?.what !== "code") return false;
  const name = runs.program;
  const own = commands.filter(({ words }) => baseName(words[0]!.guess) === name);
  return (
    own.length > 0 &&
    own.every(
      ({ words, within }) =>
        within.length === 0 &&
        words.every((word) => word.literal !== undefined) &&
        runsNothing(
          name,
          words.slice(1).map((word) => word.guess),
        ),
    )
  );
}

function isGitAfterWrite(command: ShellCommand, before: readonly ShellCommand[], { shell, place }: Around): boolean {
  if (baseName(command.words[0]!.guess) !== "git") return false;
  return before.some((one) => mayChangeGit(one, { shell, place }));
}

function askedAfter({ words }: ShellCommand, { name, isBeside }: Mover): JudgedPart {
  const what = words.map((word) => word.literal ?? word.guess).join(" ");
  return { what, verdict: "ask", because: afterMoving(name, words[0]!.guess, isBeside) };
}

interface Around {
  shell: ShellPlan;
  rules: ShellRules;
  place: GatePlace;
  isPlain: boolean;
  isSettled: boolean;
}

function runsOnFound({ words, within }: ShellCommand): boolean {
  const name = words[0]!.literal;
  const isDirect = within.every(isSubstitution);
  return isDirect && (name === "xargs" || (name === "find" && words.some((word) => word.literal === "-exec")));
}

/** `find` and `xargs` with what they run on files: the places where they look, then the program by its own rule. */
function judgeFound(command: ShellCommand, around: Around): JudgedPart {
  const { shell, place, rules } = around;
  const what = command.words.map((word) => word.literal ?? word.guess).join(" ");
  const inner = runOnFound(command);
  if (!inner) return { what, verdict: "ask", because: UNNAMED_FILES };
  const at = command.words.findIndex((word) => word.literal === "-exec");
  const name = inner.words[0]!.guess;
  // The facts of the same words: where they lead, and what they would meet.
  const facts = shell.commands.find((one) => isRunBy(one, command, inner));
  if (!facts) return { what, verdict: "ask", because: UNNAMED_FILES };
  const { program, links } = facts;
  const run = judgeCommand({ ...inner, ...defined({ program, links }) }, around);
  if (run.verdict !== "allow" || at < 0) return { ...run, what };
  const finding = command.words.slice(0, at);
  const looking = judgeCommand({ ...command, words: finding }, { shell, place, rules, isPlain: true, isSettled: true });
  if (looking.verdict !== "allow" || !opensFound(inner)) return { ...looking, what };
  // Which files there are may be no secret where what is in them is one.
  const outside = judgeArguments(
    "find",
    finding.slice(1).map((word) => word.literal!),
  ).files.find(({ path }) => !mayRead(absolute(path, shell.cwd, place.userHome), rules, place));
  return outside ? { what, verdict: "ask", because: readsFoundOutside(name, outside.path) } : { ...looking, what };
}

/** Whether this is the command that another one runs on files; `inner` has a name in their place. */
function isRunBy({ words, within }: ShellCommand, outer: ShellCommand, inner: ShellCommand): boolean {
  if (within.length !== outer.within.length + 1) return false;
  const found = inner.words.length - 1;
  return inner.words.every((word, i) =>
    i === found && words[i]?.literal !== word.literal
      ? words[i] === undefined || words[i].literal === "{}"
      : words[i]?.literal === word.literal,
  );
}

/** A narrower rule is only named when it would do. */
function proposing({ text, rule }: Judgement["concerns"][number], command: ShellCommand, around: Around): string {
  const rules = { ...around.rules, exec: [rule ?? ""] };
  const isEnough = rule !== undefined && judgeCommand(command, { ...around, rules }).verdict === "allow";
  return isEnough ? `${text}; ${ruleWouldAllow(rule)}.` : `${text}.`;
}

function judgeCommand(command: ShellCommand, around: Around): JudgedPart {
  const { shell, rules, place, isPlain, isSettled } = around;
  const what = command.words.map((word) => word.literal ?? word.guess).join(" ");
  const within = command.within.length > 0 ? { within: command.within } : {};
  const ask = (because: string): JudgedPart => ({ what, verdict: "ask", because, ...within });
  const isDirect = isSettled && command.within.every(isSubstitution);
  if (command.within.length > 0 && !isDirect) return ask(runsInside(command.within));
  const hidden = shownSecret(command, shell, place);
  const match = isPlain ? allowingRule(rules.exec, command, place, shell.cwd) : undefined;
  const name = command.words[0]!.guess;
  if (!match) {
    if (hidden) return { what, verdict: "deny", because: holdsSecretsText(hidden) };
    if (!isPlain) return ask(NOT_PLAIN);
    const isNear = rules.exec.some((rule) => rule.startsWith(`${name} `));
    return { ...ask(noRuleAllows(name, isNear)), unruled: true };
  }
  const args = command.words.slice(1).map((word) => word.literal!);
  const judged = judgeArguments(baseName(name), args);
  const isOpen = (index: number) => !match.spelt[index];
  const concern = judged.concerns.find(({ index }) => isOpen(index));
  const covered = coveredBy(name, match.rule);
  const but = (text: string) => coveredBut(covered, text);
  if (hidden && !match.spelt.every(Boolean)) return { what, verdict: "deny", because: but(holdsSecretsText(hidden)) };
  if (concern) return ask(but(proposing(concern, command, around)));
  if (command.isFed && !takesData(name, args, judged)) return ask(but(mayObeyInput(name)));
  // A search or a pattern may reach a secret that no word names.
  const held = reachedSecret(baseName(name), args, isOpen, { shell, place });
  if (held) return ask(but(holdsSecretsText(held)));
  const met = match.spelt.every(Boolean) ? undefined : command.links?.find(({ isSecret }) => isSecret);
  if (met) return ask(but(searchesSecrets(met.path)));
  if (judged.follows !== undefined && isOpen(judged.follows)) return ask(but(followsLinks(args[judged.follows]!)));
  const outside = judged.files.find(
    (file) =>
      isOpen(file.index) &&
      !isCovered(file.path, match.words[file.index], { shell, place }) &&
      !mayLook(file, { name: baseName(name), shell, rules, place }),
  )?.path;
  if (outside) return ask(but(isOutside(outside)));
  const closed = writesClosed(command, judged, { isOpen, around });
  if (closed) return { ...ask(but(closed.because)), ...(closed.isOutput ? { isOutput: true } : {}) };
  const real = command.links?.find(
    (link) =>
      isOpen(link.word - 1) && link.word < command.words.length && isElsewhere(link, { judged, name, rules, place }),
  );
  if (real)
    return ask(but(isSecretFile(real.to!) ? holdsSecretsText(real.path) : isOutside(`${real.path} (${real.to})`)));
  // Of programs that aren't in the tables any word may be a path.
  const reached = hasFiles(baseName(name))
    ? undefined
    : reachingWord(args, isOpen, { git: baseName(name) === "git", shell, place });
  if (reached) return ask(but(isOutside(reached)));
  const later = writesForLater(command, args, { isOpen, around });
  if (later) return ask(but(later));
  const named = [...judged.files, ...(judged.writes ?? [])];
  const isFile = (index: number) => !hasFiles(baseName(name)) || named.some((file) => file.index === index);
  // Reading a file by one of its names shows nothing that the other would not.
  const isWritten = (index: number) =>
    judged.writes?.some((file) => file.index === index) ??
    !(hasFiles(baseName(name)) || (isLooker(baseName(name)) && !(baseName(name) === "git" && gitWrites(args))));
  const link = command.links?.find(
    ({ word, isHard, isGit, isSecret, to }) =>
      !isSecret &&
      to === undefined &&
      word < command.words.length &&
      isOpen(word - 1) &&
      isFile(word - 1) &&
      (!(isHard || isGit) || isWritten(word - 1)),
  );
  if (link) return ask(but(`${leading(link)}.`));
  return { what, verdict: "allow", because: `${covered}.`, rule: match.rule };
}

/** Why a word may write what later turns or other programs obey. */
function writesForLater(
  command: ShellCommand,
  args: readonly string[],
  { isOpen, around: { shell, place, rules } }: { isOpen: (index: number) => boolean; around: Around },
): string | undefined {
  const spelt = command.words[0]!.guess;
  const name = baseName(spelt);
  if (hasFiles(name)) return undefined;
  const real = (index: number) => realPaths(command, index + 1);
  const loaded =
    name === "git" ? gitTarget(args, isOpen, { shell, place }) : loadedWord(name, args, isOpen, { shell, place, real });
  if (loaded) return isLoadedLater(loaded);
  // What an owner's own script, or a program whose words are judged one by one, does with a name is known or theirs to know.
  if (spelt.includes("/") || isSpeltWordByWord(name)) return undefined;
  const steering = steeringWord(name, args, isOpen, { shell, place, write: rules.write });
  return steering && mayWriteSteering(steering);
}

/** Why a file that it writes by a word is closed. Output of an allowed command that tee is fed may go where `>` may send it. */
function writesClosed(
  command: ShellCommand,
  { writes = [] }: Judgement,
  { isOpen, around }: { isOpen: (index: number) => boolean; around: Around },
): { because: string; isOutput?: true } | undefined {
  for (const { index, path } of writes) {
    if (!isOpen(index)) continue;
    const because = [path, ...realPaths(command, index + 1)]
      .map((one) => writeConcern(one, around))
      .find((concern) => concern !== undefined);
    if (because === undefined) continue;
    const plain = command.plainFiles?.find(({ word }) => word === index + 1);
    if (!plain || !command.isFed || !takesOutput(path, around)) return { because };
    const kept = outputConcern({ target: command.words[index + 1]!, ...plain }, around.rules.keepOutput);
    if (kept !== "") return kept === undefined ? { because } : { because: kept, isOutput: true };
  }
  return undefined;
}

/** Where a word really leads, over links. */
function realPaths({ links = [] }: ShellCommand, word: number): string[] {
  return links.flatMap((link) => (link.word === word && link.to !== undefined ? [link.to] : []));
}

/** Whether the file that a word really names may not be read, although the word may be. */
function isElsewhere(
  { word, path, to }: NonNullable<ShellCommand["links"]>[number],
  { judged, name, rules, place }: Pick<Around, "rules" | "place"> & { judged: Judgement; name: string },
): boolean {
  const program = baseName(name);
  const file = judged.files.find(({ index }) => index === word - 1);
  if (to === undefined || (!file && hasFiles(program))) return false;
  const use = file?.use ?? "content";
  if (isSecretFile(to) && use === "content" && !showsNothing(program)) return true;
  // A rule that names the link itself was written with it in mind.
  if (
    pathRule(
      rules.read.filter((rule) => !hasWildcard(rule)),
      path,
      place,
    )
  )
    return false;
  return !mayRead(to, rules, place) && !(use === "names" && PUBLIC_NAMES.test(to));
}

function leading({ path, isHard, isGit }: NonNullable<ShellCommand["links"]>[number]): string {
  if (isGit) return gitFolder(path);
  return isHard ? hardLinked(path) : linkOut(path);
}

type Where = Pick<Around, "shell" | "place">;

/** Programs and libraries of the system: which of them there are is no secret, and `which` tells it too. */
const PUBLIC_NAMES = /^\/(usr|bin|sbin|lib\d*)(\/|$)/;

/** Whether a program may show this file, or only its name, size and times, without asking. */
function mayLook(
  { path, use }: Judgement["files"][number],
  { name, shell, rules, place }: Omit<Around, "isPlain" | "isSettled"> & { name: string },
): boolean {
  const at = absolute(path, shell.cwd, place.userHome);
  if (mayRead(at, rules, place)) return true;
  if (use === "content" || path.includes("..")) return false;
  // The sizes of file systems: without a file it shows them all.
  if (name === "df" && at === "/") return true;
  return PUBLIC_NAMES.test(at) || coveringRule(rules.read, { risk: "read", targets: [at] }, place) !== undefined;
}

/** The rule names the place itself, with a pattern: `ls /srv/*`. */
function isCovered(path: string, wanted: string | undefined, { shell, place }: Where): boolean {
  if (wanted === undefined || !isReaching(wanted)) return false;
  const at = (word: string) => absolute(word, shell.cwd, place.userHome);
  return matchesGlob(at(wanted), at(path));
}

function mayRead(path: string, rules: ShellRules, place: GatePlace): boolean {
  return isInWorkspace(path, place) || path === "/dev/null" || pathRule(rules.read, path, place) !== undefined;
}

/** Why a program may not write this file by itself; the same as for `>`. */
function writeConcern(
  target: string,
  { shell, rules, place }: Pick<Around, "shell" | "rules" | "place">,
): string | undefined {
  const path = absolute(target, shell.cwd, place.userHome);
  if (path === "/dev/null") return undefined;
  if (isStanding(path) || isLoaded(path, place)) return writesLoaded(target);
  return pathRule(rules.write, path, place) ? undefined : writesUnruled(target);
}

/** Files a plain command is connected to: reading like `read`, writing like `write`. */
function judgeRedirects(command: ShellCommand, { shell, rules, place, isSettled }: Around): JudgedPart[] {
  const parts: JudgedPart[] = [];
  for (const [i, { operator, target, isDescriptor }] of command.redirects.entries()) {
    const path = absolute(target.guess, shell.cwd, place.userHome);
    // Text that is fed to it (`<<<`) is no file.
    if (isDescriptor || path === "/dev/null" || operator.startsWith("<<")) continue;
    const what = `${operator} ${target.guess}`;
    const leaves = command.links?.find(
      ({ word, isSecret, to }) => !isSecret && to === undefined && word === command.words.length + i,
    );
    const real = realPaths(command, command.words.length + i);
    const ask = (because: string) => parts.push({ what, verdict: "ask", because });
    if (leaves && !((leaves.isHard || leaves.isGit) && operator === "<"))
      ask(`${leading({ ...leaves, path: target.guess })}.`);
    else if (operator === "<") {
      if ([path, ...real].some((one) => isSecretFile(one)))
        parts.push({ what, verdict: "deny", because: holdsSecretsText(target.guess) });
      else if (![path, ...real].every((one) => mayRead(one, rules, place))) ask(readsOutside(target.guess));
    } else {
      const closed = [target.guess, ...real]
        .map((one) => writeConcern(one, { shell, rules, place }))
        .find((concern) => concern !== undefined);
      if (closed === undefined) continue;
      const isData = keepsOutput(command, i, { shell, rules, place, isSettled });
      const because = isData ? outputConcern(command.redirects[i]!, rules.keepOutput) : undefined;
      if (!isData || because === undefined) ask(`I${closed.slice(1)}`);
      else if (because !== "") parts.push({ what, verdict: "ask", because, isOutput: true });
      else parts.push({ what, verdict: "allow", because: KEEPS_OUTPUT });
    }
  }
  return parts;
}

/** Why output may not go to this data file; empty: it may. Undefined: for no reason but the missing rule. */
function outputConcern(
  { target, bytes }: Pick<ShellCommand["redirects"][number], "target" | "bytes">,
  rule: OutputRule,
): string | undefined {
  if (rule.says === "unruled") return undefined;
  if (rule.says === "sent-in") return writesSentIn(target.guess);
  const isFine = rule.says === "kept" || (rule.says === "restorable" && rule.restores(bytes ?? 0));
  return isFine ? "" : writesUnrestored(target.guess);
}

/** A program's output in a plain file of data. Without a program a redirection only empties the file. */
function keepsOutput(
  { words, redirects }: ShellCommand,
  i: number,
  { shell, rules, place, isSettled }: Pick<Around, "shell" | "rules" | "place" | "isSettled">,
): boolean {
  const { target, isPlainFile } = redirects[i]!;
  // In a settled text it is that of a group or a loop.
  if ((words[0]!.guess === "" && !isSettled) || !isPlainFile || target.literal === undefined) return false;
  return takesOutput(target.literal, { shell, rules, place });
}

/** A name of data, in one of the agent's folders, that nothing loads. */
function takesOutput(target: string, { shell, rules, place }: Pick<Around, "shell" | "rules" | "place">): boolean {
  const path = absolute(target, shell.cwd, place.userHome);
  if (isStanding(path) || isLoaded(path, place)) return false;
  return isDataFile(path, { place, cwd: shell.cwd, rules: rules.exec });
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
