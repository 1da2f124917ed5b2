/**
 * What one command may use up, however it is shut in. The kernel holds what it can hold for a process and its children
 * (`prlimit`); what only exists for a run as a whole, its processes and their memory together, is watched (`exec/guard.ts`).
 *
 * Memory of one process is bound as its private writable memory (RLIMIT_DATA): a bound on addresses (RLIMIT_AS) breaks Node, Go and
 * Java, which reserve far more than they use. The kernel counts processes by user (RLIMIT_NPROC): inside a sandbox that is the
 * sandbox's own count, outside it would count everything else the user runs, and for root the kernel does not count at all.
 */
import { existsSync } from "node:fs";
import { totalmem } from "node:os";

export interface SandboxLimits {
  memoryMb: number;
  processes: number;
  tmpMb: number;
  fileMb: number;
}

const PRLIMIT = "/usr/bin/prlimit";
const MB = 1024 * 1024;

/** The limits as they hold on this machine: no command gets more than three quarters of its memory. */
export function onThisMachine(limits: SandboxLimits, machineMb = totalmem() / MB): SandboxLimits {
  return { ...limits, memoryMb: Math.floor(Math.min(limits.memoryMb, (machineMb * 3) / 4)) };
}

/** The stricter of two: what a sub-agent runs gets no more than what its parent's commands get. */
export function strictest(a: SandboxLimits | undefined, b: SandboxLimits | undefined): SandboxLimits | undefined {
  if (!a || !b) return a ?? b;
  return {
    memoryMb: Math.min(a.memoryMb, b.memoryMb),
    processes: Math.min(a.processes, b.processes),
    tmpMb: Math.min(a.tmpMb, b.tmpMb),
    fileMb: Math.min(a.fileMb, b.fileMb),
  };
}

/** The same command under the kernel's limits. `apart`: it runs in a separate user namespace, where its processes can be counted. */
export function withLimits(
  argv: readonly [string, ...string[]],
  limits: SandboxLimits | undefined,
  { apart }: { apart: boolean },
): [string, ...string[]] {
  if (!limits || !hasPrlimit()) return [...argv];
  const { memoryMb, processes, fileMb } = limits;
  return [
    PRLIMIT,
    "--core=0",
    `--data=${memoryMb * MB}`,
    `--fsize=${fileMb * MB}`,
    ...(apart ? [`--nproc=${processes}`] : []),
    ...argv,
  ];
}

/** Part of util-linux; not there on Alpine or a Mac. */
export function hasPrlimit(): boolean {
  return process.platform === "linux" && existsSync(PRLIMIT);
}
