/**
 * Words of a command that name something in the workspace which really lies elsewhere. The gate compares paths as text; a
 * symbolic link makes `notes/today` mean any file of the machine.
 */
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { pathsInWord } from "../../../core/kit/index.ts";
import { withInside } from "../paths/index.ts";

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
    for (const path of pathsInWord(text)) if (await leads(path, cwd, [home, ...roots])) found.push({ word, path });
  }
  return found;
}

async function leads(path: string, cwd: string, roots: readonly string[]): Promise<boolean> {
  const at = resolve(cwd, path);
  const root = roots.find((one) => at.startsWith(`${one}/`));
  // Most words are no files; and what lies outside by its name is the gate's own business.
  if (root === undefined || !isThere(resolve(cwd, firstPart(path)))) return false;
  try {
    await withInside({ root, path: at, parents: "imagine" }, async () => {});
    return false;
  } catch (error) {
    return error instanceof AppError && error.code === "PATH_OUTSIDE";
  }
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
