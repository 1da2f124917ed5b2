/** What a command said, from the folder of its supervisor, within the bounds of `Capture`. */
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type CapturedOutput, OutputCapture } from "./capture.ts";
import type { Command, StartedRun } from "./run.ts";

const CHUNK = 256 * 1024;

export type Kept = Pick<Command, "dir" | "key" | "place" | "apart">;

export async function readRun(
  { dir, key, place, apart }: Kept,
  plain?: StartedRun["plain"],
): Promise<{ output: CapturedOutput; errors?: string }> {
  const capture = new OutputCapture({ place, key });
  const add = (chunk: Buffer) => capture.add(chunk);
  const text = plain?.(add);
  await readChunks(join(dir, "out"), text ?? add);
  text?.end();
  const tail = await readFile(join(dir, "tail")).catch(() => undefined);
  if (tail?.length) {
    capture.gap();
    capture.add(tail);
  }
  const output = await capture.end();
  if (!apart) return { output };
  return { output, errors: await readFile(join(dir, "err"), "utf8").catch(() => "") };
}

async function readChunks(path: string, take: (chunk: Buffer) => void): Promise<void> {
  const file = await open(path, "r").catch(() => undefined);
  if (!file) return;
  try {
    const { size } = await file.stat();
    for (let at = 0; at < size; ) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(CHUNK, size - at)), 0, undefined, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      take(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
