/** FS-05 and A1: what happens between check and use, with another process working against us the whole time. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AppError } from "../../../core/domain/index.ts";
import { SECRET, scene } from "../testing.ts";
import { withInside } from "./inside.ts";

// In memory, because 10,000 flushes to a disk would take minutes and the race is the same.
const base = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const TRIES = 20_000;

test("FS-05: a directory that is swapped for a link all the time never leads out, in 20,000 tries", async () => {
  const { workspace, out } = await scene(base);
  await mkdir(join(workspace, "d/e"), { recursive: true });
  await writeFile(join(workspace, "d/e/secret"), "harmless");
  await mkdir(join(out, "e"));
  await writeFile(join(out, "e/secret"), SECRET);
  const swapper = start(
    `const fs = require("fs"); const [dir, away, out] = process.argv.slice(1);
     for (;;) {
       fs.renameSync(dir, away); fs.symlinkSync(out, dir);
       fs.unlinkSync(dir); fs.renameSync(away, dir);
     }`,
    [join(workspace, "d"), join(workspace, "away"), out],
  );
  const seen = { done: 0, refused: 0 };
  const attempt = async (i: number) => {
    try {
      if (i % 2 === 0) {
        const use = { root: workspace, path: "d/e/secret" };
        const text = await withInside(use, (inside) => inside.readFile(1000));
        expect(text.toString()).not.toContain(SECRET);
      } else {
        const use = { root: workspace, path: `d/e/w${i % 50}` };
        await withInside(use, (inside) => inside.writeAtomic("ours", `try ${i}`));
      }
      seen.done++;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      seen.refused++;
    }
  };
  for (let i = 0; i < TRIES; i += 4) await Promise.all([0, 1, 2, 3].map((k) => attempt(i + k)));
  expect(swapper.exitCode).toBeNull();
  swapper.kill("SIGKILL");
  // Both must have happened, or nothing was raced.
  expect(seen.done).toBeGreaterThan(100);
  expect(seen.refused).toBeGreaterThan(100);
  expect((await readdir(out)).sort()).toEqual(["e", "secret"]);
  expect(await readdir(join(out, "e"))).toEqual(["secret"]);
  expect(await readFile(join(out, "e/secret"), "utf8")).toBe(SECRET);
}, 180_000);

test("A1: a writer killed at any moment leaves the old or the new content, whole", async () => {
  const { workspace } = await scene(base);
  const target = join(workspace, "file");
  const size = 400_000;
  await writeFile(target, "0".repeat(size));
  const here = import.meta.dirname;
  const code = `
    import { withInside } from ${JSON.stringify(join(here, "inside.ts"))};
    process.stdout.write("go");
    for (let i = 1; ; i++) {
      const content = String(i % 10).repeat(${size});
      await withInside({ root: ${JSON.stringify(workspace)}, path: "file" }, (inside) => inside.writeAtomic(content, "same"));
    }`;
  const script = join(workspace, "..", "writer.mts");
  await writeFile(script, code);
  const contents = new Set<string>();
  for (let round = 0; round < 12; round++) {
    const writer = spawn(process.execPath, ["--import", "tsx", script], {
      cwd: here,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = new Promise((resolve) => writer.once("exit", resolve));
    await new Promise((resolve) => writer.stdout.once("data", resolve));
    // Not a wait for a condition: the point is to kill at an arbitrary moment of the writing.
    await new Promise((resolve) => setTimeout(resolve, 3 + Math.random() * 40));
    expect(writer.exitCode).toBeNull();
    writer.kill("SIGKILL");
    await gone;
    const content = await readFile(target, "utf8");
    expect(content.length).toBe(size);
    expect(content).toBe(content[0]!.repeat(size));
    contents.add(content[0]!);
  }
  expect(contents.size).toBeGreaterThan(1);
  // A2: the next try with the same tag takes away what a killed one left.
  await withInside({ root: workspace, path: "file" }, (inside) => inside.writeAtomic("end", "same"));
  expect(await readdir(workspace)).toEqual(["file"]);
}, 120_000);

function start(code: string, args: string[]): ChildProcess {
  const child = spawn(process.execPath, ["-e", code, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}
