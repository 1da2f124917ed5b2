/**
 * The path as the model wrote it, before any file is touched: which words it has, and whether it can mean a place in the
 * workspace at all. `..` is kept as a word: only the walk over real directories knows where it leads.
 */
import { AppError } from "../domain/errors.ts";
import { visibleLine } from "../kit/visible.ts";
import { outside, wrongInput } from "./failure.ts";

/** Longest path Linux takes (PATH_MAX). */
const LONGEST = 4096;

/** The components below the root. `roots` are the root's names: as configured and as the real path. */
export function splitPath(path: string, roots: readonly string[]): string[] {
  if (path.includes("\0")) {
    throw new AppError("TOOL_INPUT", { message: `The path "${visibleLine(path)}" contains a NUL character.` });
  }
  if (path.length > LONGEST)
    throw wrongInput(`The path is ${path.length} characters long; at most ${LONGEST} are allowed.`);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) throw outside(path, "is a URL, not a path in the workspace");
  if (/^~[\w.-]*(\/|$)/.test(path)) throw outside(path, "names a home directory, which is not in the workspace");
  if (!path.startsWith("/")) return path.split("/");
  const below = wordsBelow(path, roots);
  if (below === undefined) throw outside(path, "is outside the workspace");
  return below;
}

/** The components of an absolute path below one of the roots, or nothing when it starts elsewhere. */
export function wordsBelow(path: string, roots: readonly string[]): string[] | undefined {
  for (const root of roots) {
    if (path === root) return [];
    const prefix = root.endsWith("/") ? root : `${root}/`;
    if (path.startsWith(prefix)) return path.slice(prefix.length).split("/");
  }
  return undefined;
}
