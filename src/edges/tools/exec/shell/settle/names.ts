/** What settling knows of names: programs that leave files alone, variables that may be set, builtins that do nothing. */
import { loadsCode } from "../assignment.ts";
import type { Settled } from "./word.ts";

/** Programs that leave files as they are, however they are called; `sort` and `uniq` only without a file to write. */
export const LEAVES_FILES =
  /^(ls|cat|tac|nl|head|tail|wc|grep|egrep|fgrep|rg|echo|printf|date|cut|tr|test|\[|pwd|basename|dirname|realpath|stat|file|du|df|diff|cmp|comm|paste|column|seq|true|false|which|whoami|hostname|id|uname|jq|sha256sum|md5sum|sleep|fold|rev|env|printenv|:|cd|read)$/;
/** Variables a command may be given: how it writes dates and sorts, nothing it loads. */
export const HARMLESS_SETTINGS: readonly [RegExp, RegExp][] = [
  [/^(LANG|LC_[A-Z]+)$/, /^[A-Za-z_]+(\.[A-Za-z0-9-]+)?$/],
  [/^TZ$/, /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z][A-Za-z0-9_+-]*)*$/],
  [/^(NO_COLOR|FORCE_COLOR|COLUMNS|CI)$/, /^\w*$/],
];
/** Names that mean something to bash or to programs. */
const RESERVED = /^(_$|BASH|LC_|COMP|HIST|PS\d|READLINE|SRANDOM|EPOCH|COPROC|GLOB|GIT_|LARES_|auto_resume|histchars)/;

/** A name that means nothing to anybody else. */
export function isFree(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !loadsCode(name) && !RESERVED.test(name) && !TAKEN.has(name);
}

const TAKEN = new Set(
  "CI HOME PWD PATH IFS ENV LANG TERM TZ USER SHELL RANDOM SECONDS LINENO UID EUID PPID GROUPS REPLY SHLVL OPTARG OPTIND OPTERR COLUMNS LINES HOSTNAME HOSTTYPE MACHTYPE OSTYPE DIRSTACK FUNCNAME FUNCNEST PIPESTATUS MAPFILE MAIL MAILPATH TMOUT TIMEFORMAT FIGNORE IGNOREEOF CHILD_MAX OLDPWD".split(
    " ",
  ),
);

/** Parts of the shell that evaluate nothing and touch no file. Undefined: another program. */
export function builtin(name: string, words: readonly Settled[]): string | undefined {
  const args = words.flatMap((word) => ("words" in word ? word.words : ["$"]));
  const areNames = (list: readonly string[]) =>
    list.length > 0 && list.every((word) => /^[A-Za-z0-9_.+-]+$/.test(word) && !word.startsWith("-"));
  if (name === ":" && args.length === 0) return ":";
  if (name === "type" && areNames(args)) return `type ${args.join(" ")}`;
  if (name === "command" && /^-[vV]$/.test(args[0] ?? "") && areNames(args.slice(1)))
    return `command ${args.join(" ")}`;
  if (name === "set" && /^(-[eu]+|-[eu]*o pipefail)$/.test(args.join(" "))) return `set ${args.join(" ")}`;
  return undefined;
}
