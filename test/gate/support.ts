/** A gate with a real exec tool behind it: the policy of the security reference and a canary that leaves a marker. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ActionPlan } from "../../src/core/contracts/index.ts";
import { createExec } from "../../src/edges/tools/index.ts";
import { createConfinement, sandboxConfig } from "../../src/edges/tools/sandbox/index.ts";
import { decide, type Policy, type Verdict } from "../../src/flow/gate/index.ts";
import { programAt } from "../support/not-run.ts";

const CALLER = { agent: "main", session: "s", turn: "t", route: { channel: "http", account: "a", chat: "c" } };

/** The reference's allowlist, by name. */
export const LISTED = ["ls", "echo", "cat", "git", "env", "sort", "grep", "find", "head"];

export interface Ground {
  dir: string;
  workspace: string;
  out: string;
  /** A trusted directory that holds the canary `pwn`. */
  bin: string;
  marker: string;
  policy: Policy;
  plan(command: string, cwd?: string): Promise<ActionPlan>;
  judge(command: string, over?: Partial<Policy>): Promise<Verdict & { plan: ActionPlan }>;
  /** Runs it through the tool, whatever the gate says; in its settled form where that is what was allowed. */
  run(command: string, settled?: string): Promise<string>;
  pwned(): boolean;
  close(): void;
}

export function ground(
  allow: Record<string, readonly string[]> = { exec: LISTED.map((name) => `${name} *`) },
  sandboxed = false,
): Ground {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "lares-gate-")));
  const at = (name: string) => join(dir, name);
  for (const name of [
    "home",
    "home/agents",
    "home/agents/main",
    "home/agents/main/workspace",
    "user",
    "out",
    "bin",
    "spill",
  ]) {
    mkdirSync(at(name));
  }
  const workspace = at("home/agents/main/workspace");
  const marker = at("marker");
  writeFileSync(at("bin/pwn"), `#!/bin/sh\necho ran >> ${marker}\n`);
  chmodSync(at("bin/pwn"), 0o755);
  writeFileSync(at("out/secret"), "the canary sings");
  writeFileSync(join(workspace, "a.txt"), "alpha\n");
  writeFileSync(join(workspace, "evil.sh"), "pwn\n");
  const sandbox = createConfinement({
    home: at("home"),
    userHome: at("user"),
    config: () => sandboxConfig.parse({ backend: "bubblewrap" }),
  });
  // What is judged here is the command; a machine without the program gets one that does nothing.
  for (const name of ["git", "curl", "wget", "python3", "rg"]) {
    if (programAt(name)) continue;
    writeFileSync(at(`bin/${name}`), "#!/bin/sh\nexit 0\n");
    chmodSync(at(`bin/${name}`), 0o755);
  }
  const exec = createExec({ path: `${at("bin")}:/usr/local/bin:/usr/bin:/bin`, ...(sandboxed ? { sandbox } : {}) });
  const place = {
    agentDir: at("home/agents/main"),
    workspace,
    spillDir: join(workspace, ".lares/out"),
    caller: CALLER,
  };
  const policy: Policy = {
    mode: "ask",
    allow,
    deny: {},
    remembered: new Set(),
    authority: "owner",
    place: {
      ...{ home: at("home"), userHome: at("user"), agentDir: place.agentDir, workspace },
      doors: { ports: [4747], hosts: ["workhorse", "192.168.7.7"] },
    },
  };
  const plan = (command: string, cwd?: string) => exec.plan({ command, ...(cwd ? { cwd } : {}) }, place);
  let runs = 0;
  return {
    dir,
    workspace,
    out: at("out"),
    bin: at("bin"),
    marker,
    policy,
    plan,
    async judge(command, over = {}) {
      const made = await plan(command);
      return { ...decide({ ...policy, ...over }, made), plan: made };
    },
    async run(command, settled) {
      const key = `gate-${process.pid}-${++runs}`;
      const where = settled ? { ...place, runsSettled: settled } : place;
      return (await exec.run({ command, timeout_s: 10 }, where, key, new AbortController().signal)).text;
    },
    pwned: () => existsSync(marker),
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}
