/** Which start of the machine this is: what was written without a sync before it may be gone, and no process is older. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

let known: { id: string | undefined } | undefined;

/** The same for every process until the machine restarts; undefined where the system does not say. */
export function bootId(): string | undefined {
  known ??= { id: read() };
  return known.id;
}

function read(): string | undefined {
  try {
    if (process.platform === "linux") return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const { sec } = /sec = (?<sec>\d+)/.exec(
      execFileSync("/usr/sbin/sysctl", ["-n", "kern.boottime"], { encoding: "utf8", env: {} }),
    )!.groups!;
    return sec;
  } catch {
    return undefined;
  }
}
