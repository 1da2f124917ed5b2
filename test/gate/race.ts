/**
 * The race of FS-05: a directory is swapped for a link to the outside, all the time and by another process, while files below it are read,
 * written, and taken away through the path type. Nothing of the outside may be read, made, changed or lost.
 *
 *   tsx test/gate/race.ts [tries]      100,000 tries unless told
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../src/core/domain/index.ts";
import { withInside } from "../../src/edges/tools/index.ts";

export interface RaceResult {
  tries: number;
  /** It went through, inside. */
  done: number;
  /** It was refused: the link was seen, or the place was gone at that moment. */
  refused: number;
  /** What got out. Empty, or the path type is broken. */
  escapes: string[];
}

const SECRET = "the canary sings";
const AT_ONCE = 4;
const SWAPPER = `const fs = require("fs"); const [dir, away, out] = process.argv.slice(1);
  for (;;) {
    fs.renameSync(dir, away); fs.symlinkSync(out, dir);
    fs.unlinkSync(dir); fs.renameSync(away, dir);
  }`;

export async function raceSwaps(tries: number): Promise<RaceResult> {
  // In memory where there is some: thousands of flushes to a disk would take minutes, and the race is the same.
  const base = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const dir = await realpath(await mkdtemp(join(base, "lares-race-")));
  const [workspace, out] = [join(dir, "workspace"), join(dir, "out")];
  await mkdir(join(workspace, "d/e"), { recursive: true });
  await mkdir(join(out, "e"), { recursive: true });
  await writeFile(join(workspace, "d/e/secret"), "harmless");
  await writeFile(join(out, "e/secret"), SECRET);
  await writeFile(join(out, "e/w0"), SECRET);
  const swap = [join(workspace, "d"), join(workspace, "away"), out];
  const swapper = spawn(process.execPath, ["-e", SWAPPER, ...swap], { stdio: ["ignore", "ignore", "inherit"] });
  const gone = new Promise((resolve) => swapper.once("exit", resolve));
  const result: RaceResult = { tries, done: 0, refused: 0, escapes: [] };
  const attempt = async (i: number) => {
    try {
      if (i % 2 === 0) {
        const text = await withInside({ root: workspace, path: "d/e/secret" }, (inside) => inside.readFile(1000));
        if (text.toString().includes(SECRET)) result.escapes.push(`try ${i} read the outside`);
      } else if (i % 8 === 7) {
        await withInside({ root: workspace, path: `d/e/w${i % 50}` }, (inside) => inside.remove());
      } else {
        const path = `d/e/w${i % 50}`;
        await withInside({ root: workspace, path }, (inside) => inside.writeAtomic("ours", `try ${i}`));
      }
      result.done++;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      result.refused++;
    }
  };
  try {
    for (let i = 0; i < tries; i += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, tries - i) }, (_, k) => attempt(i + k)));
    }
    if (swapper.exitCode !== null) result.escapes.push("the swapper ended, so nothing was raced");
  } finally {
    swapper.kill("SIGKILL");
    await gone;
  }
  const there = (await readdir(out, { recursive: true })).sort().join(" ");
  if (there !== "e e/secret e/w0") result.escapes.push(`outside there is now: ${there}`);
  for (const name of ["secret", "w0"]) {
    const now = await readFile(join(out, "e", name), "utf8").catch(() => "gone");
    if (now !== SECRET) result.escapes.push(`outside e/${name} is now: ${now}`);
  }
  await rm(dir, { recursive: true, force: true });
  return result;
}

/** Both must have happened often, or nothing was raced. */
export function wasRaced({ tries, done, refused }: RaceResult): boolean {
  const least = Math.min(100, tries / 20);
  return done > least && refused > least;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const began = performance.now();
  const result = await raceSwaps(Number(process.argv[2] ?? 100_000));
  const s = ((performance.now() - began) / 1000).toFixed(0);
  process.stdout.write(`${result.tries} tries, ${result.done} done, ${result.refused} refused, ${s} s\n`);
  for (const line of result.escapes) process.stdout.write(`ESCAPE ${line}\n`);
  process.exitCode = result.escapes.length === 0 && wasRaced(result) ? 0 : 1;
}
