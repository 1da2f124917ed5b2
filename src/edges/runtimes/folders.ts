/** The folders of a runtime's runs, in the home: one that is kept for each agent, and one that goes with each run. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../core/kit/index.ts";

export interface RunFolders {
  /** Kept for this agent and this runtime, from run to run. */
  home: string;
  /** Removed with the run. */
  tmp: string;
  /** For the socket that leads out of a sandbox. */
  way: string;
}

/** Short, because the path of a socket is. */
const NAME_LENGTH = 12;

export function makeFolders(home: string, of: { agent: string; runtime: string; run: string }): RunFolders {
  const root = join(home, "runtimes");
  const run = sha256(of.run).slice(0, NAME_LENGTH);
  const folders = {
    home: join(root, "homes", of.agent, of.runtime),
    tmp: join(root, "tmp", run),
    way: join(root, "way", run),
  };
  removeFolders(folders);
  for (const path of Object.values(folders)) mkdirSync(path, { recursive: true, mode: 0o700 });
  return folders;
}

export function removeFolders({ tmp, way }: Pick<RunFolders, "tmp" | "way">): void {
  for (const path of [tmp, way]) rmSync(path, { recursive: true, force: true });
}
