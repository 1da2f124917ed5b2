/**
 * Commands whose files decide what they do, so that "allow always" has to be bound to what the files say: `ed -s a.txt < x`,
 * `psql -f x`, `cp x ../AGENTS.md`. The lists say which programs only show, change or copy text; any other may do what it reads.
 */
import { resolve } from "node:path";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { pathsInWord } from "../../../core/kit/index.ts";
import type { Held } from "./directory.ts";
import { baseName } from "./shell/index.ts";

/** They show files, or what is known about them, and remove or make some; git is asked about its own way (`git apply`). */
const SHOWS =
  /^(cat|tac|nl|head|tail|wc|ls|rm|mkdir|rmdir|touch|chmod|chown|chgrp|grep|egrep|fgrep|rg|find|sort|uniq|cut|tr|diff|cmp|comm|paste|join|echo|printf|pwd|cd|date|stat|file|du|df|which|basename|dirname|realpath|readlink|tree|md5sum|sha\d*sum|b2sum|cksum|od|hexdump|xxd|strings|test|\[|true|false|sleep|git|jq|fold|fmt|rev|column|base64|zcat|zgrep|less|more|)$/;
/** They put what they read into other files. */
const COPIES =
  /^(cp|mv|ln|install|tee|dd|sponge|truncate|zip|g(un)?zip|(un)?xz|(un)?zstd|b(un)?zip2|split|csplit|shuf|iconv|sed|[gmn]?awk)$/;
const LETTERS = /^-?[A-Za-z]+$/;
const BY_LIST = /^(-[A-Za-z]*[TX]|--(files-from|exclude-from|from))/;

export function actsOnData(commands: readonly ShellCommand[], held: Held): boolean {
  const leaves = commands.some((command) => writesElsewhere(command, held));
  return commands.some((command) => {
    const name = baseName(command.words[0]!.guess);
    if (SHOWS.test(name) || COPIES.test(name) || isPacking(name, command)) return leaves;
    return true;
  });
}

const RUNS_ON_FOUND: ReadonlySet<string> = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
const CHANGES_FOUND = /^-(delete|fprint0?|fprintf|fls)$/;
const CHANGES = /^(rm|mkdir|rmdir|touch|chmod|chown|chgrp|git)$/;

/** `find` that deletes or changes what it finds, or runs a program on it that may: those are other files each time. */
export function changesFound(commands: readonly ShellCommand[]): boolean {
  return commands.some(({ words: [name, ...args] }) => {
    if (baseName(name!.guess) !== "find") return false;
    return args.some(({ guess }, i) => {
      if (!RUNS_ON_FOUND.has(guess)) return CHANGES_FOUND.test(guess);
      const program = baseName(args[i + 1]?.guess ?? "");
      return !SHOWS.test(program) || CHANGES.test(program);
    });
  });
}

/** Whether what is in a folder that it names counts, too. Programs that show or copy are asked about what they name. */
export function readsFolders(commands: readonly ShellCommand[]): boolean {
  return commands.some(({ words }) => {
    const name = baseName(words[0]!.guess);
    return !SHOWS.test(name) && !COPIES.test(name);
  });
}

/** `tar -czf x.tgz src`, without a list of names from a file. */
function isPacking(name: string, { words }: ShellCommand): boolean {
  const args = words.slice(1).map((word) => word.guess);
  return (
    name === "tar" && LETTERS.test(args[0] ?? "") && args[0]!.includes("c") && !args.some((arg) => BY_LIST.test(arg))
  );
}

/** It may write a file that lies elsewhere, is hidden, or is a text that agents may take instructions from. */
function writesElsewhere({ words, redirects }: ShellCommand, { path, home, roots }: Held): boolean {
  const matters = (text: string) => {
    const at = resolve(path, text);
    const root = [home, ...roots].find((one) => at === one || at.startsWith(`${one}/`));
    return root === undefined || /\/\.|\.(md|markdown)$|\/(skills|hooks|plugins)(\/|$)/i.test(at.slice(root.length));
  };
  const outputs = redirects.filter(
    ({ operator, target, isDescriptor }) => operator.includes(">") && !isDescriptor && target.literal !== "/dev/null",
  );
  if (outputs.some(({ target }) => target.literal === undefined || matters(target.literal))) return true;
  const name = baseName(words[0]!.guess);
  if (!COPIES.test(name)) return false;
  return words.slice(1).some(({ literal }) => literal === undefined || pathsInWord(literal).some(matters));
}
