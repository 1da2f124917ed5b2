/** Real programs that speak ACP for the conformance script, each by its profile. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RunPorts, RunRequest } from "../../src/core/contracts/index.ts";
import { systemClock } from "../../src/core/kit/index.ts";
import { ACP_PROFILES, makeAcpAdapter } from "../../src/edges/runtimes/index.ts";
import { endRun } from "../../src/edges/tools/exec/processes.ts";
import { startNotes } from "../contracts/runtime/notes-server.ts";
import { unconfined } from "../contracts/runtime/rig.ts";
import { startModelServer } from "../fakes/model-server/index.ts";
import { processesTagged } from "../support/processes.ts";
import type { RealStage } from "./conformance.ts";
import { allProviders, openProxyWorld } from "./proxy-world.ts";

const TAG = "LARES_RUN";
const RICH = { perDay: { dollars: 1_000_000 } };
const MODEL = "openai/gpt-5";

interface AcpTools {
  /** Its tool for commands. */
  shell: string;
  /** Its name for the tool `note` of the server `lares`. */
  lent: string;
  /** Behind a command that it has to ask about: one that asks only about those it finds dangerous finds this so. */
  danger?: string;
}

export async function openRealAcpStage(name: string, program: string, tools: AcpTools): Promise<RealStage> {
  const profile = ACP_PROFILES.find((one) => one.name === name)!;
  const dir = mkdtempSync(join(tmpdir(), `lares-${name}-`));
  const [home, work, tmp, bin] = ["home", "work", "tmp", "bin"].map((one) => join(dir, one)) as [
    string,
    string,
    string,
    string,
  ];
  for (const folder of [home, work, tmp, bin]) mkdirSync(folder);
  symlinkSync(program, join(bin, profile.command));
  const folders = [bin, dirname(process.execPath), "/usr/bin", "/bin"];
  const model = await startModelServer();
  const world = await openProxyWorld({ home: dir, models: allProviders(model.url), budgets: RICH });
  const notes = await startNotes();
  const parts = {
    clock: systemClock,
    searchPath: () => folders,
    tag: TAG,
    endRun: (run: { key: string }) => endRun(run),
  };
  const adapter = makeAcpAdapter(profile, parts);
  const withModel = (request: RunRequest) => ({ ...request, model: MODEL });
  const run = (command: string) => `tool:${tools.shell} ${JSON.stringify({ command, description: "a mark" })}`;
  const { danger = "" } = tools;
  const marks = join(work, "marks");
  return {
    adapter: { ...adapter, open: (request, ports, signal) => adapter.open(withModel(request), ports, signal) },
    prompts: {
      say: (words) => `say:${words}`,
      act: (mark, words) => `${run(`echo ${mark} >> marks${danger}`)} then: say:${words}`,
      forever: (words) => `gap:400 say:${words}${" more".repeat(24)}`,
      fail: () => "fail:401",
      think: (thought, words) => `think:${thought} say:${words}`,
      twice: (first, second, words) =>
        `${run(`echo ${first} >> marks${danger}`)} then: ${run(`echo ${second} >> marks${danger}`)} then: say:${words}`,
      limited: (words) => `fail:rate-limit*2 retry-after:1 say:${words}`,
      lent: (text) => `tool:${tools.lent} ${JSON.stringify({ text })} then: say:noted`,
      slow: (mark) => `${run(`sleep 60; echo ${mark} >> marks${danger}`)} then: say:slept`,
      detaches: () => `${run("setsid sleep 600 > /dev/null 2>&1 & echo started")} then: say:started`,
    },
    async ports(key): Promise<RunPorts> {
      const { baseUrl, token } = await world.grant({ run: key, runtime: name });
      return {
        models: { baseUrl, token },
        mcp: [{ name: "lares", url: notes.url, token: notes.token }],
        home,
        tmp,
        env: { PATH: folders.join(":"), HOME: home, TMPDIR: tmp, [TAG]: key },
        confine: unconfined,
      };
    },
    workspace: { path: work, boundary: "none", writable: true },
    marks: (mark) =>
      existsSync(marks)
        ? readFileSync(marks, "utf8")
            .split("\n")
            .filter((line) => line === mark).length
        : 0,
    left: (key) => processesTagged(TAG, key).map((pid) => `the process ${pid}`),
    // Some ask their model for a title as well, without tools.
    heard: () => JSON.stringify(model.requests.filter((one) => one.tools.length > 0).at(-1)?.messages ?? []),
    notes: () => notes.kept,
    endLeft: (key) => endRun({ key }),
    killed: { runtime: name, folders, tag: TAG, model: MODEL },
    async close() {
      await notes.close();
      await world.close();
      await model.close();
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
