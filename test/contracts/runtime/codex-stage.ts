/**
 * Codex on the stage of the contract: the program that `command` names, its model calls through our proxy to the scripted model server.
 * The real program and the fake that replays its transcripts (test/fakes/codex) take the same prompts, those of the model server.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunPorts } from "../../../src/core/contracts/index.ts";
import { type Clock, systemClock } from "../../../src/core/kit/index.ts";
import { makeCodexAdapter } from "../../../src/edges/runtimes/codex/adapter.ts";
import { endRun } from "../../../src/edges/tools/exec/processes.ts";
import { startModelServer } from "../../fakes/model-server/index.ts";
import { allProviders, openProxyWorld } from "../../runtimes/proxy-world.ts";
import { scratch } from "../../support/index.ts";
import { processesTagged } from "../../support/processes.ts";
import { startNotes } from "./notes-server.ts";
import { type RuntimeStage, unconfined } from "./rig.ts";

export const TAG = "LARES_RUN";

/** What it costs isn't tried here. */
const RICH = { perDay: { dollars: 1_000_000 } };

export interface CodexStageOptions {
  /** The program; null: it isn't installed. */
  command?: string | null;
  /** Or a script for Node, started with these variables of its own. */
  script?: string;
  variables?: string;
  clock?: Clock;
  login?: string;
  /** A real one needs a folder on a disk: its sandbox has another /dev. */
  dir?: string;
  /** With a server that has one tool, `note`. */
  mcp?: boolean;
}

export interface CodexStage extends RuntimeStage {
  /** What all runs share. */
  dir: string;
  home: string;
  work: string;
  /** Where its program is found. */
  folders: readonly string[];
  /** What the tool of the server was really called with. */
  notes(): readonly string[];
}

export async function openCodexStage({
  command,
  script = "",
  variables = "",
  clock = systemClock,
  login,
  dir = scratch("codex-run"),
  mcp = false,
}: CodexStageOptions): Promise<CodexStage> {
  const [home, work, tmp] = ["home", "work", "tmp"].map((name) => join(dir, name)) as [string, string, string];
  for (const folder of [home, work, tmp]) mkdirSync(folder);
  const start = command ?? `env ${variables} ${process.execPath} ${script}`;
  if (command !== null) writeFileSync(join(dir, "codex"), `#!/bin/sh\nexec ${start} "$@"\n`, { mode: 0o755 });
  const model = await startModelServer();
  const world = await openProxyWorld({ home: dir, models: allProviders(model.url), budgets: RICH });
  const notes = mcp ? await startNotes() : undefined;
  const searchPath = () => [dir, dirname(process.execPath), "/usr/bin", "/bin"];
  const parts = {
    clock,
    searchPath,
    tag: TAG,
    endRun: (run: { key: string; leader?: number }) => endRun(run),
  };
  const tool = (cmd: string) => `tool: exec_command ${JSON.stringify({ cmd })}`;
  return {
    folders: searchPath(),
    adapter: makeCodexAdapter(login === undefined ? parts : { ...parts, login }),
    dir,
    home,
    work,
    prompts: {
      say: (words) => `say: ${words}`,
      think: (thought, words) => `think: ${thought} say: ${words}`,
      act: (mark, words) => `${tool(`echo ${mark} >> marks`)} then: say: ${words}`,
      forever: (words) => `gap:400 say: ${words}${" more".repeat(24)}`,
      fail: () => "fail:401",
    },
    async ports(run): Promise<RunPorts> {
      const { baseUrl, token } = await world.grant({ run, runtime: "codex" });
      return {
        models: { baseUrl, token },
        mcp: notes ? [{ name: "lares", url: notes.url, token: notes.token }] : [],
        home,
        tmp,
        env: { PATH: searchPath().join(":"), [TAG]: run },
        confine: unconfined,
      };
    },
    workspace: { path: work, boundary: "none", writable: true },
    marks: (mark) => readLines(join(work, "marks")).filter((line) => line === mark).length,
    left: (run) => processesTagged(TAG, run).map((pid) => `the process ${pid}`),
    notes: () => notes?.kept ?? [],
    heard: () => JSON.stringify(model.requests.at(-1)?.messages ?? []),
    async close() {
      await notes?.close();
      await world.close();
      await model.close();
    },
  };
}

function readLines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}
