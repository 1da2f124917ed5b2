/**
 * What can be on a disk after the power went, by what POSIX promises and no more:
 *
 * DISK-1: a write is there after a sync of its file that began when it had returned. Until then each is there, lost, or there in
 * part, by whole sectors, in any combination; so is a change of the size.
 * DISK-2: a name (created, renamed, linked, removed) is there after a sync of its folder. Until then the changes of a folder are lost
 * from any of them on, because file systems write them in order; a rename is lost in both places or in none.
 */
import type { Op } from "./trace.ts";

const SECTOR = 512;

/** A file's content and everything since its last sync. */
interface Inode {
  isFolder: boolean;
  /** What surely is on the disk. */
  synced: Buffer;
  pending: (Extract<Op, { kind: "write" | "truncate" }> & { index: number })[];
}

interface NameChange {
  index: number;
  op: Extract<Op, { kind: "create" | "rename" | "link" | "remove" }>;
}

export type Choose = (most: number) => number;

export class Disk {
  /** As the running program sees it. */
  private readonly names = new Map<string, Inode>();
  /** As they surely are on the disk, and what happened to them since. */
  private sure = new Map<string, Inode>();
  private changes: (NameChange & { inode: Inode | undefined })[] = [];
  private index = 0;

  /** What was there before the trace began, on the disk for a long time. */
  constructor(before: ReadonlyMap<string, Buffer | "folder"> = new Map()) {
    for (const [path, content] of before) {
      const isFolder = content === "folder";
      this.names.set(path, { isFolder, synced: isFolder ? Buffer.alloc(0) : content, pending: [] });
    }
    this.sure = new Map(this.names);
  }

  apply(op: Op): void {
    const index = this.index++;
    switch (op.kind) {
      case "create":
        if (!this.names.has(op.path))
          this.name(index, op, { isFolder: op.isFolder, synced: Buffer.alloc(0), pending: [] });
        return;
      case "write":
      case "truncate":
        this.names.get(op.path)?.pending.push({ ...op, index });
        return;
      case "rename":
      case "link":
        this.name(index, op, this.names.get(op.from));
        return;
      case "remove":
        this.name(index, op, this.names.get(op.path));
        return;
      case "sync":
        this.sync(op);
        return;
      case "said":
        return;
    }
  }

  private name(index: number, op: NameChange["op"], inode: Inode | undefined): void {
    if (!inode) return;
    this.changes.push({ index, op, inode });
    change(this.names, op, inode);
  }

  private sync({ path, since }: Extract<Op, { kind: "sync" }>): void {
    const inode = path === "" ? undefined : this.names.get(path);
    if (inode && !inode.isFolder) {
      const covered = inode.pending.filter(({ index }) => index < since);
      for (const one of covered) inode.synced = put(inode.synced, one);
      inode.pending = inode.pending.filter(({ index }) => index >= since);
      return;
    }
    const isHere = ({ op, index }: NameChange) => index < since && touches(op).some((one) => parent(one) === path);
    for (const { op, inode: of } of this.changes.filter(isHere)) if (of) change(this.sure, op, of);
    this.changes = this.changes.filter((one) => !isHere(one));
  }

  /** How much is not surely on the disk. */
  get loose(): number {
    return [...this.names.values()].reduce((sum, { pending }) => sum + pending.length, this.changes.length);
  }

  /** One disk as it could be found. `choose(n)`: a number from 0 to n. */
  cut(choose: Choose, how: "kept" | "lost" | "mixed"): Map<string, Buffer | "folder"> {
    const names = new Map(this.sure);
    const kept = how === "kept" ? this.changes.length : how === "lost" ? 0 : choose(this.changes.length);
    for (const { op, inode } of this.changes.slice(0, kept)) if (inode) change(names, op, inode);
    const found = new Map<string, Buffer | "folder">();
    const contents = new Map<Inode, Buffer>();
    for (const [path, inode] of names) {
      if (inode.isFolder) found.set(path, "folder");
      else {
        const content = contents.get(inode) ?? settle(inode, choose, how);
        contents.set(inode, content);
        found.set(path, content);
      }
    }
    // A file in a folder whose own name is lost can't be found.
    for (const path of found.keys())
      if (parent(path) !== "" && found.get(parent(path)) !== "folder") found.delete(path);
    return found;
  }
}

function settle({ synced, pending }: Inode, choose: Choose, how: "kept" | "lost" | "mixed"): Buffer {
  let content = synced;
  // One coin for the file: mostly kept, mostly lost, or neither, so that rare combinations come up.
  const bias = choose(2);
  for (const one of pending) {
    const fate = how === "mixed" ? choose(3) : how === "kept" ? 0 : 3;
    if (how === "mixed" ? fate > 1 + bias : fate === 3) continue;
    const isTorn = how === "mixed" && one.kind === "write" && one.data.length > SECTOR && choose(3) === 0;
    content = put(content, one.kind === "write" && isTorn ? tear(one, choose) : one);
  }
  return content;
}

/** Some of its sectors, from the front or from the back. */
function tear(op: Extract<Op, { kind: "write" }>, choose: Choose): Extract<Op, { kind: "write" }> {
  const cut = choose(Math.floor(op.data.length / SECTOR)) * SECTOR;
  return choose(1) === 0
    ? { ...op, data: op.data.subarray(0, cut) }
    : { ...op, at: op.at + cut, data: op.data.subarray(cut) };
}

function put(content: Buffer, op: Extract<Op, { kind: "write" | "truncate" }>): Buffer {
  if (op.kind === "truncate") {
    const next = Buffer.alloc(op.size);
    content.copy(next, 0, 0, op.size);
    return next;
  }
  if (op.data.length === 0) return content;
  const next = Buffer.alloc(Math.max(content.length, op.at + op.data.length));
  content.copy(next);
  op.data.copy(next, op.at);
  return next;
}

function change(names: Map<string, Inode>, op: NameChange["op"], inode: Inode): void {
  switch (op.kind) {
    case "create":
      names.set(op.path, inode);
      return;
    case "remove":
      names.delete(op.path);
      return;
    case "link":
      names.set(op.to, inode);
      return;
    case "rename": {
      for (const path of [...names.keys()]) {
        if (!path.startsWith(`${op.from}/`)) continue;
        names.set(op.to + path.slice(op.from.length), names.get(path)!);
        names.delete(path);
      }
      names.delete(op.from);
      names.set(op.to, inode);
    }
  }
}

function touches(op: NameChange["op"]): string[] {
  return op.kind === "rename" || op.kind === "link" ? [op.from, op.to] : [op.path];
}

function parent(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}
