/**
 * A window of lines out of a file of any size. The file is streamed; only the window is kept, so a line range of a huge
 * log costs time and no memory.
 */
import type { FileHandle } from "node:fs/promises";

export interface Window {
  /** The lines, with their line ends. */
  content: Buffer;
  /** Number of the first line, from 1, and of the last one that is whole or cut. */
  first: number;
  last: number;
  /** How many lines the file has; undefined when reading stopped before its end. */
  total: number | undefined;
  /** The last line did not fit and was cut. */
  cut: boolean;
}

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

export async function readWindow(
  file: FileHandle,
  want: { offset: number; limit: number; bytes: number },
  signal: AbortSignal,
): Promise<Window> {
  const chunk = Buffer.allocUnsafe(CHUNK);
  const kept: Buffer[] = [];
  let size = 0;
  let line = 1;
  let wholeLines = 0;
  let lastWasNewline = true;
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    for (let at = 0; at < bytesRead; ) {
      const found = chunk.indexOf(NEWLINE, at);
      const ends = found >= 0 && found < bytesRead;
      const to = ends ? found + 1 : bytesRead;
      if (line >= want.offset + want.limit) return window(false);
      if (line >= want.offset) {
        kept.push(Buffer.from(chunk.subarray(at, to)));
        size += to - at;
        if (size > want.bytes) return window(true);
      }
      if (ends) {
        if (line >= want.offset) wholeLines = size;
        line++;
      }
      lastWasNewline = ends;
      at = to;
    }
  }
  const total = lastWasNewline ? line - 1 : line;
  return { content: Buffer.concat(kept), first: want.offset, last: total, total, cut: false };

  /** Stopped before the end: whole lines when there is one, else as much of the line as fits. */
  function window(full: boolean): Window {
    const all = Buffer.concat(kept);
    if (!full) return { content: all, first: want.offset, last: line - 1, total: undefined, cut: false };
    if (wholeLines > 0) {
      return { content: all.subarray(0, wholeLines), first: want.offset, last: line - 1, total: undefined, cut: false };
    }
    return {
      content: wholeSigns(all.subarray(0, want.bytes)),
      first: want.offset,
      last: line,
      total: undefined,
      cut: true,
    };
  }
}

/** For a text that was cut and is whole in a file: the call that goes on where what is shown ends. */
export function howToReadOn(path: string, shown: string): string {
  let line = 1;
  for (let at = shown.indexOf("\n"); at >= 0; at = shown.indexOf("\n", at + 1)) line++;
  return `search it, or go on with read ${JSON.stringify({ path, offset: line })}`;
}

/** Does not end within a UTF-8 sign. */
function wholeSigns(bytes: Buffer): Buffer {
  let start = bytes.length;
  while (start > 0 && bytes.length - start < 4 && (bytes[start - 1]! & 0xc0) === 0x80) start--;
  const lead = bytes[start - 1] ?? 0;
  const needs = countBytes(lead);
  return bytes.length - (start - 1) < needs ? bytes.subarray(0, start - 1) : bytes;
}

/** Of a UTF-8 character with this first byte. */
function countBytes(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
