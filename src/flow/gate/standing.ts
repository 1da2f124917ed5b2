/** Files that an agent reads as instructions in later turns: writing one means giving it orders. */
import type { ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import { gluedNames, pathsInWord } from "../../core/kit/index.ts";
import { type FloorWays, follow, leadsTo, MOST_DIRS, waysFrom } from "./floor-dirs.ts";
import { isInside } from "./paths.ts";
import { isLooker, judgeArguments } from "./programs.ts";
import { type GatePlace, isStanding } from "./rules.ts";
import { hardLinkedFile, inFolder, STANDING_FILE } from "./words.ts";

/** The names of such files anywhere in a text, such as a script given on the command line. */
const NAMED =
  /\b(SOUL|AGENTS|CLAUDE|USER|MEMORY|HEARTBEAT|SKILL)\.md\b|\blares\.(yaml|db)\b|(^|[/\s'"=])(skills|\.claude|\.codex|\.github|\.git)\//i;
/** The same glued to letters of options: `wget -qOAGENTS.md`. */
const GLUED = /^-[^-\s]*(SOUL|AGENTS|CLAUDE|USER|MEMORY|HEARTBEAT|SKILL)\.md\b/i;
/** Options that add something to the name of a file that is written: `cp -bS.md x AGENTS`. */
const COMPOSES: Readonly<Record<string, RegExp>> = {
  cp: /^(-[A-Za-z]*S|--su)/,
  csplit: /^(-[A-Za-z]*b|--su)/,
  install: /^(-[A-Za-z]*S|--su)/,
  ln: /^(-[A-Za-z]*S|--su)/,
  mv: /^(-[A-Za-z]*S|--su)/,
  split: /^--ad/,
};
/** Programs that put their last or only files somewhere. A name they compute may be any name. */
const WRITES = /^(cp|mv|tee|ln|install|dd|truncate|sponge|rsync|sed|perl|touch|ed|ex|patch)$/;

/** What of the standing files a command would write, in words; nothing when it only looks at them. */
export function standingFileIn(shell: ShellPlan, place: GatePlace): string | undefined {
  // By another name: a link that leads there.
  const link = onlyLooks(shell)
    ? undefined
    : shell.links?.find(({ to }) => isInAgentFolder(to, place) || isStanding(to));
  if (link) return link.from;
  if (shell.hardLinks?.length && !onlyLooks(shell)) return hardLinkedFile(shell.hardLinks[0]!);
  // Each folder the text may run in: a `cd` may fail, end with its subshell, or be reverted.
  const ways = waysFrom(shell, place.userHome);
  let isLost = false;
  for (const command of shell.commands) {
    const look: Look = { place, at: (word) => placesFor(word, ways, place), dirs: ways.dirs };
    const found = writtenBy(command, look) ?? namedBy(command, look) ?? reachedBy(command, look);
    if (found !== undefined) return found;
    // Where it writes can't be known, so it may be the agent's own folder.
    if (isLost && mayWrite(command)) return STANDING_FILE.unknownFolder;
    follow(command, ways, place.userHome);
    // More folders than are followed, or one that nobody can name.
    isLost ||= ways.isLost || ways.dirs.size >= MOST_DIRS || entersUnknown(command);
  }
  // In a here-document, or wherever else the words of no command show it.
  if (shell.form !== "shell" || !NAMED.test(shell.text)) return undefined;
  const isShown = shell.commands.some((command) => listWords(command).some((word) => NAMED.test(word)));
  return isShown ? undefined : STANDING_FILE.scriptText;
}

interface Look {
  place: GatePlace;
  /** All that a word may name, from each folder the command may run in. */
  at(word: string): string[];
  dirs: ReadonlySet<string>;
}

function placesFor(word: string, ways: FloorWays, place: GatePlace): string[] {
  return [...ways.dirs].flatMap((dir) => leadsTo(word, dir, { ways, userHome: place.userHome }));
}

function entersUnknown({ words }: ShellCommand): boolean {
  return /^(cd|pushd|chdir)$/.test(words[0]!.guess) && words.slice(1).some((word) => word.literal === undefined);
}

function mayWrite(command: ShellCommand): boolean {
  return WRITES.test(baseName(command.words[0]!.guess)) || command.redirects.some(isWriting);
}

function isWriting({ operator, target, isDescriptor }: ShellCommand["redirects"][number]): boolean {
  return operator.includes(">") && !isDescriptor && target.literal !== "/dev/null";
}

function writtenBy(command: ShellCommand, { place, at }: Look): string | undefined {
  for (const { operator, target } of command.redirects) {
    if (!operator.includes(">")) continue;
    if (target.literal === undefined) {
      // `2>&1` and its like name no file.
      if (/^[\d-]*$/.test(target.guess)) continue;
      return STANDING_FILE.computedName;
    }
    if (
      NAMED.test(target.literal) ||
      at(target.literal).some((path) => isStanding(path) || isInAgentFolder(path, place))
    )
      return target.literal;
  }
  return undefined;
}

function namedBy(command: ShellCommand, { at }: Look): string | undefined {
  if (isReading(command)) return undefined;
  const [program, ...args] = command.words;
  const writes = WRITES.test(baseName(program!.guess));
  const isNamed = (text: string) =>
    // As a folder, too: `cp a.txt skills`, `mv a.txt .git`, `cp -t.git a.txt`.
    NAMED.test(text) || GLUED.test(text) || (writes && namesIn(text).some((path) => at(path).some(isStanding)));
  const shown = args.find((word) => isNamed(word.literal ?? word.guess));
  if (shown) return (shown.literal ?? shown.guess).slice(0, 80);
  const isOpen = writes && args.some((word) => word.literal === undefined);
  const name = baseName(program!.guess);
  const composing = Object.hasOwn(COMPOSES, name) ? COMPOSES[name]! : undefined;
  return isOpen || args.some((word) => composing?.test(word.guess)) ? STANDING_FILE.computedName : undefined;
}

/** What a word may name, also glued to letters of options. */
function namesIn(text: string): string[] {
  return [...pathsInWord(text), ...gluedNames(text)];
}

/** A file or folder of the agent's own that it would write, or an archive or patch whose files nobody has seen. */
function reachedBy(command: ShellCommand, { place, at, dirs }: Look): string | undefined {
  const name = baseName(command.words[0]!.guess);
  const args = command.words.slice(1).map((word) => word.literal ?? word.guess);
  const ownWord = () =>
    args.find((arg) => pathsInWord(arg).some((path) => at(path).some((one) => isInAgentFolder(one, place))));
  // `git -C ..` and `--work-tree=..` check out files there.
  if (name === "git") return gitWrites(args) ?? (isReading(command) ? undefined : ownWord());
  if (unpacks(name, args)) return STANDING_FILE.archive;
  if (isReading(command) || /^(cd|pushd|popd)$/.test(name)) return undefined;
  const own = [...dirs].find((dir) => isInAgentFolder(dir, place));
  if (own !== undefined && args.some((arg) => !arg.startsWith("-"))) return inFolder(own);
  return ownWord();
}

function unpacks(name: string, args: readonly string[]): boolean {
  if (/^(patch|cpio|7z|ar|unar)$/.test(name)) return true;
  // Listing and testing write nothing.
  if (name === "unzip") return !args.some((arg) => /^-[lvtZ]/.test(arg));
  if (!/tar$/.test(name)) return false;
  return !args.some(
    (arg, i) =>
      /^--(create|list)$/.test(arg) ||
      (/^-?[A-Za-z]+$/.test(arg) && /[ct]/.test(arg) && (i === 0 || arg.startsWith("-")) && !arg.includes("x")),
  );
}

/** Patches write any file; a setting can make git run a program. */
function gitWrites(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => /^(apply|am|config)$/.test(arg));
  if (at < 0 || args.slice(0, at).some((arg, i) => !arg.startsWith("-") && !/^-[Cc]$/.test(args[i - 1] ?? "")))
    return undefined;
  const rest = args.slice(at + 1);
  if (args[at] !== "config")
    return rest.some((arg) => /^--(stat|check|numstat|summary)$/.test(arg)) ? undefined : STANDING_FILE.patch;
  const isAsking = rest.some((arg) => /^(-l|--list|--get(-all|-regexp)?|list|get)$/.test(arg));
  return isAsking || rest.filter((arg) => !arg.startsWith("-")).length < 2 ? undefined : STANDING_FILE.gitSettings;
}

/** It shows files and writes none (programs.ts, GATE-5). */
function isReading(command: ShellCommand): boolean {
  const name = baseName(command.words[0]!.guess);
  const args = command.words.slice(1).map((word) => word.literal ?? word.guess);
  if (!isLooker(name)) return false;
  const { concerns, writes } = judgeArguments(name, args);
  return concerns.length === 0 && !writes?.length;
}

/** Every command in it only looks, and nothing is written to a file. */
export function onlyLooks({ commands, reasons }: ShellPlan): boolean {
  const isNowhere = ({ operator, target, isDescriptor }: ShellCommand["redirects"][number]) =>
    isDescriptor || operator === "<" || target.literal === "/dev/null";
  return reasons.length === 0 && commands.every((one) => isReading(one) && one.redirects.every(isNowhere));
}

/** The agent's own folder around its workspace: instructions, memory, skills. */
function isInAgentFolder(path: string, place: GatePlace): boolean {
  return isInside(path, place.agentDir) && !isInside(path, place.workspace);
}

function listWords({ words, redirects }: ShellCommand): string[] {
  return [...words, ...redirects.map(({ target }) => target)].map((word) => word.literal ?? word.guess);
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
