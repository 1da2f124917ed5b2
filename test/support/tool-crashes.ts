/** Scenarios of the crash sweep in which Lares dies while it installs a runtime (RUNTOOL-1) or tries one out (TRIAL-1). */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Lares } from "./lares.ts";
import { describeModelled, packModelled } from "./modelled-agent.ts";
import { processesIn } from "./processes.ts";

async function look(lares: Lares) {
  return (await lares.rpc("runtimes.list", {})).runtimes.find(({ name }) => name === "mine")!;
}

/** `left`: what is there in the next life. */
export function installingTool(left: "none" | "whole") {
  return {
    config: () => ({
      runtimes: { mine: describeModelled("", { command: "modelled", args: [], package: packModelled("1.0.0") }) },
    }),
    provoke: ({ lares }: { lares: Lares }) => lares.rpc("runtimes.install", { name: "mine" }),
    async settle({ lares }: { lares: Lares }) {
      expect((await look(lares)).state).toBe(left === "whole" ? "ready" : "missing");
      await lares.rpc("runtimes.install", { name: "mine" });
      expect(await look(lares)).toMatchObject({ state: "ready", version: "1.0.0" });
      expect(readdirSync(join(lares.home, "tools"))).toHaveLength(2);
    },
  };
}

export function tryingOut() {
  return {
    config: () => ({ runtimes: { mine: describeModelled() } }),
    provoke: ({ lares }: { lares: Lares }) => lares.rpc("runtimes.probe", { name: "mine" }),
    async settle({ lares }: { lares: Lares }) {
      expect((await look(lares)).triedAt).toBeUndefined();
      expect(existsSync(join(lares.home, "runtimes", "trials", "mine"))).toBe(false);
      expect(processesIn(join(lares.home, "runtimes"))).toEqual([]);
      await lares.rpc("runtimes.probe", { name: "mine" });
      expect((await look(lares)).triedAt).toBeGreaterThan(0);
    },
  };
}
