/** Names that are hard links to one file: a copy of one is a copy of all, and a name that goes leaves the others as they were. */
import { isMarkedAlike, readMarkedFile } from "../../core/files/index.ts";

type ListedMarks = ReadonlyMap<string, string>;

export interface HardLinks {
  /** The other names of the file at this path, before the command. */
  others(path: string): readonly string[];
  /** Only a name of it came or went; its size and the time of its last write are the same. */
  isOnlyRelinked(path: string): boolean;
}

export function findHardLinks(was: ListedMarks, now: ListedMarks): HardLinks {
  const [before, after] = [groupNames(was), groupNames(now)];
  const namesIn = (names: ReadonlyMap<string, readonly string[]>, marks: ListedMarks, path: string) => {
    const file = readMarkedFile(marks.get(path) ?? "0:folder:");
    return (file !== undefined && names.get(file)) || [];
  };
  return {
    others: (path) => namesIn(before, was, path).filter((name) => name !== path),
    isOnlyRelinked(path) {
      const [old, fresh] = [was.get(path), now.get(path)];
      if (old === undefined || fresh === undefined || !isMarkedAlike(old, fresh)) return false;
      const [then, since] = [namesIn(before, was, path), namesIn(after, now, path)];
      return then.length !== since.length || then.some((name) => !since.includes(name));
    },
  };
}

function groupNames(marks: ListedMarks): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const [path, mark] of marks) {
    const file = readMarkedFile(mark);
    if (file === undefined) continue;
    const group = names.get(file);
    if (group) group.push(path);
    else names.set(file, [path]);
  }
  return names;
}
