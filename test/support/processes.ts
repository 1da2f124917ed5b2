/** What the kernel says about a process; nothing where it is gone. Linux only. */
import { readFileSync } from "node:fs";

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
