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

/** Which file it is, as names that are hard links to the same one share it; nothing for links and empty folders. */
export function readMarkedFile(mark: string): string | undefined {
  return readMark(mark) ? undefined : mark.slice(mark.lastIndexOf(":") + 1);
}

/** Whether only the time of its last change of any kind differs: a hard link to it came or went, or its mode changed. */
export function isMarkedAlike(one: string, other: string): boolean {
  const [a, b] = [one.split(":"), other.split(":")];
  return !readMark(one) && a.length === b.length && a.every((part, at) => part === b[at] || at === 2);
}

export function readMarkedSize(mark: string): number {
  return Number(mark.slice(0, mark.indexOf(":")));
}
