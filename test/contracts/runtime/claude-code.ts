/**
 * Claude Code on a stage: the fake that repeats recorded runs, or the real one before the scripted model, behind the model proxy. With
 * LARES_REAL_CLAUDE (its path) the tests of the fake run with the real one, and its runs are recorded again.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunPorts } from "../../../src/core/contracts/index.ts";
import { type Clock, systemClock } from "../../../src/core/kit/index.ts";
import { DRIVERS } from "../../../src/edges/runtimes/index.ts";
import { endRun } from "../../../src/edges/tools/exec/processes.ts";
import { directiveScript, type Script, startModelServer, textOf } from "../../fakes/model-server/index.ts";
import { allProviders, openProxyWorld } from "../../runtimes/proxy-world.ts";
import { scratch } from "../../support/index.ts";
import { processesTagged } from "../../support/processes.ts";
import type { RuntimeStage } from "./rig.ts";

export const TAG = "LARES_RUN";
export const REAL_CLAUDE = process.env.LARES_REAL_CLAUDE;

const FAKE = fileURLToPath(new URL("../../fakes/claude-code/claude.mjs", import.meta.url));
const RECORDER = fileURLToPath(new URL("../../fakes/claude-code/record.mjs", import.meta.url));
const TRANSCRIPTS = fileURLToPath(new URL("../../fakes/claude-code/transcripts", import.meta.url));

export interface ClaudeOptions {
  mcp?: RunPorts["mcp"];
  /** More variables for the program. */
  env?: Record<string, string>;
  clock?: Clock;
  /** Its model calls don't go through the proxy, which says by itself what no repetition heals. */
  isDirect?: boolean;
  /** As it prints it. */
  version?: string;
  /** Another one in the fake's place; null: none. */
  program?: readonly string[] | null;
}

/** `places`: where it works and what it keeps. `folders`: where its program is found. */
export interface ClaudeStage extends RuntimeStage {
  folders: readonly string[];
  places: { work: string; home: string; tmp: string };
}

/** The fake, unless the real one is to be recorded. */
export function openClaude(options: ClaudeOptions = {}): Promise<ClaudeStage> {
  if (REAL_CLAUDE !== undefined) {
    const env = { ...options.env, LARES_RECORD: TRANSCRIPTS };
    return openRealClaude([process.execPath, RECORDER, REAL_CLAUDE], { ...options, env });
  }
  const version = options.version === undefined ? [] : [`LARES_FAKE_VERSION=${options.version}`];
  return setStage({
    program: ["/usr/bin/env", ...version, process.execPath, FAKE],
    ...options,
    models: { baseUrl: "http://127.0.0.1:9", token: "run-token" },
    heard: (work) => readFileSync(join(work, "heard"), "utf8"),
  });
}

/** The real one, its model scripted by what it is told. */
export async function openRealClaude(program: readonly string[], options: ClaudeOptions = {}): Promise<ClaudeStage> {
  const model = await startModelServer({ script: scriptWithEnds() });
  const budgets = { perDay: { dollars: 1_000_000 } };
  const world = await openProxyWorld({ home: scratch("claude-lares"), models: allProviders(model.url), budgets });
  const { baseUrl, token } = await world.grant();
  return setStage({
    ...options,
    env: { ANTHROPIC_MODEL: "claude-sonnet-4-5", ...options.env },
    program,
    models: options.isDirect ? { baseUrl: model.url, token: "a-key" } : { baseUrl, token },
    heard: () => model.requests.at(-1)?.raw ?? "",
    close: async () => {
      await world.close();
      await model.close();
    },
  });
}

/** Two more words for the script: how an answer ends. */
function scriptWithEnds(): Script {
  const script = directiveScript();
  return (request) => {
    const said = request.messages.filter(({ role }) => role === "user").map(textOf);
    if (said.includes("answer:refused")) return { text: "I can't", finish: "refusal" };
    if (said.includes("answer:too-long")) return { text: "cut short", finish: "length" };
    return script(request);
  };
}

interface Staging extends ClaudeOptions {
  /** A command line for the program; its arguments follow. */
  program: readonly string[] | null;
  /** Where its model calls go. */
  models: RunPorts["models"];
  heard(work: string): string;
  close?(): Promise<void>;
}

async function setStage(staging: Staging): Promise<ClaudeStage> {
  const { program, models, mcp = [], env = {}, clock = systemClock, heard, close } = staging;
  const dir = scratch("claude-run");
  const places = { work: join(dir, "work"), home: join(dir, "home"), tmp: join(dir, "tmp") };
  const bin = join(dir, "bin");
  for (const folder of [...Object.values(places), bin]) mkdirSync(folder);
  const quoted = program?.map((part) => `'${part}'`).join(" ");
  if (quoted !== undefined) writeFileSync(join(bin, "claude"), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  const searchPath = () => [bin, dirname(process.execPath), "/usr/bin", "/bin"];
  const driver = DRIVERS.find(({ name }) => name === "claude-code")!;
  return {
    places,
    folders: searchPath(),
    adapter: await driver.make({ clock, searchPath, tag: TAG, endRun: (run) => endRun(run) }),
    prompts: {
      say: (words) => `say:${words}`,
      think: (thought, words) => `think:${thought} say:${words}`,
      act: (mark, words) => `tool:Bash {"command":"echo ${mark} >> marks"} then: say:${words}`,
      forever: (words) => `stall say:${words}`,
      fail: () => "fail:auth",
    },
    ports: (run): RunPorts => ({
      models,
      mcp,
      home: places.home,
      tmp: places.tmp,
      env: { PATH: searchPath().join(":"), [TAG]: run, ...env },
      confine: async (command) => command,
    }),
    workspace: { path: places.work, boundary: "none", writable: true },
    marks: (mark) => readLines(join(places.work, "marks")).filter((line) => line === mark).length,
    left: (run) => processesTagged(TAG, run).map((pid) => `the process ${pid}`),
    heard: () => heard(places.work),
    close: async () => close?.(),
  };
}

function readLines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}
