/** The folders of a runtime's runs, in the home: one that is kept for each agent, and one that goes with each run. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
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

/** `agent`: null for a trial, whose home is removed with it by `removeTrial`. */
export function makeFolders(home: string, of: { agent: string | null; runtime: string; run: string }): RunFolders {
  const root = join(home, "runtimes");
  const run = sha256(of.run).slice(0, NAME_LENGTH);
  const folders = {
    home: of.agent === null ? trialHome(home, of.runtime) : agentHome(home, { agent: of.agent, runtime: of.runtime }),
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

function trialHome(home: string, runtime: string): string {
  return join(home, "runtimes", "trials", runtime);
}

/** The folder that a trial works in, with what it may read. */
export function makeTrialWork(home: string, runtime: string, note: { name: string; text: string }): string {
  removeTrial(home, runtime);
  const work = join(trialHome(home, runtime), "work");
  mkdirSync(work, { recursive: true, mode: 0o700 });
  writeFileSync(join(work, note.name), note.text);
  return work;
}

export function removeTrial(home: string, runtime: string): void {
  rmSync(trialHome(home, runtime), { recursive: true, force: true });
}

/** What a runtime has as its home in all runs of an agent. */
export function agentHome(home: string, of: { agent: string; runtime: string }): string {
  return join(home, "runtimes", "homes", of.agent, of.runtime);
}
