/** A process as itself and not as a number: pids are given again, after a restart of the machine even in the same order. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { bootId } from "../../../core/kit/index.ts";

/** What stays the same as long as this process lives, or undefined when it does not. */
export async function readIdentity(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") return fromProc(pid);
  try {
    const { stdout } = await promisify(execFile)("/bin/ps", ["-o", "stat=,lstart=", "-p", String(pid)], { env: {} });
    const [state, ...started] = stdout.trim().split(/\s+/);
    return state === undefined || state.startsWith("Z") || started.length === 0 ? undefined : started.join(" ");
  } catch {
    return undefined;
  }
}

function fromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name is in parentheses and may contain anything; the fields follow the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    // Start times count from the boot.
    return `${bootId()}:${fields[19]}`;
  } catch {
    return undefined;
  }
}
