/** git: what only looks, with the options that keep it so. Everything else must be spelt out by a rule. */
import { isCutShort } from "../../core/kit/index.ts";
import type { Judgement } from "./programs.ts";
import {
  BRANCH_NAME,
  CONFIG_CHANGES,
  changesGit,
  doesMoreThanRead,
  gitRunsThrough,
  notHarmless,
  REFLOG_CHANGES,
  REMOTES,
  SIGNATURES,
  STASH_CHANGES,
  TAG_NAME,
} from "./words.ts";

export interface Concern {
  /** Which argument, counted after the program. */
  index: number;
  text: string;
  /** A narrower rule that may cover the command. */
  rule?: string;
}

const GLOBAL = /^(--no-pager|-P|--no-optional-locks|--version|--literal-pathspecs)$/;
const HISTORY =
  "oneline stat stat= numstat shortstat name-only name-status graph no-graph decorate decorate= no-decorate all branches tags remotes merges no-merges reverse follow patch no-patch cached staged word-diff word-diff= color color= no-color abbrev-commit abbrev= no-abbrev-commit pretty pretty= format= date= since= after= until= before= author= committer= grep= max-count= skip= first-parent no-ext-diff no-textconv ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines check summary diff-filter= find-renames find-renames= find-copies unified= raw left-right cherry-pick cherry-mark full-index binary exit-code quiet minimal patience histogram relative relative= text no-color-moved color-words topo-order date-order author-date-order full-history simplify-merges ancestry-path not merge-base count no-notes parents children boundary regexp-ignore-case extended-regexp fixed-strings all-match invert-grep dirstat compact-summary no-renames submodule=short ignore-submodules ignore-submodules= inter-hunk-context= function-context cumulative";
const HISTORY_SHORT = /^-(\d+|p|s|u|w|b|a|i|E|F|R|z|c|m|W|[SGUnMCLDB].*|l\d+)$/;

interface Sub {
  long: string;
  short: RegExp;
  /** Operands it may have; writing forms have too many. */
  operands?: number;
  check?: (args: readonly string[]) => string | undefined;
}

const NO_SIGNATURE = (args: readonly string[]) =>
  args.some((arg) => /%G|show-signature/.test(arg)) ? SIGNATURES : undefined;

const LOOKS: Readonly<Record<string, Sub>> = {
  status: {
    long: "short branch porcelain porcelain= long show-stash ahead-behind no-ahead-behind untracked-files untracked-files= ignored ignored= renames no-renames column no-column ignore-submodules ignore-submodules= verbose",
    short: /^-([sbvz]+|u(no|normal|all)?)$/,
  },
  log: { long: HISTORY, short: HISTORY_SHORT, check: NO_SIGNATURE },
  show: { long: HISTORY, short: HISTORY_SHORT, check: NO_SIGNATURE },
  diff: { long: HISTORY, short: HISTORY_SHORT },
  "rev-list": { long: HISTORY, short: HISTORY_SHORT, check: NO_SIGNATURE },
  shortlog: { long: "summary numbered email group= since= until= all", short: /^-[sne]+$/ },
  branch: {
    long: "list all remotes verbose show-current merged no-merged contains no-contains sort= format= column no-column color= no-color no-abbrev",
    short: /^-[arvl]+$/,
    check: (args) => {
      const names = args.some((arg) => !arg.startsWith("-"));
      return names && !args.some((arg) => /^(--list|-l|--contains|--no-contains|--merged|--no-merged)$/.test(arg))
        ? BRANCH_NAME
        : NO_SIGNATURE(args);
    },
  },
  tag: {
    long: "list sort= format= contains merged no-merged column= points-at",
    short: /^-(l|n\d*)$/,
    check: (args) =>
      args.some((arg) => !arg.startsWith("-")) && !args.some((arg) => /^(--list|-l)$/.test(arg))
        ? TAG_NAME
        : NO_SIGNATURE(args),
  },
  remote: {
    long: "verbose",
    short: /^-v$/,
    check: (args) =>
      args.every((arg) => arg === "-v" || arg === "--verbose") || (args[0] === "get-url" && args.length === 2)
        ? undefined
        : REMOTES,
  },
  "rev-parse": {
    long: "show-toplevel abbrev-ref abbrev-ref= short short= is-inside-work-tree is-inside-git-dir is-bare-repository git-dir show-prefix show-cdup verify quiet symbolic symbolic-full-name all branches tags remotes absolute-git-dir git-common-dir show-superproject-working-tree",
    short: /^-q$/,
  },
  "ls-files": {
    long: "cached deleted modified others ignored stage unmerged exclude-standard directory no-empty-directory full-name error-unmatch eol exclude=",
    short: /^-[cdmosuztv]+$/,
  },
  "ls-tree": { long: "name-only name-status long full-tree full-name abbrev=", short: /^-[drtlz]+$/ },
  blame: {
    long: "porcelain line-porcelain show-name show-number show-email date= since= root abbrev=",
    short: /^-([cefltnswbp]+|L.*|M.*|C.*)$/,
  },
  describe: {
    long: "all tags long always dirty dirty= abbrev= match= exclude= exact-match contains first-parent",
    short: /^-[a-z]$/,
  },
  "merge-base": { long: "all is-ancestor fork-point octopus independent", short: /^-a$/ },
  "cat-file": { long: "", short: /^-[ptse]$/ },
  stash: {
    long: "",
    short: /^-$/,
    check: (args) => (args[0] === "list" && args.length === 1 ? undefined : STASH_CHANGES),
  },
  reflog: {
    long: HISTORY,
    short: HISTORY_SHORT,
    check: (args) =>
      args.some((arg) => /^(expire|delete|drop|write|migrate)$/.test(arg)) ? REFLOG_CHANGES : NO_SIGNATURE(args),
  },
  config: {
    long: "get get-all list name-only show-origin show-scope local global type=",
    short: /^-l$/,
    check: (args) =>
      args.some((arg) => /^(--get|--get-all|--list|-l)$/.test(arg)) || asksSetting(args) ? undefined : CONFIG_CHANGES,
  },
  // Only where it removes nothing.
  clean: {
    long: "dry-run quiet",
    short: /^-[ndxXq]+$/,
  },
  grep: {
    long: "line-number ignore-case files-with-matches name-only word-regexp extended-regexp fixed-strings perl-regexp count cached untracked and or not heading break max-depth= show-function function-context color= no-color quiet text invert-match all-match recurse-submodules=no",
    short: /^-([niIlLwEFPchHvqaW]+|[ABCe]\S*|\d+)$/,
  },
};
/** `git config user.name`: one key and no value. */
function asksSetting(args: readonly string[]): boolean {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  // `git config edit` opens an editor; keys have a dot.
  return operands.length === 1 && operands[0]!.includes(".") && !args.includes("--");
}

/** `git clean -n` only says what it would remove. Behind `--` it is a file's name. */
function isDryRun(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const options = end < 0 ? args : args.slice(0, end);
  return options.some((arg) => /^-[dxXq]*n[ndxXq]*$|^--dry-run$/.test(arg));
}

/** Subcommands that take commands or settings; their arguments are never open. */
const NEVER_OPEN =
  /^(config|bisect|submodule|filter-branch|difftool|mergetool|rebase|alias|daemon|instaweb|http-backend|shell|upload-pack|receive-pack|upload-archive|send-email|web--browse|credential.*|remote-.*|hook|for-each-repo|maintenance|archive|clone|init|help|var|gui|citool|gitk|request-pull|svn|p4|cvs.*|fast-.*|worktree|replace|notes|am|apply)$/;
const RUNNING =
  /^(-c|-C|-x|-O|-u|-e|--exec|--upload-pack|--receive-pack|--config|--template|--extcmd|--tool|--open-files|--separate-git-dir|--git-dir|--work-tree|--exec-path|--edit|--editor|--gpg|-S|--filter|--command|--sendmail|--smtp|--output|--no-index|--ext-diff|--textconv|--recurse-submodules|--strategy|--index-output)/;
/** Their long names in full: git also takes the beginning of one. */
const RUNNING_LONG =
  "exec exec-path extcmd upload-pack receive-pack config config-env template tool open-files-in-pager separate-git-dir git-dir work-tree edit editor edit-description gpg-sign filter filters command sendmail-cmd smtp-server output output-directory no-index ext-diff ext-grep textconv recurse-submodules recurse-submodules-default strategy strategy-option index-output".split(
    " ",
  );

/** Work on the stash, for a rule that says so (`git stash *`). */
const STASH_WORK = /^(push|pop|apply|save)$/;
/** Options that run something elsewhere and here only name a branch or a commit. */
const WORDS: Readonly<Record<string, RegExp>> = {
  switch: /^-[cC]$/,
  commit: /^(-[acCs]+|--no-edit|--amend|--signoff|--fixup=.*|--squash=.*)$/,
};
/** The next word is a message. */
const MESSAGE: Readonly<Record<string, RegExp>> = {
  commit: /^(-[aqs]*m|--message)$/,
  stash: /^(-[a-z]*m|--message)$/,
  tag: /^(-[as]*m|--message)$/,
  merge: /^(-m|--message)$/,
};

/** In `--author -m --file=x`, `-m` is a name and what follows is an option: a word with a dash is never taken for the message. */
function isMessage(name: string, args: readonly string[], index: number): boolean {
  return !args[index]!.startsWith("-") && (MESSAGE[name]?.test(args[index - 1] ?? "") ?? false);
}

/** Arguments that are text for git, whatever they look like: messages, patterns, formats. */
export function isGitText(args: readonly string[], index: number): boolean {
  const at = args.findIndex((word) => !word.startsWith("-"));
  const name = args[at] ?? "";
  const arg = args[index]!;
  const dashes = args.indexOf("--");
  if (index <= at || (dashes >= 0 && index > dashes)) return false;
  if (/^--(grep|author|committer|format|pretty|date|since|until|after|before|message|word-diff-regex)=/.test(arg))
    return true;
  if (/^-L/.test(arg)) return true;
  if (isMessage(name, args, index) || (MESSAGE[name] && /^-[aqs]*m./.test(arg))) return true;
  if (name !== "grep" || args.some((word) => /^-([ef]|-no-index|-file)/.test(word))) return false;
  return args.findIndex((word, i) => i > at && !word.startsWith("-")) === index;
}

export function judgeGit(args: readonly string[]): Judgement {
  const out: Judgement = { concerns: [], files: [] };
  const add = (index: number, text: string) => out.concerns.push({ index, text });
  let at = 0;
  for (; at < args.length && args[at]!.startsWith("-"); at++) {
    if (!GLOBAL.test(args[at]!)) add(at, changesGit(args[at]!));
  }
  const name = args[at];
  if (name === undefined) return out;
  const rest = args.slice(at + 1);
  const isWork = (name === "stash" && STASH_WORK.test(rest[0] ?? "")) || (name === "clean" && !isDryRun(rest));
  const isLook = Object.hasOwn(LOOKS, name) && !isWork;
  const sub = isLook ? LOOKS[name]! : undefined;
  if (!sub) {
    // An unknown name may be an alias, and aliases run shell text. The rule must spell it.
    const mayOpen = /^[a-z-]+$/.test(name) && !NEVER_OPEN.test(name);
    out.concerns.push({ index: at, text: doesMoreThanRead(name), ...(mayOpen ? { rule: `git ${name} *` } : {}) });
    for (const [i, arg] of rest.entries()) {
      const words = WORDS[name]?.test(arg) || isMessage(name, rest, i);
      const runs = RUNNING.test(arg) || isCutShort(arg, RUNNING_LONG) || /::/.test(arg);
      if (NEVER_OPEN.test(name) || (!words && runs)) add(at + 1 + i, gitRunsThrough(name, arg));
    }
    return out;
  }
  const long = new Set(sub.long.split(" "));
  // Behind `--` too: in `grep -e -- --open-files-in-pager=x` it is the value of `-e`, and options go on.
  for (const [i, arg] of rest.entries()) {
    const index = at + 1 + i;
    if (!arg.startsWith("-") || arg === "--") continue;
    if (arg.startsWith("--")) {
      const cut = arg.indexOf("=");
      if (!long.has(cut < 0 ? arg.slice(2) : arg.slice(2, cut + 1)) && !long.has(arg.slice(2))) {
        add(index, notHarmless(arg, `git ${name}`));
      }
    } else if (!sub.short.test(arg)) add(index, notHarmless(arg, `git ${name}`));
  }
  const problem = sub.check?.(rest);
  if (problem) for (const [i] of rest.entries()) add(at + 1 + i, problem);
  if (problem && rest.length === 0) add(at, problem);
  return out;
}
