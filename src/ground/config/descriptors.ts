/**
 * Files left open by the process that started Lares. Node marks the first few so that children do not get them, and its own all
 * of them; a shell's `exec 200<secret` would reach every command, the sandboxed ones too. Lares uses none of them, so they are
 * closed.
 *
 * Linux only: elsewhere there is no way to tell them from our own.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs";

/** In the flags of `/proc/self/fdinfo`. */
const CLOSE_ON_EXEC = 0o2000000;

/** Closes what was inherited above stdin, stdout and stderr. Returns how many there were. */
export function closeInherited(): number {
  if (process.platform !== "linux") return 0;
  let closed = 0;
  for (const name of descriptors()) {
    const fd = Number(name);
    if (fd <= 2 || !reachesChildren(fd)) continue;
    try {
      closeSync(fd);
      closed++;
    } catch {
      // Gone meanwhile: the folder that was just read was one of them.
    }
  }
  return closed;
}

function descriptors(): string[] {
  try {
    return readdirSync("/proc/self/fd");
  } catch {
    return [];
  }
}

function reachesChildren(fd: number): boolean {
  try {
    const flags = /flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
