/** From a platform's event to the model's request, per adapter: the contract suite's own rigs, one file after another. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile } from "./process.ts";

export function channelFigures(root: string): { channel: string; p50: number; p95: number }[] {
  const file = join(mkdtempSync(join(tmpdir(), "lares-bench-channels-")), "latency.jsonl");
  const args = ["vitest", "run", "test/channels", "-t", "latency", "--maxWorkers=1", "--reporter=dot"];
  execFileSync("npx", args, { cwd: root, env: { ...process.env, LARES_BENCH_CHANNELS: file }, stdio: "ignore" });
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { channel: string; times: number[] })
    .map(({ channel, times }) => ({ channel, p50: percentile(times, 50), p95: percentile(times, 95) }))
    .sort((a, b) => a.channel.localeCompare(b.channel));
}
