/** One run of the conformance suite, as what its summary says. */
import { spawn } from "node:child_process";

export interface Scenario {
  name: string;
  isPassed: boolean;
  /** False for extensions and for what was added after the revision was released. */
  isScored: boolean;
  passed: number;
}

/** The suite gives every scenario 30 s; this ends a suite that hangs. */
const LONGEST_MS = 10 * 60_000;

export async function suite(at: {
  node: string;
  program: string;
  cwd: string;
  args: readonly string[];
}): Promise<Scenario[]> {
  const child = spawn(at.node, [at.program, ...at.args], { cwd: at.cwd, stdio: ["ignore", "pipe", "pipe"] });
  const end = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
  await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(end);
  const [, single] = /--scenario ([\w/-]+)/.exec(at.args.join(" ")) ?? [];
  return single === undefined ? readSummary(text) : [readOne(single, text)];
}

function readSummary(text: string): Scenario[] {
  const [, summary = ""] = text.split(/=== (?:SUITE )?SUMMARY ===/);
  const [scored = "", others = ""] = summary.split("Not scored for");
  const notScored = new Set([...others.matchAll(/^ +[✓✗] (\S+) \(/gm)].map(([, name]) => name));
  return [...scored.matchAll(/^([✓✗]) (\S+): (\d+) passed/gm)].map(([, mark, name = "", passed]) => ({
    name,
    isPassed: mark === "✓",
    isScored: !notScored.has(name),
    passed: Number(passed),
  }));
}

function readOne(name: string, text: string): Scenario {
  const [, passed = "0", , failed = "1"] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(text) ?? [];
  return { name, isPassed: failed === "0" && passed !== "0", isScored: true, passed: Number(passed) };
}
