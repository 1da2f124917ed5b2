/**
 * What in the system's folders is not for everybody: `/etc/shadow`, private keys, passwords of services. Lares may run as
 * root, and the kernel would then let its commands read them.
 */
import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

const FOLDERS = ["/etc", "/opt"];
/** Keys lie at `/etc/ssl/private` or `/etc/a/b/key`; deeper is somebody's data, and the walk must stay short. */
const DEPTH = 4;
/** A folder of somebody's data is not walked through. */
const MOST = 20_000;

export async function privatePaths(folders: readonly string[] = FOLDERS): Promise<string[]> {
  const found: string[] = [];
  let seen = 0;
  const walk = async (dir: string, depth: number): Promise<void> => {
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
    seen += entries.length;
    if (seen > MOST) return;
    const below: string[] = [];
    for (const entry of entries) {
      // A link has no mode of its own; what it points to is looked at where it lies.
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const path = join(dir, entry.name);
      const mode = readMode(path);
      if (mode === undefined) continue;
      if ((mode & 0o004) === 0) found.push(path);
      else if (entry.isDirectory() && depth < DEPTH) below.push(path);
    }
    await Promise.all(below.map((path) => walk(path, depth + 1)));
  };
  await Promise.all(folders.map((folder) => walk(folder, 1)));
  return found.sort();
}

/** At once, folder by folder: a command waits for this walk, and a promise for each of a thousand files cost 35 ms instead of 8. */
function readMode(path: string): number | undefined {
  try {
    return lstatSync(path).mode;
  } catch {
    return undefined;
  }
}
