/** Codex' home and temporary folder, made before each run and cleared of what could loosen its rules. */
import { mkdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { type CodexPlaces, LOOSENERS } from "./settings.ts";

/** Returns the working folder as Codex names it: under another name it isn't found among the untrusted ones (CODEX-2). */
export async function makePlaces({ home, tmp, cwd }: CodexPlaces): Promise<string> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  await mkdir(tmp, { recursive: true, mode: 0o700 });
  // An agent that could write here would have turned off its own questions for the next run.
  for (const name of LOOSENERS) await rm(join(home, name), { recursive: true, force: true });
  return realpath(cwd);
}
