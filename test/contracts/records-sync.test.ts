/** That a write has reached the disk before its writer hears of it, as the kernel saw it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { needs } from "../support/not-run.ts";
import { newHome } from "./engine/instance.ts";

const driver = fileURLToPath(new URL("./records-driver.ts", import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

describe.skipIf(!needs("strace", "the order of sync and acknowledgement"))("power loss", () => {
  it("takes nothing a writer was told of: the log is synced between its last byte and the word (SQLITE-1)", () => {
    const home = newHome();
    const trace = join(home, "trace");
    const strace = ["-f", "-y", "-e", "trace=pwrite64,write,fdatasync,fsync", "-o", trace];
    const run = spawnSync("strace", [...strace, process.execPath, "--import", tsx, driver, "write", home], {
      encoding: "utf8",
    });
    expect(run.stderr).toBe("");
    expect(run.status).toBe(0);
    const { told, early } = readOrder(readFileSync(trace, "utf8"));
    expect(told).toBe(24);
    expect(early).toEqual([]);
  }, 60_000);
});

/** A sync covers what was written before it began, so it counts from the line where it began, and only once it has returned. */
function readOrder(trace: string): { told: number; early: string[] } {
  const open = new Map<string, number>();
  let [written, covered, told] = [0, 0, 0];
  const early: string[] = [];
  for (const line of trace.split("\n")) {
    const [thread = ""] = line.split(" ");
    if (/ pwrite64\(\d+<[^>]*-wal>/.test(line)) written++;
    else if (/ f(data)?sync\(\d+<[^>]*-wal>/.test(line)) {
      if (line.includes("unfinished")) open.set(thread, written);
      else covered = written;
    } else if (/<\.\.\. f(data)?sync resumed>/.test(line) && open.has(thread)) {
      covered = Math.max(covered, open.get(thread)!);
      open.delete(thread);
    } else if (/ write\(1<.*told /.test(line)) {
      told++;
      if (covered < written) early.push(line);
    }
  }
  return { told, early };
}
