/** Consecutive reads of files, folded into one row: "read 6 files". */
import { chatWords as words } from "../words/chat.ts";
export interface Read {
  line: string;
  ms: number | undefined;
}

/** Tools that only look at one file. */
export function isRead(name: string): boolean {
  return name === "read";
}

/** The row; undefined when nothing was read. Reading one file twice is one file. */
export function foldReads(reads: readonly Read[]): Read | undefined {
  const [first] = reads;
  if (!first) return undefined;
  const files = new Set(reads.map(({ line }) => line)).size;
  const known = reads.flatMap(({ ms }) => ms ?? []);
  const ms = known.length ? known.reduce((a, b) => a + b) : undefined;
  return { line: files === 1 ? first.line : words.readFiles(files), ms };
}
