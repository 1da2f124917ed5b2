import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { agree, letters, openMemory, removeDir } from "./support.ts";

const CHILD = fileURLToPath(new URL("kill-child.ts", import.meta.url));
const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) removeDir(dir);
});

describe("killed at any moment", () => {
  it("while adding and forgetting: what was told durable is there, and rows, words and vectors agree (MEMORY-2)", async () => {
    const { dir, close } = await openMemory();
    dirs.push(dir);
    await close();
    const told: string[] = [];
    for (const lines of [3, 17, 40]) told.push(...(await killedAfter(lines, [dir, "add", "one"])));
    const { memory, records, close: end } = await openMemory({ dir, embedder: letters("one") });
    await agree(records);
    const kept = new Set((await memory.list({ limit: 1000 })).map((row) => row.id));
    // Every fifth of a run is forgotten again; the last told may be on its way out.
    const expected = told.filter((_, n) => !forgotten(n));
    expect(expected.filter((id) => !kept.has(id))).toEqual([]);
    memory.start();
    await memory.settled();
    expect(await memory.embeddingProgress()).toMatchObject({ done: kept.size, total: kept.size });
    await agree(records);
    await end();

    function forgotten(n: number): boolean {
      const starts = [0, 3, 20];
      const start = starts.findLast((at) => n >= at)!;
      return (n - start) % 5 === 4;
    }
  });

  it("while embedding everything again: it goes on where it was, with nothing half done (MEMORY-3)", async () => {
    const first = await openMemory({ embedder: letters("one") });
    dirs.push(first.dir);
    await Promise.all(Array.from({ length: 300 }, (_, n) => first.memory.add({ text: `fact ${n} about ${n % 17}` })));
    first.memory.start();
    await first.memory.settled();
    await first.close();
    const seen = await killedAfter(12, [first.dir, "embed", "two"]);
    const done = Number(seen.at(-1));
    const { memory, records, close } = await openMemory({ dir: first.dir, embedder: letters("two") });
    const before = await memory.embeddingProgress();
    expect(before!.done).toBeGreaterThanOrEqual(done);
    expect(before!.done).toBeLessThan(300);
    await agree(records);
    memory.start();
    await memory.settled();
    expect(await memory.embeddingProgress()).toMatchObject({ done: 300, total: 300, state: "idle" });
    await agree(records);
    await close();
  });
});

/** Starts the child, kills it hard after so many lines, gives back what it had told. */
async function killedAfter(lines: number, args: string[]): Promise<string[]> {
  const child: ChildProcess = spawn(process.execPath, ["--import", "tsx", CHILD, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const told: string[] = [];
  for await (const line of createInterface({ input: child.stdout! })) {
    told.push(line);
    if (told.length === lines) break;
  }
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
  return told;
}
