/**
 * Which files a command may take away: what it names, folders and patterns included, and for commands that go by more than
 * their words (a script, git, find) everything there is, as far as there is room. By words only; nothing is looked at.
 */
import { isAbsolute, join } from "node:path";
import type { ActionPlan, ShellCommand } from "../../core/contracts/index.ts";

/** Only look, or print, or make something new. */
const HARMLESS =
  /^(ls|cat|tac|nl|head|tail|wc|grep|egrep|fgrep|rg|echo|printf|true|false|pwd|whoami|hostname|uname|id|date|sleep|seq|basename|dirname|realpath|readlink|stat|file|du|df|which|whereis|test|\[|cut|tr|fold|fmt|paste|join|comm|cmp|diff|uniq|sort|tree|od|hexdump|strings|jq|md5sum|sha\d+sum|cksum|ps|env|printenv|mkdir|touch|export)$/;
/** Change only what they name. */
const BY_NAME = /^(rm|rmdir|unlink|mv|cp|truncate|tee|dd|ln|install|chmod|chown|sed|gzip|gunzip|bzip2|xz|zstd|shred)$/;
const GIT_LOOKS =
  /^(status|log|diff|show|branch|tag|remote|rev-parse|ls-files|ls-tree|blame|shortlog|describe|reflog|cat-file|rev-list|grep|add|commit|fetch|push)$/;

export interface Endangered {
  /** Absolute beginnings of paths the command names; a file or a folder, or where a pattern begins. */
  named: string[];
  /** It may take away what it does not name. */
  anything: boolean;
}

export function endangered({ shell }: ActionPlan): Endangered {
  const out: Endangered = { named: [], anything: false };
  for (const command of shell?.commands ?? []) {
    const name = baseName(command.words[0]!.guess);
    // From here on names mean something else.
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
