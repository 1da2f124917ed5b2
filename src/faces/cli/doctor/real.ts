/** The machine as it is. */
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { isProgram } from "../../../core/files/index.ts";
import { canConnect } from "../../../core/kit/index.ts";
import type { Machine } from "./check.ts";

/** Places that the system or the operator fills; never the PATH. */
const DIRS = ["/usr/bin", "/usr/local/bin", "/bin", "/snap/bin", "/opt/homebrew/bin"];

export function realMachine(now: number): Machine {
  return {
    now,
    platform: process.platform,
    nodeVersion: process.version,
    async freeBytes(dir) {
      const found = await statfs(dir).catch(() => undefined);
      return found && found.bavail * found.bsize;
    },
    program: (...names) => names.flatMap((name) => DIRS.map((dir) => join(dir, name))).find(isProgram),
    isAlive(pid) {
      try {
        process.kill(pid, 0);
        return true;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === "EPERM";
      }
    },
    canConnect,
  };
}
