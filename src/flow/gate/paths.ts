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

/** Absolute form of what a word names; `~` is the owner's home, whoever runs the command. */
export function absolute(path: string, cwd: string, userHome: string): string {
  if (path === "~" || path.startsWith("~/")) return normalise(userHome + path.slice(1));
  if (/^~[\w.-]+/.test(path)) return normalise(path.replace(/^~root(?=\/|$)/, "/root").replace(/^~/, "/home/"));
  return normalise(path.startsWith("/") ? path : `${cwd}/${path}`);
}

export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}

/** `inside`: the pattern can name something at or below `place`. `above`: it can name a directory that holds it. */
export function relation(pattern: string, place: string): "inside" | "above" | "apart" {
  const left = pattern.split("/").slice(1);
  const right = place.split("/").slice(1);
  if (pattern === "/") return "above";
  for (const [i, part] of right.entries()) {
    const given = left[i];
    if (given === undefined) return "above";
    if (!canMeet(given, part)) return "apart";
  }
  return "inside";
}

/** Whether two names with wildcards can be the same name. */
function canMeet(a: string, b: string): boolean {
  if (a === b) return true;
  if (!/[*?]/.test(a) && !/[*?]/.test(b)) return false;
  // As in a shell: a wildcard at the beginning does not stand for a dot.
  if (b.startsWith(".") && /^[*?]/.test(a)) return false;
  const met = (i: number, j: number): boolean => {
    if (i === a.length && j === b.length) return true;
    if (a[i] === "*") return met(i + 1, j) || (j < b.length && met(i, j + 1));
    if (b[j] === "*") return met(i, j + 1) || (i < a.length && met(i + 1, j));
    if (i === a.length || j === b.length) return false;
    return (a[i] === b[j] || a[i] === "?" || b[j] === "?") && met(i + 1, j + 1);
  };
  // Long names with many wildcards would take for ever; they are taken to meet.
  if ((a.match(/\*/g)?.length ?? 0) + (b.match(/\*/g)?.length ?? 0) > 6) return true;
  return met(0, 0);
}
