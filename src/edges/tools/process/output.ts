/** Reading a background process's output: the end of it, or a stretch from a given byte on. */
import { open } from "node:fs/promises";
import { join } from "node:path";

export interface Stretch {
  text: string;
  /** Where it begins and ends, counted in the file as it stands. */
  from: number;
  to: number;
  size: number;
}

/** Without `from` the last `most` bytes. */
export async function readOutput(dir: string, most: number, from?: number): Promise<Stretch> {
  const file = await open(join(dir, "log"), "r").catch(() => undefined);
  if (!file) return { text: "", from: 0, to: 0, size: 0 };
  try {
    const { size } = await file.stat();
    const start = Math.min(from ?? Math.max(0, size - most), size);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(most, size - start)), 0, undefined, start);
    const bytes = buffer.subarray(0, bytesRead);
    const [skip, keep] = from === undefined && start > 0 ? [firstWhole(bytes), bytes.length] : [0, bytes.length];
    return { text: bytes.subarray(skip, keep).toString("utf8"), from: start + skip, to: start + keep, size };
  } finally {
    await file.close();
  }
}

/** The first byte that begins a sign. */
function firstWhole(bytes: Buffer): number {
  let at = 0;
  while (at < Math.min(4, bytes.length) && (bytes[at]! & 0xc0) === 0x80) at++;
  return at;
}
