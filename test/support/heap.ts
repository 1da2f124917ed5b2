/** How much a running program holds, asked from outside. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "./scratch.ts";
import { until } from "./until.ts";

/** Lets a process be asked from outside what its heap holds after a collection. */
export function weighable(): { env: Record<string, string>; heapOf(pid: number): Promise<number> } {
  const dir = scratch("heap");
  const [script, answer] = [join(dir, "weigh.cjs"), join(dir, "heap.json")];
  writeFileSync(
    script,
    `const { renameSync, writeFileSync } = require("node:fs");
     process.on("SIGUSR2", () => {
       gc(); gc();
       writeFileSync("${answer}.new", String(process.memoryUsage().heapUsed));
       renameSync("${answer}.new", "${answer}");
     });`,
  );
  return {
    env: { NODE_OPTIONS: `--expose-gc --require ${script}` },
    async heapOf(pid) {
      rmSync(answer, { force: true });
      process.kill(pid, "SIGUSR2");
      await until("the heap to be weighed", () => existsSync(answer), { withinMs: 60_000 });
      return Number(readFileSync(answer, "utf8"));
    },
  };
}

/** Resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}
