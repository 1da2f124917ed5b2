/** Paths as text: nothing here looks at the disk, so no answer depends on what exists (EX-33). */

/** `/a/./b/../c` → `/a/c`. Wildcards are names like others. */
export function normalise(path: string): string {
  const out: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") out.pop();
    else out.push(part);
  }
  return `/${out.join("/")}`;
}

/** The absolute path a word names; `~` is the owner's home, no matter who runs the command. */
export function absolute(path: string, cwd: string, userHome: string): string {
  return normalise(fromRoot(path, cwd, userHome));
}

/** The same with `.` and `..` as they are written. */
export function fromRoot(path: string, cwd: string, userHome: string): string {
  if (path === "~" || path.startsWith("~/")) return userHome + path.slice(1);
  if (/^~[\w.-]+/.test(path)) return path.replace(/^~root(?=\/|$)/, "/root").replace(/^~/, "/home/");
  return path.startsWith("/") ? path : `${cwd}/${path}`;
}

export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}

/** Whether a path lies where the agent works. */
export function isInWorkspace(
  path: string,
  { workspace, roots = [] }: { workspace: string; roots?: readonly string[] },
): boolean {
  return [workspace, ...roots].some((root) => isInside(path, root));
}

/** `inside`: the pattern can name something at or below `place`. `above`: it can name a directory that holds it. */
export function relation(pattern: string, place: string): "inside" | "above" | "apart" {
  const right = place.split("/").slice(1);
  // As many names as the place has: a pattern may be a model's, and have any number of them.
  const left = pattern.split("/", right.length + 1).slice(1);
  if (pattern === "/") return "above";
  for (const [i, part] of right.entries()) {
    const given = left[i];
    if (given === undefined) return "above";
    if (!canMeet(given, part)) return "apart";
  }
  return "inside";
}

const LONGEST_PATTERN = 512;

/** Whether two names with wildcards can be the same name. */
function canMeet(a: string, b: string): boolean {
  if (a === b) return true;
  if (!/[*?]/.test(a) && !/[*?]/.test(b)) return false;
  // As in a shell: a wildcard at the beginning does not stand for a dot.
  if (b.startsWith(".") && /^[*?]/.test(a)) return false;
  // Longer than any name can be: a pattern nobody needs, and slow to compare.
  if (a.length > LONGEST_PATTERN) return true;
  // can[j]: the rest of a from here can be the rest of b from j. Filled from the ends, so that no pattern takes forever.
  let can: boolean[] = Array.from({ length: b.length + 1 }, (_, j) => /^\**$/.test(b.slice(j)));
  for (let i = a.length - 1; i >= 0; i--) {
    const next = can;
    can = [];
    for (let j = b.length; j >= 0; j--) {
      const same = j < b.length && (a[i] === b[j] || a[i] === "?" || b[j] === "?") && next[j + 1]!;
      const byA = a[i] === "*" && (next[j]! || (j < b.length && can[j + 1]!));
      const byB = b[j] === "*" && (can[j + 1]! || next[j]!);
      can[j] = same || byA || byB;
    }
  }
  return can[0]!;
}
