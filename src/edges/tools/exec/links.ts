/**
 * Words of a command that name something in the workspace which really lies elsewhere. The gate compares paths as text; a
 * symbolic link makes `notes/today` mean any file of the machine.
 */
import { lstatSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { pathsInWord } from "../../../core/kit/index.ts";
import { withInside } from "../paths/index.ts";

const LONGEST_GLUED = 200;

export interface Around {
  /** Real path of the working directory. */
  cwd: string;
  /** Real path of the workspace. */
  home: string;
  /** Other folders of the agent. */
  roots?: readonly string[];
}

/** By index of the word; targets of redirections count on after the last word. */
export async function leadingOut(
  { words, redirects }: ShellCommand,
  { cwd, home, roots = [] }: Around,
): Promise<{ word: number; path: string }[]> {
  const files = redirects.map(({ target, isDescriptor }) => (isDescriptor ? undefined : target.literal));
  const found: { word: number; path: string }[] = [];
  for (const [word, text] of [...words.map(({ literal }) => literal), ...files].entries()) {
    if (word === 0 || text === undefined) continue;
    for (const path of [...pathsInWord(text), ...gluedTo(text, cwd)])
      if (await leads(path, cwd, [home, ...roots])) found.push({ word, path });
  }
  return found;
}

async function leads(path: string, cwd: string, roots: readonly string[]): Promise<boolean> {
  const at = resolve(cwd, path);
  // Most words are no files.
  if (!isThere(resolve(cwd, firstPart(path)))) return false;
  if (path.includes("..") && turnsAtLink(path, cwd, roots)) return true;
  const root = roots.find((one) => at.startsWith(`${one}/`));
  // What lies outside by its name is the gate's own business.
  if (root === undefined) return false;
  try {
    await withInside({ root, path: at, parents: "imagine" }, async () => {});
    return false;
  } catch (error) {
    return error instanceof AppError && error.code === "PATH_OUTSIDE";
  }
}

/** `link/../x` starts from what the link points to, not from the folder that holds the link. */
function turnsAtLink(path: string, cwd: string, roots: readonly string[]): boolean {
  let at = path.startsWith("/") ? "/" : cwd;
  let isLinked = false;
  let hasTurned = false;
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    hasTurned ||= part === ".." && isLinked;
    const next = join(at, part);
    const isLink = part !== ".." && isLinkAt(next);
    isLinked ||= isLink;
    at = isLink ? targetOf(next) : next;
  }
  return hasTurned && !roots.some((root) => at === root || at.startsWith(`${root}/`));
}

/** A link that leads nowhere yet may lead anywhere by the time the command runs. */
function targetOf(link: string): string {
  try {
    return realpathSync(link);
  } catch {
    return "/";
  }
}

function isLinkAt(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}

/** `-tlink` and `-vtlink`: a link glued to an option. Which letters are options is not known, so every end is tried. */
function gluedTo(word: string, cwd: string): string[] {
  if (!/^-[A-Za-z]/.test(word) || word.length > LONGEST_GLUED) return [];
  const ends = Array.from({ length: word.length - 2 }, (_, i) => word.slice(i + 2));
  return ends.filter((end) => !end.startsWith("/") && isLinkAt(resolve(cwd, firstPart(end))));
}

function firstPart(path: string): string {
  const end = path.indexOf("/");
  return end > 0 ? path.slice(0, end) : path;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
