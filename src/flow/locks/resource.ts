/** What an action must have for itself: the repository it changes, or else the very path. */
import { lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { ActionPlan } from "../../core/contracts/index.ts";

/** Canonical paths, sorted, none inside another. Empty for what changes no files, or is refused anyway. */
export async function findResources(plan: ActionPlan, workspace: string): Promise<string[]> {
  if (plan.outside !== undefined) return [];
  const touched = touchedBy(plan).map((path) => resolve(workspace, path));
  if (!touched.length) return [];
  const root = await canonical(workspace);
  const found = await Promise.all(touched.map(async (path) => findResource(await canonical(path), root)));
  const unique = [...new Set(found)].sort();
  return unique.filter((path) => !unique.some((other) => other !== path && covers(other, path)));
}

/** Two that overlap cannot be worked on at once. */
export function overlap(a: readonly string[], b: readonly string[]): string | undefined {
  for (const one of a) {
    const other = b.find((path) => covers(one, path) || covers(path, one));
    if (other !== undefined) return other;
  }
  return undefined;
}

function covers(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function touchedBy(plan: ActionPlan): string[] {
  if (plan.risk === "write") return plan.targets;
  if (plan.risk !== "exec") return [];
  const cwd = plan.binding.cwd;
  return typeof cwd === "string" && isAbsolute(cwd) ? [cwd] : [];
}

/** The nearest repository at or above the path, not above the workspace; else the path itself. */
async function findResource(path: string, workspace: string): Promise<string> {
  for (let at = path; covers(workspace, at); at = dirname(at)) {
    // A worktree has a file there, a repository a directory.
    if (await there(join(at, ".git"))) return at;
    if (at === workspace || at === dirname(at)) break;
  }
  return path;
}

function there(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** The real path, also of something that is not there yet: then of the nearest folder that is. */
async function canonical(path: string): Promise<string> {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined);
    if (real !== undefined) return join(real, ...rest);
    if (at === dirname(at)) return path;
    rest.unshift(at.slice(dirname(at).length).replace(/^[\\/]+/, ""));
  }
}
