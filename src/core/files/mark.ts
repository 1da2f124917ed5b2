/** A file's mark: size, times and identity, without its content. Marks are compared; of all that, only the size is read again. */
import type { TreeFile } from "./below.ts";

export function markFile({ size, mtimeMs, ctimeMs, ino }: Omit<TreeFile, "path">): string {
  return `${size}:${mtimeMs}:${ctimeMs}:${ino}`;
}

/** A link by what it says, an empty folder by its mode: there is nothing else to it. */
export function markLink(target: string): string {
  return `0:link:${target}`;
}

export function markFolder(mode: number): string {
  return `0:folder:${mode}`;
}

/** A link or a folder, as its mark has it; nothing for a file. */
export function readMark(mark: string): { link: string } | { folder: number } | undefined {
  if (mark.startsWith("0:link:")) return { link: mark.slice("0:link:".length) };
  return mark.startsWith("0:folder:") ? { folder: Number(mark.slice("0:folder:".length)) } : undefined;
}

export function readMarkedSize(mark: string): number {
  return Number(mark.slice(0, mark.indexOf(":")));
}
