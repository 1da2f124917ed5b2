/** What the kernel says about a process; nothing where it is gone. Linux only. */
import { readdirSync, readFileSync } from "node:fs";

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
