/** How this program is called from where it was started: what a hint has to say so that it can be pasted into a terminal. */
import { realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, relative, resolve, sep } from "node:path";
import { quoted } from "../../core/kit/index.ts";

export interface ProgramNames {
  /** For the terminal it was started from: `lares`, or `node` with the script's path. */
  here: string;
  /** For a crontab or a unit, which have no working directory and hardly a PATH. */
  anywhere: string;
  /** For a page or a chat, which may be far away and must not learn where things are: `lares`, or the clone's way. */
  told: string;
}

export interface StartedProgram {
  /** `bin/lares.js` of this very program. */
  script: string;
  node: string;
  cwd: string;
  path: string | undefined;
  /** LARES_COMMAND: a wrapper's name for it, such as `docker exec lares lares`. */
  named: string | undefined;
}

export function programNames({ script, node, cwd, path, named }: StartedProgram): ProgramNames {
  const anywhere = `${quoted(node)} ${quoted(script)}`;
  if (named) return { here: named, anywhere: named, told: named };
  if (isOnPath(script, path)) return { here: "lares", anywhere, told: "lares" };
  const way = relative(cwd, script);
  const isBelow = !way.startsWith(`..${sep}`) && !isAbsolute(way);
  return { here: `node ${quoted(isBelow ? way : script)}`, anywhere, told: "node bin/lares.js" };
}

/** A `lares` on the PATH counts when it is this program, not another installation. */
function isOnPath(script: string, path: string | undefined): boolean {
  const own = real(script);
  for (const folder of (path ?? "").split(delimiter)) {
    const found = folder && real(join(resolve(folder), "lares"));
    // The shell takes the first one, whichever it is.
    if (found) return found === own;
  }
  return false;
}

function real(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
