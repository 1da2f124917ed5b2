/** Which file a program name stands for. A bare name is looked for in trusted directories only, never in the workspace. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { ShellCommand } from "../../../../core/contracts/index.ts";

/** The program's file, or undefined when there is none that could run. `cwd` is for names with a slash. */
export function findProgram(name: string, path: string, cwd: string): ShellCommand["program"] {
  const dirs = path.split(":").filter(isAbsolute);
  if (name === "") return undefined;
  if (name.includes("/")) {
    const at = resolve(cwd, name);
    const real = executable(at);
    return real === undefined ? undefined : { path: at, real, trusted: dirs.some((dir) => isDirectly(dir, at)) };
  }
  if (name === "." || name === "..") return undefined;
  for (const dir of dirs) {
    const at = join(dir, name);
    const real = executable(at);
    if (real !== undefined) return { path: at, real, trusted: true };
  }
  return undefined;
}

function executable(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return undefined;
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isDirectly(dir: string, path: string): boolean {
  return join(dir, path.slice(path.lastIndexOf("/") + 1)) === path;
}
