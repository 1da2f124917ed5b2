/** FS-05 and FILES-7: what happens between check and use, with another process working against us the whole time. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { raceSwaps, wasRaced } from "../../../test/gate/race.ts";
import { scene } from "../../edges/tools/testing.ts";
import { withInside } from "./inside.ts";

// In memory, because 10,000 flushes to a disk would take minutes and the race is the same.
const base = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
/** `npm run test:gate` races 100,000 times. */
const TRIES = 10_000;

test("FS-05: a directory that is swapped for a link all the time never leads out, in 20,000 tries (FILES-9, FILES-10)", async () => {
  const result = await raceSwaps(TRIES);
  expect(result.escapes).toEqual([]);
  expect(wasRaced(result)).toBe(true);
}, 180_000);

test("FILES-7: a writer killed at any moment leaves the old or the new content, whole", async () => {
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
  // FILES-8: the next try with the same tag takes away what a killed one left.
  await withInside({ root: workspace, path: "file" }, (inside) => inside.writeAtomic("end", "same"));
  expect(await readdir(workspace)).toEqual(["file"]);
}, 120_000);
