/**
 * Files that the words of a command name, whatever their ending: `bash notes.md`, `make -fx.log`, `cd sub && . ./README.md`. What
 * a program does with such a file is not known, so an approval of the command is bound to it as it stands.
 *
 * By identity, size and time of change, like the rest of the workspace (code-tree.ts).
 */
import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { type Looks, pathFrom, splitWord } from "./looks.ts";
import { baseName } from "./shell/index.ts";

/** They show, copy or remove files, and run none. A program that is missing here only asks again more often. */
const RUNS_NOTHING =
  /^(cat|tac|nl|head|tail|wc|ls|cp|mv|rm|mkdir|rmdir|touch|ln|chmod|chown|chgrp|grep|egrep|fgrep|rg|find|sort|uniq|cut|tr|diff|cmp|comm|echo|printf|pwd|cd|date|stat|file|du|df|which|basename|dirname|realpath|readlink|tree|md5sum|sha\d*sum|b2sum|cksum|od|hexdump|xxd|strings|tee|curl|wget|test|\[|true|false|sleep|tar|zip|unzip|gzip|gunzip|xz|zstd)$/;

/** One hash for all of them, or nothing when no word names a file. `ofAll`: those of programs that run nothing count, too. */
export async function namedFiles(
  commands: readonly ShellCommand[],
  { places, home, looks }: { places: readonly string[]; home: string; looks: Looks },
  ofAll = false,
): Promise<string | undefined> {
  const texts = commands
    .filter(({ words }) => ofAll || !RUNS_NOTHING.test(baseName(words[0]!.guess)))
    .flatMap(({ words, redirects, assignments }) => [
      ...words,
      ...redirects.filter(({ operator }) => operator === "<").map(({ target }) => target),
      ...assignments.map(({ value }) => value),
    ]);
  const words = new Set(texts.map((word) => word.literal ?? word.guess));
  const pieces = new Set([...words].flatMap(splitWord));
  const marks = new Map<string, string>();
  for (const piece of pieces) {
    for (const place of /^[/~]/.test(piece) ? [home] : places) {
      if (looks.isCut) break;
      const path = pathFrom(place, piece, home);
      const looked = looks.at(path);
      const found = looked instanceof Promise ? await looked : looked;
      if (found) marks.set(path, await readMark(path, found));
    }
  }
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
