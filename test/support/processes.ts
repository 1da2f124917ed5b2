/** What the kernel says about a process; nothing where it is gone. Linux only. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}

/** The parsers that read for this Lares now. */
export function parsersOf(pid: number): number[] {
  return readProc(`${pid}/task/${pid}/children`)
    .split(" ")
    .filter((child) => child !== "" && /lares-parser/.test(readProc(`${child}/cmdline`)))
    .map(Number);
}

/** Processes whose command line has this text in it. */
export function processesNaming(text: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readProc(`${pid}/cmdline`).includes(text)).map(Number);
}

/** Processes that work in this folder. */
export function processesIn(folder: string): number[] {
  const isThere = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isThere(name))
    .map(Number);
}

/** Processes that carry this variable with this value. */
export function processesTagged(name: string, value: string): number[] {
  const pids = readdirSync("/proc").filter((one) => /^\d+$/.test(one));
  return pids.filter((pid) => readProc(`${pid}/environ`).split("\0").includes(`${name}=${value}`)).map(Number);
}
