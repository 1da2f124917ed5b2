/** The settings and hooks of a repository, which run programs as the person: compared before and after somebody worked beside them. */
import { filesBelow, readBelow } from "../../core/files/index.ts";
import { sha256 } from "../../core/kit/index.ts";

/** Besides the hooks. */
const SETTINGS = ["config", "config.worktree", "info/attributes", "info/grafts", "objects/info/alternates"];
const HOOKS = "hooks";
const LARGEST = 1024 * 1024;
const MOST_HOOKS = 1000;

/** A digest for each file that is there. */
export async function digestSettings(commonDir: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  const note = async (path: string) => {
    const found = await readBelow({ root: commonDir, path, most: LARGEST });
    if (found.state === "file") digests[path] = sha256(`${found.mode & 0o111} ${found.content.toString("base64")}`);
    else if (found.state === "refused") digests[path] = `refused: ${found.why}`;
  };
  for (const path of SETTINGS) await note(path);
  const hooks = await filesBelow(`${commonDir}/${HOOKS}`, { most: MOST_HOOKS, depth: 3, closed: new Set() }).catch(
    () => ({ files: [], links: [] }),
  );
  for (const { path } of hooks.files) await note(`${HOOKS}/${path}`);
  for (const { path, target } of hooks.links) digests[`${HOOKS}/${path}`] = `link: ${target}`;
  return digests;
}

/** What is new, different or gone. */
export function compareSettings(before: Record<string, string>, after: Record<string, string>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]).sort();
}
