/**
 * `npm run bench -- --channels`: from a platform's event to the model's request, per adapter, over the contract suite's own rigs one
 * after another (about two minutes); and how much of an adapter nobody uses is loaded.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile } from "./process.ts";

export interface ChannelFigure {
  channel: string;
  p50: number;
  p95: number;
}

/** The adapters whose platform is not on this machine are not among them. */
export async function channelFigures(root: string): Promise<ChannelFigure[]> {
  const file = join(mkdtempSync(join(tmpdir(), "lares-bench-channels-")), "latency.jsonl");
  await vitest(root, ["test/channels", "-t", "the channel contract latency"], { LARES_BENCH_CHANNELS: file });
  if (!existsSync(file)) throw new Error("No adapter was measured.");
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { channel: string; times: number[] })
    .map(({ channel, times }) => ({ channel, p50: percentile(times, 50), p95: percentile(times, 95) }))
    .sort((a, b) => a.channel.localeCompare(b.channel));
}

/** Read from V8's list of what was loaded, as the test has it: whether an adapter nobody configured is among it. */
export async function unusedAdapters(root: string): Promise<boolean> {
  return (await vitest(root, ["test/channels/unused.test.ts"], {})) === 0;
}

function vitest(root: string, words: string[], env: Record<string, string>): Promise<number | null> {
  const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", ...words, "--maxWorkers=1", "--reporter=dot"];
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", 2, 2] });
  return new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
}
