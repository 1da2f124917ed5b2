/** Places and keys for commands that really run. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ToolPlace } from "../../src/core/contracts/index.ts";
import { createConfinement, sandboxConfig } from "../../src/edges/tools/sandbox/index.ts";
import { scratch } from "../support/index.ts";

export interface World extends ToolPlace {
  /** The home of Lares, with its database and token in it. */
  home: string;
  /** The person's home, with keys in it. */
  userHome: string;
  /** Beside everything; nobody's. */
  outside: string;
}

export const CANARY = "the canary sings";
export const never = new AbortController().signal;

let made = 0;
export const newKey = () => `sandbox-${process.pid}-${++made}`;

export function world(base = realpathSync(scratch("sandbox"))): World {
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const userHome = join(base, "user");
  const home = join(userHome, ".lares");
  const agentDir = join(home, "agents/main");
  const workspace = join(agentDir, "workspace");
  const outside = join(base, "outside");
  for (const dir of [workspace, outside, join(userHome, ".ssh")]) mkdirSync(dir, { recursive: true });
  for (const file of [join(home, "lares.db"), join(home, "token"), join(agentDir, "SOUL.md"), join(outside, "file")]) {
    writeFileSync(file, CANARY);
  }
  writeFileSync(join(userHome, ".ssh/id_ed25519"), CANARY);
  const caller = { agent: "main", session: "s", turn: "t", route: { channel: "http", account: "a", chat: "c" } };
  return { home, userHome, agentDir, workspace, outside, spillDir: join(workspace, ".lares/out"), caller };
}

export function confinement(at: World, config: object = {}) {
  return createConfinement({ ...at, config: () => sandboxConfig.parse({ backend: "bubblewrap", ...config }) });
}

/** Pids that carry the key, found without any code under test. */
export function alive(key: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`LARES_RUN=${key}`);
      } catch {
        return false;
      }
    })
    .map(Number);
}
