/** A file's mark: size, times and identity, without its content. Marks are compared; of all that, only the size is read again. */
import type { TreeFile } from "./below.ts";

export function markFile({ size, mtimeMs, ctimeMs, ino }: Omit<TreeFile, "path">): string {
  return `${size}:${mtimeMs}:${ctimeMs}:${ino}`;
}

export function readMarkedSize(mark: string): number {
  return Number(mark.slice(0, mark.indexOf(":")));
}
