/** What the next life of Lares must know of a run to go on watching it, in the folder of its supervisor. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxLimits } from "../sandbox/limits.ts";

/** Before it starts: what it may use up. */
export function keepLimits(dir: string, limits: SandboxLimits): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, "limits"), JSON.stringify(limits), { mode: 0o600 });
}

/** Undefined for a run without limits, or of a version that did not keep them. */
export function keptLimits(dir: string): SandboxLimits | undefined {
  const text = read(dir, "limits");
  try {
    return text === undefined ? undefined : (JSON.parse(text) as SandboxLimits);
  } catch {
    return undefined;
  }
}

/** Before it is ended for it: which limit it went over. */
export function keepExcess(dir: string, why: string): void {
  try {
    writeFileSync(join(dir, "excess"), why, { mode: 0o600 });
  } catch {
    // On a full disk it is ended without the reason.
  }
}

export function keptExcess(dir: string): string | undefined {
  return read(dir, "excess");
}

function read(dir: string, name: string): string | undefined {
  try {
    return readFileSync(join(dir, name), "utf8");
  } catch {
    return undefined;
  }
}
