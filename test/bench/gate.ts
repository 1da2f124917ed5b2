/** What judging costs: the plan of a command and the gate's decision, in this process. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTools } from "../../src/edges/tools/index.ts";
import { decide, joinPolicy, policyConfig } from "../../src/flow/gate/index.ts";

const COMMANDS = [
  "git status",
  "ls -la src",
  "grep -rn needle . | sort | head -5",
  'for f in *.txt; do wc -l "$f"; done',
  "echo $(date)",
];

export async function gateFigures(): Promise<{ decideUs: number; planUs: number }> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "lares-bench-gate-")));
  const workspace = join(dir, "workspace");
  mkdirSync(workspace);
  const caller = { agent: "main", session: "s", turn: "t", route: { channel: "none", account: "a", chat: "c" } };
  const place = { agentDir: dir, workspace, spillDir: join(workspace, ".lares"), caller };
  const policy = joinPolicy(policyConfig.parse({ allow: { exec: ["git status *", "ls *"] } }), undefined, {
    place: { home: join(dir, "home"), userHome: join(dir, "user"), agentDir: dir, workspace },
    remembered: new Set(),
  });
  const exec = createTools().get("exec");
  try {
    const plans = await Promise.all(COMMANDS.map((command) => exec.plan({ command }, place)));
    const decideUs = await perRun(2000, async (i) => void decide(policy, plans[i % plans.length]!));
    const planUs = await perRun(400, (i) => exec.plan({ command: COMMANDS[i % COMMANDS.length]! }, place));
    return { decideUs, planUs };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** CPU time a run, warm: others on the machine do not count. */
async function perRun(times: number, run: (i: number) => Promise<unknown>): Promise<number> {
  for (let i = 0; i < times / 4; i++) await run(i);
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) await run(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}
