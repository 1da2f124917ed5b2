/**
 * Files that a command reaches without naming them: what it would write inside a folder (`cp a.txt d1`), what it compares in one
 * (`diff d1 d2`), and the files of secrets that a search would meet on its way (`grep -r x .`).
 */
import { basename, join, resolve } from "node:path";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { type Looks, splitWord } from "./looks.ts";
import { type CommandPlace, type FoundLink, type PathWays, placed } from "./placed.ts";
import { baseName } from "./shell/index.ts";

/** Programs that put files into a folder under the names the files have. */
const FILLS = /^(cp|mv|install|ln|rsync|scp|wget|curl)$/;
const DEEP = /^(-[A-Za-z]*[rRa]|--(rec|arc))/;

export async function reachedUnnamed(
  command: ShellCommand,
  around: CommandPlace,
  ways: PathWays,
): Promise<FoundLink[]> {
  const name = baseName(command.words[0]!.guess);
  if (FILLS.test(name)) return writtenInto(name, command, around, ways);
  // Told not to follow links, diff compares the links themselves.
  const isBlind = command.words.some((word) => word.literal === "--no-dereference");
  if (name === "diff" && !isBlind) return compared(command, around, ways);
  return [];
}

/** The files that would stand in a folder named as the target: `d1/a.txt` may be a link. */
async function writtenInto(
  name: string,
  { words }: ShellCommand,
  around: CommandPlace,
  ways: PathWays,
): Promise<FoundLink[]> {
  const texts = words.map((word) => word.literal ?? "");
  const names = new Set(
    texts
      .slice(1)
      .filter((text) => text !== "" && !text.startsWith("-"))
      .map(innerName),
  );
  const isDeep = name === "rsync" || texts.some((text) => DEEP.test(text));
  const found: FoundLink[] = [];
  for (const [word, folder] of await targetFolders(texts, around, ways.looks)) {
    for (const inner of names) {
      const path = join(folder, inner);
      if (ways.looks.isCut) return [...found, { word, path }];
      found.push(...(await placed({ word, path }, around, ways)));
      if (isDeep) found.push(...(await linksIn(path, { word, around, ways, isDeep })));
    }
  }
  return found;
}

/** `src/a.txt` is `a.txt` there; `src/.` is all of it. */
function innerName(text: string): string {
  const name = basename(text);
  return name === ".." ? "." : name;
}

/** The last word that is no option, what follows an option (`-t d1`), and what is glued to one (`-td1`, `--target-directory=d1`). */
async function targetFolders(
  texts: readonly string[],
  { cwd }: CommandPlace,
  looks: Looks,
): Promise<[number, string][]> {
  const last = texts.findLastIndex((text, i) => i > 0 && !text.startsWith("-"));
  const folders: [number, string][] = [];
  for (const [word, text] of texts.entries()) {
    if (word === 0 || text === "") continue;
    const isOption = text.startsWith("-");
    if (!isOption && word !== last && !texts[word - 1]!.startsWith("-")) continue;
    for (const piece of isOption ? splitWord(text) : [text])
      if (await looks.isFolder(resolve(cwd, piece))) folders.push([word, piece]);
  }
  return folders;
}

/** `diff d1 d2` and `diff d1 file` show what links in the folders lead to. */
async function compared({ words }: ShellCommand, around: CommandPlace, ways: PathWays): Promise<FoundLink[]> {
  const found: FoundLink[] = [];
  for (const [word, { literal }] of words.entries())
    if (word > 0 && literal !== undefined && !literal.startsWith("-"))
      found.push(...(await linksIn(literal, { word, around, ways, isDeep: false })));
  return found;
}

/** Links in a folder that lead out of the workspace. What is not looked at may be one. */
async function linksIn(
  folder: string,
  { word, around, ways, isDeep }: { word: number; around: CommandPlace; ways: PathWays; isDeep: boolean },
): Promise<FoundLink[]> {
  const { looks } = ways;
  if (!(await looks.isFolder(resolve(around.cwd, folder)))) return [];
  const waiting = [folder];
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    const entries = await looks.entries(resolve(around.cwd, at));
    if (!entries || looks.isCut) return [{ word, path: at }];
    for (const entry of entries) {
      const path = join(at, entry.name);
      const isPlain = !entry.isSymbolicLink() && !entry.isFile();
      const found = isPlain ? [] : await placed({ word, path }, around, ways);
      if (found.length > 0) return found;
      if (isDeep && entry.isDirectory()) waiting.push(path);
    }
  }
  return [];
}
