/**
 * Which files a command may delete: what it names, including folders and patterns, and for commands that act on more than their
 * arguments (a script, git, find) everything, within limits. Judged by the command's words only.
 */
import { isAbsolute, join } from "node:path";
import type { ActionPlan, ShellCommand } from "../../core/contracts/index.ts";

/** Programs that only read, print, or create something new. */
const HARMLESS =
  /^(ls|cat|tac|nl|head|tail|wc|grep|egrep|fgrep|rg|echo|printf|true|false|pwd|whoami|hostname|uname|id|date|sleep|seq|basename|dirname|realpath|readlink|stat|file|du|df|which|whereis|test|\[|cut|tr|fold|fmt|paste|join|comm|cmp|diff|uniq|sort|tree|od|hexdump|strings|jq|md5sum|sha\d+sum|cksum|ps|env|printenv|mkdir|touch|export)$/;
/** Programs that change only what they name. */
const BY_NAME = /^(rm|rmdir|unlink|mv|cp|truncate|tee|dd|ln|install|chmod|chown|sed|gzip|gunzip|bzip2|xz|zstd|shred)$/;
const GIT_LOOKS =
  /^(status|log|diff|show|branch|tag|remote|rev-parse|ls-files|ls-tree|blame|shortlog|describe|reflog|cat-file|rev-list|grep|add|commit|fetch|push)$/;

export interface Endangered {
  /** Absolute beginnings of paths the command names; a file or a folder, or where a pattern begins. */
  named: string[];
  /** It may delete files it doesn't name. */
  anything: boolean;
}

export function endangered({ shell }: ActionPlan): Endangered {
  const out: Endangered = { named: [], anything: false };
  for (const command of shell?.commands ?? []) {
    const name = baseName(command.words[0]!.guess);
    // After a cd, names refer to something else.
    if (/^(cd|pushd|popd)$/.test(name)) out.anything ||= shell!.commands.length > 1;
    if (HARMLESS.test(name) || (name === "git" && looksOnly(command))) continue;
    out.anything ||=
      !BY_NAME.test(name) || command.within.length > 0 || command.words.some(({ guess }) => guess === "*");
    for (const { literal, guess } of command.words.slice(1)) {
      const word = literal ?? guess.slice(0, firstWildcard(guess));
      if (word === "" && literal !== undefined) continue;
      if (word.startsWith("-")) continue;
      out.named.push(isAbsolute(word) ? word : join(shell!.cwd, word));
    }
  }
  return out;
}

function looksOnly({ words }: ShellCommand): boolean {
  const sub = words.slice(1).find(({ guess }) => !guess.startsWith("-"));
  return sub === undefined || GIT_LOOKS.test(sub.guess);
}

function firstWildcard(text: string): number {
  const at = text.search(/[*?[{]/);
  return at < 0 ? text.length : at;
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
