/** What is wrong with single words of a command that a rule covers: files of secrets, files that other programs load. Pure. */
import type { ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import { gluedNames, isReaching, isSecretFile, pathsInWord } from "../../core/kit/index.ts";
import { isGitText } from "./git.ts";
import { absolute, isInWorkspace } from "./paths.ts";
import { hasFiles, judgeArguments } from "./programs.ts";
import { type GatePlace, isLoaded, isStanding, pathRule, stripRoot } from "./rules.ts";
import { isSteering } from "./steering-files.ts";

export interface WordPlace {
  shell: ShellPlan;
  place: GatePlace;
}

type IsOpen = (index: number) => boolean;

/**
 * A word that may name something outside, for programs whose arguments nobody has written down: which of them are files is not
 * known, so each that could be one counts (`--output=/x`, `-F../x`, `@/x`, `file:/x`).
 */
export function reachingWord(
  args: readonly string[],
  isOpen: IsOpen,
  { git, shell, place }: WordPlace & { git: boolean },
): string | undefined {
  for (const [index, arg] of args.entries()) {
    if (!isOpen(index) || (git && isGitText(args, index))) continue;
    const out = pathsInWord(arg).find(
      (path) =>
        isReaching(path) && path !== "/dev/null" && !isInWorkspace(absolute(path, shell.cwd, place.userHome), place),
    );
    if (out) return out;
  }
  return undefined;
}

/** They show what they are given, or only what is wrong with it. Any other program may write where a word says. */
const READS =
  /^(base(32|64|nc)|column|rev|pr|expand|unexpand|bat|batcat|less|more|zcat|bzcat|xzcat|cksum|sum|shellcheck|markdownlint|yamllint|hadolint|actionlint|tokei|numfmt|tsort|pv|ack|ag|hexyl|rm|rmdir|unlink|trash|chmod|chown|chgrp)$/;
/** They change nothing of what programs obey: they make it, empty, or remove it. */
const MAKES = /^(touch|mkdir)$/;

/**
 * A word that names a file or folder other programs run, or that later turns take instructions from: `cp x .git/hooks/pre-commit`,
 * `cp x skills`, `curl -o.envrc …`. From the folder the command stands in: `cd .git && cp ../x config`. `real`: where a word leads, over
 * links.
 */
export function loadedWord(
  name: string,
  args: readonly string[],
  isOpen: IsOpen,
  where: WordPlace & { real?: (index: number) => readonly string[] },
): string | undefined {
  const { shell, place, real = () => [] } = where;
  const isMeant = (word: string) => {
    const path = absolute(word, shell.cwd, place.userHome);
    return isLoaded(path, place) || (!READS.test(name) && isStanding(stripRoot(path, place)));
  };
  const fetched = (arg: string) => (FETCHES.test(name) ? nameOfFetched(arg) : []);
  return args.find((arg, index) => isOpen(index) && [...namesIn(arg), ...fetched(arg), ...real(index)].some(isMeant));
}

/**
 * A word by which a program may write a file that tells other programs what to run, where no rule for writing covers it. Of copies and
 * moves it is the target, with the names that files get in a folder.
 */
export function steeringWord(
  name: string,
  args: readonly string[],
  isOpen: IsOpen,
  { shell, place, write }: WordPlace & { write: readonly string[] },
): string | undefined {
  if (READS.test(name) || MAKES.test(name)) return undefined;
  const at = (word: string) => absolute(word, shell.cwd, place.userHome);
  const isMeant = (word: string) =>
    isInWorkspace(at(word), place) && isSteering(stripRoot(at(word), place)) && !pathRule(write, at(word), place);
  if (PUTS.test(name) || (name === "git" && args[0] === "mv")) return readTargets(args, name).find(isMeant);
  if (name === "git") return undefined;
  const fetched = (arg: string) => (FETCHES.test(name) ? nameOfFetched(arg) : []);
  // In `-qOtemp.html` the end is no hidden file.
  const isName = (arg: string, one: string) =>
    !(/^-[^-=]*$/.test(arg) && one.startsWith(".") && arg.length - one.length > 3);
  return args.find(
    (arg, index) => isOpen(index) && [...namesIn(arg), ...fetched(arg)].some((one) => isName(arg, one) && isMeant(one)),
  );
}

const PUTS = /^(cp|mv|rsync|scp|install|ln)$/;

/** What a copy or a move may write: its last word, and in a folder of that name the names of the others. */
function readTargets(args: readonly string[], name: string): string[] {
  const glued = args.flatMap((arg) => /^(?:-[A-Za-su-z]*t|--target-directory=)(.+)$/s.exec(arg)?.[1] ?? []);
  const plain = args.slice(name === "git" ? 1 : 0).filter((arg) => !arg.startsWith("-"));
  const isByOption = glued.length > 0 || args.some((arg) => /^-[A-Za-z]*t$|^--target-directory$/.test(arg));
  const folders = isByOption ? [...glued, ...plain] : plain.slice(-1);
  const sources = isByOption ? plain : plain.slice(0, -1);
  // A name with an ending is a file, unless more than one is put there.
  const isFolder = (word: string) => isByOption || sources.length > 1 || !/(^|\/)[^/]*\.\w+$/.test(word);
  return folders.flatMap((to) => [to, ...(isFolder(to) ? sources.map((one) => `${to}/${baseName(one)}`) : [])]);
}

/** Subcommands of git that put files where their words say. */
const GIT_WRITES = /^(mv|checkout|restore|clone|init|worktree|archive|bundle|format-patch|sparse-checkout)$/;

export function gitWrites(args: readonly string[]): boolean {
  return GIT_WRITES.test(args.find((arg) => !arg.startsWith("-")) ?? "");
}

/** A file or folder that git would write, and that other programs run or later turns take instructions from. */
export function gitTarget(args: readonly string[], isOpen: IsOpen, { shell, place }: WordPlace): string | undefined {
  if (!gitWrites(args)) return undefined;
  const isMeant = (word: string) => {
    const path = absolute(word, shell.cwd, place.userHome);
    return isLoaded(path, place) || isStanding(stripRoot(path, place));
  };
  return args.find((arg, index) => isOpen(index) && !isGitText(args, index) && namesIn(arg).some(isMeant));
}

const FETCHES = /^(curl|wget2?|aria2c)$/;

/** The name that what is fetched gets: `curl -O https://example.org/.curlrc`. */
function nameOfFetched(word: string): string[] {
  const at = word.indexOf("://");
  const path = at < 0 ? "" : word.slice(at + 3).split(/[?#]/, 1)[0]!;
  return path.includes("/") ? [baseName(path)] : [];
}

/** What programs that unpack a file leave off its name: `gzip -d AGENTS.md.gz` writes AGENTS.md. */
const PACKED = /[.\-_](gz|z|bz2?|xz|lzma|zst|lz4)$/i;

/** What a word may name, also glued to the letters of an option, and packed. */
function namesIn(word: string): string[] {
  return [...pathsInWord(word), ...gluedNames(word)].flatMap((name) =>
    PACKED.test(name) ? [name, name.replace(PACKED, "")] : [name],
  );
}

/** Programs that show what is in the files they are given. A file of secrets is refused, not asked about. */
const SHOWS =
  /^(cat|tac|nl|head|tail|grep|egrep|fgrep|rg|sort|uniq|cut|wc|paste|join|comm|cmp|diff|od|hexdump|strings|fold|fmt|sed|[gmn]?awk|file|jq|xxd)$/;
/** Programs that neither show nor copy what is in the files they are given. */
const SHOWS_NOTHING = /^(rm|rmdir|unlink|touch|mkdir|chmod|chown|chgrp|truncate|shred|trash)$/;

export function showsNothing(name: string): boolean {
  return SHOWS_NOTHING.test(name);
}

/** A word that names a file of secrets, for programs that show what is in files. By name only, there or not (EX-33). */
export function shownSecret(command: ShellCommand, shell: ShellPlan, place: GatePlace): string | undefined {
  const name = baseName(command.words[0]!.guess);
  const args = command.words.slice(1).map((word) => word.literal ?? word.guess);
  if (!SHOWS.test(name)) return undefined;
  const shown = judgeArguments(name, args).files;
  const byOption = args.flatMap((arg, i) => {
    if (/^(-[A-Za-z]*f|--file)$/.test(arg)) return [args[i + 1] ?? ""];
    if (/^(-f|--file=)./.test(arg)) return [arg.replace(/^(-f|--file=)/, "")];
    return [];
  });
  return [...shown.filter((file) => file.use === "content").map((file) => file.path), ...byOption].find((path) =>
    isSecretFile(absolute(path, shell.cwd, place.userHome)),
  );
}

/** The same for all other programs, which may show the file, copy it or send it: `rev .env`, `cp .env z.txt`, `git show HEAD:.env`. */
export function reachedSecret(
  name: string,
  args: readonly string[],
  isOpen: IsOpen,
  where: WordPlace,
): string | undefined {
  if (SHOWS_NOTHING.test(name) || (hasFiles(name) && name !== "tar")) return undefined;
  const isGit = name === "git";
  if (isGit && !gitShows(args)) return undefined;
  const { shell, place } = where;
  // `log -L1,3:file` is a pattern but for the file at its end.
  const meant = (arg: string, index: number) => {
    if (name === "tar" && arg.startsWith("--exclude=")) return [];
    if (!isGit || !isGitText(args, index)) return namesIn(arg);
    return arg.startsWith("-L") ? namesIn(arg.slice(2)) : [];
  };
  return args.find(
    (arg, index) =>
      isOpen(index) && meant(arg, index).some((path) => isSecretFile(absolute(path, shell.cwd, place.userHome))),
  );
}

/** With nothing but these, git shows no lines of a change. */
const SUMMARY = /^(--(stat|name-only|name-status|numstat|shortstat|summary|no-patch|quiet|dirstat)|-s)$/;
const STAGED = /^--(cached|staged)$/;
/** Options, cut short or not, that take a message or paths from a file, or show what changed: `commit -F`, `add --pathspec-from-file`, `add -p`. */
const READS_BY_OPTION = /^(-[A-Za-z]*[FTtp]|--(fi|te|pa))/;

/** Whether git shows what is in the files that are named. A log without patches does not. */
function gitShows(args: readonly string[]): boolean {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  const name = args[at] ?? "";
  if (/^(log|reflog|rev-list|whatchanged)$/.test(name))
    return args.some((arg) =>
      /^(-[pucmWSGLU]|--(patch|cc|unified|word-diff|color-words|function-context|binary|text|check))/.test(arg),
    );
  if (/^(show|diff)$/.test(name)) {
    const dashes = args.indexOf("--");
    const before = args.slice(at + 1, dashes < 0 ? undefined : dashes);
    // `git show HEAD:file` prints the whole file, even with --stat.
    if (before.some((arg) => arg.includes(":"))) return true;
    const options = before.filter((arg) => arg.startsWith("-"));
    return !options.some((arg) => SUMMARY.test(arg)) || !options.every((arg) => SUMMARY.test(arg) || STAGED.test(arg));
  }
  if (args.some((arg) => READS_BY_OPTION.test(arg))) return true;
  if (/^(status|commit)$/.test(name) && args.some((arg) => /^(-[A-Za-z]*v|--v)/.test(arg))) return true;
  return !/^(add|rm|mv|status|ls-files|ls-tree|check-ignore|restore|reset|checkout|commit|branch|tag|remote|config|fetch|push|pull|switch|update-index|clean|stash)$/.test(
    name,
  );
}

/** What git reads its settings from, and what a folder needs to count as a repository. */
const OF_GIT = /^(HEAD|config|config\.worktree|commondir|gitdir|objects|refs|hooks|attributes|\.git.*)$/;
const COPIES =
  /^(cp|mv|install|ln|tee|dd|sponge|curl|sort|uniq|xxd|sed|tar|split|csplit|shuf|iconv|ptx|sdiff|g(un)?zip|(un)?compress|b(un)?zip2|(un)?xz|(un)?lzma|(un)?zstd|(un)?lz4|(un)?pigz)$/;
/** Which files these write stands in no word. */
const UNPACKS = /^(tar|bsdtar|unzip|7za?|cpio|rsync|scp|wget|patch)$/;

/** Whether a command may write what git, started after it, takes its settings from: those were read before the text runs. */
export function mayChangeGit(command: ShellCommand, { shell, place }: WordPlace): boolean {
  const name = baseName(command.words[0]!.guess);
  const args = command.words.slice(1);
  const isOfGit = (path: string) => {
    const at = absolute(path, shell.cwd, place.userHome);
    return OF_GIT.test(baseName(at)) || isLoaded(at, place);
  };
  const writes = (target: { literal?: string; guess: string }) =>
    target.literal === undefined || isOfGit(target.literal);
  if (
    command.redirects.some(
      ({ operator, target, isDescriptor }) => operator.includes(">") && !isDescriptor && writes(target),
    )
  )
    return true;
  if (UNPACKS.test(name) && name !== "tar") return true;
  if (!COPIES.test(name)) return false;
  if (/^(sort|uniq|tee|xxd|sed|tar)$/.test(name)) {
    const judged = judgeArguments(
      name,
      args.map((word) => word.guess),
    );
    return judged.concerns.length > 0 || (judged.writes ?? []).some(({ path }) => isOfGit(path));
  }
  const isDeep = args.some((word) => /^(-[A-Za-z]*[rRa]|--(rec|arc))/.test(word.guess));
  return (
    isDeep ||
    (command.links?.some(({ isGit }) => isGit) ?? false) ||
    args.some((word) => word.literal === undefined || namesIn(word.literal).some(isOfGit))
  );
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
