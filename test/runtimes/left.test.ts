/** What a killed Lares leaves of a run: its program, and a child of it that left its group and its session. */
import { fork } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { RunEventBody } from "../../src/core/contracts/index.ts";
import { endRun } from "../../src/edges/tools/exec/processes.ts";
import { scratch, until } from "../support/index.ts";
import { notRun } from "../support/not-run.ts";
import { processesNaming, processesTagged } from "../support/processes.ts";
import { orders } from "../support/run-crashes.ts";

const TAG = "LARES_RUN";
const AGENT = fileURLToPath(new URL("../fakes/acp-agent/agent.mjs", import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

const isLinux = process.platform === "linux";
if (!isLinux) notRun("what a killed Lares leaves of a run", "Run it on Linux.");

test.skipIf(!isLinux)(
  "the program and its detached child are found by the run's tag and ended; another run's are left alone",
  { timeout: 60_000 },
  async () => {
    const runs = ["left-1", "left-2"].map((run) => `${run}-${process.pid}`) as [string, string];
    onTestFinished(async () => {
      for (const key of runs) await endRun({ key });
    });
    for (const run of runs) {
      const given = { run, home: scratch("left"), tag: TAG, agent: AGENT, text: orders.detach(run, "on and on") };
      const lares = fork(fileURLToPath(new URL("./left-child.ts", import.meta.url)), [JSON.stringify(given)], {
        execArgv: ["--import", TSX],
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      const events: RunEventBody[] = [];
      lares.on("message", (event) => events.push(event as RunEventBody));
      const gone = new Promise((resolve) => lares.once("exit", resolve));
      await until("its words", () => events.some(({ type }) => type === "text"), { withinMs: 30_000 });
      lares.kill("SIGKILL");
      await gone;
    }
    const [mine, other] = runs;
    expect(processesNaming(`// ${mine}`)).toHaveLength(1);
    await endRun({ key: mine });
    expect(processesTagged(TAG, mine)).toEqual([]);
    expect(processesNaming(`// ${mine}`)).toEqual([]);
    expect(processesNaming(`// ${other}`)).toHaveLength(1);
  },
);
