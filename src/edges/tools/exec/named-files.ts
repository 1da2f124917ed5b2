/**
 * Files that the words of a command name, whatever their ending: `bash notes.md`, `make -fx.log`, `cd sub && . ./README.md`. What
 * a program does with such a file is not known, so an approval of the command is bound to it as it stands.
 *
 * By identity, size and time of change, like the rest of the workspace (code-tree.ts). "Allow always" outlives that: it is bound to what
 * the files say, so that a file which is written again with the same content doesn't ask again.
 */
import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { type Looks, pathFrom, splitWord } from "./looks.ts";
import { readContent } from "./prepare.ts";
import { baseName } from "./shell/index.ts";

/** They show, copy or remove files, and run none. A program that is missing here only asks again more often. */
const RUNS_NOTHING =
  /^(cat|tac|nl|head|tail|wc|ls|cp|mv|rm|mkdir|rmdir|touch|ln|chmod|chown|chgrp|grep|egrep|fgrep|rg|find|sort|uniq|cut|tr|diff|cmp|comm|echo|printf|pwd|cd|date|stat|file|du|df|which|basename|dirname|realpath|readlink|tree|md5sum|sha\d*sum|b2sum|cksum|od|hexdump|xxd|strings|tee|curl|wget|test|\[|true|false|sleep|tar|zip|unzip|gzip|gunzip|xz|zstd)$/;

interface NamedIn {
  places: readonly string[];
  home: string;
  looks: Looks;
}

/** One hash for all of them, or nothing when no word names a file. */
export async function namedFiles(commands: readonly ShellCommand[], around: NamedIn): Promise<string | undefined> {
  const named = commands.filter(({ words }) => !RUNS_NOTHING.test(baseName(words[0]!.guess)));
  return hashed(await markAll(named.flatMap(listTexts), around, readMark));
}

/** The same for all that these commands read, by what the files say. `isFolder`: a word names a whole folder. */
export async function readFiles(
  commands: readonly ShellCommand[],
  around: NamedIn,
): Promise<{ hash: string | undefined; isFolder: boolean }> {
  let left = MOST_BYTES;
  let isFolder = false;
  const readOne = async (path: string, found: BigIntStats) => {
    const stats = found.isSymbolicLink() ? await stat(path, { bigint: true }).catch(() => undefined) : found;
    isFolder ||= stats?.isDirectory() ?? false;
    if (!stats?.isFile() || stats.size > BigInt(left)) return readMark(path, found);
    left -= Number(stats.size);
    return readContent(path) ?? readMark(path, found);
  };
  const marks = await markAll(commands.flatMap(listInputs), around, readOne);
  return { hash: hashed(marks), isFolder };
}

/** Reading this many takes less than a tenth of a second. What is beyond counts by its time of change. */
const MOST_BYTES = 16 * 1024 * 1024;

type Text = ShellCommand["words"][number];

function listTexts({ words, redirects, assignments }: ShellCommand): Text[] {
  return [
    ...words,
    ...redirects.filter(({ operator }) => operator === "<").map(({ target }) => target),
    ...assignments.map(({ value }) => value),
  ];
}

const FETCHES = /^(curl|wget2?)$/;
const COPIES = /^(cp|mv|install)$/;

/** Without the file that it is known to write: that is another one each time. */
function listInputs(command: ShellCommand): Text[] {
  const name = baseName(command.words[0]!.guess);
  const isOutput = ({ guess }: Text, i: number, words: readonly Text[]) => {
    if (FETCHES.test(name)) return /^(-[A-Za-z]*[oO]|--output(-document)?)$/.test(words[i - 1]?.guess ?? "");
    return COPIES.test(name) && i > 1 && i === words.length - 1 && !guess.startsWith("-");
  };
  return listTexts({ ...command, words: command.words.filter((word, i, all) => !isOutput(word, i, all)) });
}

async function markAll(
  texts: readonly Text[],
  { places, home, looks }: NamedIn,
  mark: (path: string, found: BigIntStats) => Promise<string>,
): Promise<Map<string, string>> {
  const words = new Set(texts.map((word) => word.literal ?? word.guess));
  const pieces = new Set([...words].flatMap(splitWord));
  const marks = new Map<string, string>();
  for (const piece of pieces) {
    for (const place of /^[/~]/.test(piece) ? [home] : places) {
      if (looks.isCut) break;
      const path = pathFrom(place, piece, home);
      const looked = looks.at(path);
      const found = looked instanceof Promise ? await looked : looked;
      if (found) marks.set(path, await mark(path, found));
    }
  }
  return marks;
}

function hashed(marks: ReadonlyMap<string, string>): string | undefined {
  const there = [...marks].filter(([, mark]) => mark !== "");
  if (there.length === 0) return undefined;
  return createHash("sha256").update(JSON.stringify(there.sort())).digest("hex");
}

/** A link is what it is and what it leads to. */
async function readMark(path: string, found: BigIntStats): Promise<string> {
  if (!found.isFile() && !found.isSymbolicLink()) return "";
  const target = found.isSymbolicLink() ? await stat(path, { bigint: true }).catch(() => undefined) : undefined;
  return [found, ...(target?.isFile() ? [target] : [])]
    .map(({ dev, ino, size, ctimeNs, mode }) => [dev, ino, size, ctimeNs, mode].join(":"))
    .join(" ");
}
