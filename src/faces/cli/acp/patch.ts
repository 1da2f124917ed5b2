/** The files of an `apply_patch` call with what changes in each, for a diff view: only the lines that the patch itself has. Pure. */

export interface PatchDiff {
  path: string;
  oldText: string | null;
  newText: string;
}

const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;

export function patchDiffs(patch: string): PatchDiff[] {
  const files: { path: string; how: string; before: string[]; after: string[] }[] = [];
  for (const line of patch.split("\n")) {
    const [, how, path] = FILE.exec(line) ?? [];
    if (how !== undefined && path !== undefined) files.push({ path: path.trim(), how, before: [], after: [] });
    const file = files.at(-1);
    if (!file || line.startsWith("***") || line.startsWith("@@")) continue;
    if (!line.startsWith("+")) file.before.push(line.slice(1));
    if (!line.startsWith("-")) file.after.push(line.slice(1));
  }
  return files.map(({ path, how, before, after }) => ({
    path,
    oldText: how === "Add" ? null : before.join("\n"),
    newText: how === "Delete" ? "" : after.join("\n"),
  }));
}
