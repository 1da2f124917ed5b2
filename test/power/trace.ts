/**
 * What a traced program did to the files below a folder, and what it said to the network, in order. Made from `strace -f -y -xx`.
 *
 * A call counts when it has returned. A sync covers what had returned when it began.
 */
export type Op =
  | { kind: "create"; path: string; isFolder: boolean }
  | { kind: "write"; path: string; at: number; data: Buffer }
  | { kind: "truncate"; path: string; size: number }
  | { kind: "rename"; from: string; to: string }
  | { kind: "link"; from: string; to: string }
  | { kind: "remove"; path: string }
  /** `since`: how many operations had returned when it began. */
  | { kind: "sync"; path: string; since: number }
  /** Bytes that left by a socket. */
  | { kind: "said"; text: string };

const CALL = /^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$/;

const OFFSET = { last: /, (\d+)$/, beforeFlags: /, (\d+), [^,]+$/ };

export const TRACED =
  "openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync_file_range,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,ftruncate,truncate,fallocate,mkdir,mkdirat,sendto,sendmsg,lseek,symlink,symlinkat";

/** Calls on other files are left out. */
export function parseTrace(text: string, root: string): Op[] {
  const reader = new TraceReader(root);
  const open = new Map<string, { name: string; args: string; since: number }>();
  for (const line of text.split("\n")) {
    const found = CALL.exec(line);
    if (!found) continue;
    const [, thread = "", resumed, name = "", rest = ""] = found;
    if (resumed !== undefined) {
      const begun = open.get(thread);
      open.delete(thread);
      if (begun) reader.take(begun.name, begun.args + rest, begun.since);
    } else if (rest.endsWith("<unfinished ...>")) {
      open.set(thread, { name, args: rest.slice(0, -"<unfinished ...>".length), since: reader.ops.length });
    } else reader.take(name, rest, reader.ops.length);
  }
  return reader.ops;
}

class TraceReader {
  readonly ops: Op[] = [];
  private readonly root: string;
  private readonly known = new Set<string>();
  /** What each descriptor was opened as. The path type names files by their folder's descriptor. */
  private readonly folders = new Map<number, string>();
  /** Where plain writes of each path go on. */
  private readonly ends = new Map<string, number>();

  constructor(root: string) {
    this.root = root;
  }

  take(name: string, rest: string, since: number): void {
    const result = /\) += (-?\d+|0x[0-9a-f]+)(.*)$/.exec(rest);
    if (!result || result[1]!.startsWith("-")) return;
    const args = rest.slice(0, result.index).trimEnd();
    const returned = Number(result[1]);
    switch (name) {
      case "openat":
      case "open":
      case "creat":
        this.opened(args, returned, result[2] ?? "");
        return;
      case "write":
      case "pwrite64":
      case "writev":
      case "pwritev":
      case "pwritev2":
      case "sendto":
      case "sendmsg":
        this.wrote(name, args, returned);
        return;
      case "fsync":
      case "fdatasync": {
        const path = this.fdPath(args);
        if (path !== undefined) this.ops.push({ kind: "sync", path, since });
        return;
      }
      case "ftruncate":
      case "truncate": {
        const path = name === "truncate" ? this.paths(args)[0] : this.fdPath(args);
        const size = Number(/, (\d+)$/.exec(args)?.[1]);
        if (path !== undefined) this.ops.push({ kind: "truncate", path, size });
        return;
      }
      case "mkdir":
      case "mkdirat":
        for (const path of this.paths(args)) if (path !== undefined) this.create(path, true);
        return;
      case "rename":
      case "renameat":
      case "renameat2":
      case "link":
      case "linkat": {
        const [from, to] = this.paths(args);
        if (from === undefined || to === undefined) return;
        const isLink = name.startsWith("link");
        this.ops.push({ kind: isLink ? "link" : "rename", from, to });
        if (!isLink) this.known.delete(from);
        this.known.add(to);
        return;
      }
      case "unlink":
      case "unlinkat":
      case "rmdir":
        for (const path of this.paths(args)) {
          if (path === undefined) continue;
          this.ops.push({ kind: "remove", path });
          this.known.delete(path);
        }
        return;
    }
  }

  private opened(args: string, fd: number, after: string): void {
    const opened = decode(/^<([^>]*)>/.exec(after.trim())?.[1] ?? "");
    this.folders.set(fd, opened);
    const path = this.inside(opened) ?? this.paths(args)[0];
    if (path === undefined) return;
    if (/O_CREAT/.test(args) && !this.known.has(path)) this.create(path, false);
    if (/O_TRUNC/.test(args)) this.ops.push({ kind: "truncate", path, size: 0 });
    if (!/O_APPEND/.test(args)) this.ends.set(path, 0);
  }

  private create(path: string, isFolder: boolean): void {
    this.known.add(path);
    this.ops.push({ kind: "create", path, isFolder });
  }

  private wrote(name: string, args: string, returned: number): void {
    const target = decode(/^\d+<([^>]*)>/.exec(args)?.[1] ?? "");
    const data = Buffer.concat([...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = ""]) => bytes(hex)));
    if (/^(TCP|socket)/.test(target)) {
      this.ops.push({ kind: "said", text: data.toString("utf8") });
      return;
    }
    const path = this.inside(target);
    if (path === undefined) return;
    const offset = name.startsWith("p")
      ? Number(OFFSET[name === "pwritev2" ? "beforeFlags" : "last"].exec(args)?.[1])
      : (this.ends.get(path) ?? 0);
    if (!Number.isInteger(offset)) throw new Error(`a write at an unknown place: ${name}(${args.slice(-60)}`);
    this.ops.push({ kind: "write", path, at: offset, data: data.subarray(0, returned) });
    this.ends.set(path, offset + returned);
  }

  private fdPath(args: string): string | undefined {
    return this.inside(decode(/^\d+<([^>]*)>/.exec(args)?.[1] ?? ""));
  }

  /** Those of the arguments that are below the root; a relative one is below the folder that stands before it. */
  private paths(args: string): (string | undefined)[] {
    const found: (string | undefined)[] = [];
    let folder = "";
    for (const [, fd, text] of args.matchAll(/\d+<([^>]*)>|"((?:\\x[0-9a-f]{2})*)"/g)) {
      if (fd !== undefined) folder = decode(fd);
      else {
        const path = bytes(text ?? "")
          .toString("utf8")
          .replace(/^\/proc\/self\/fd\/(\d+)/, (_all, n: string) => this.folders.get(Number(n)) ?? "");
        found.push(this.inside(path.startsWith("/") ? path : `${folder}/${path}`));
        folder = "";
      }
    }
    return found;
  }

  private inside(path: string): string | undefined {
    const plain = path.replace(/ \(deleted\)$/, "");
    if (plain === this.root) return "";
    return plain.startsWith(`${this.root}/`) ? plain.slice(this.root.length + 1) : undefined;
  }
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll("\\x", ""), "hex");
}

function decode(text: string): string {
  return text.includes("\\x") ? bytes(text).toString("utf8") : text;
}
