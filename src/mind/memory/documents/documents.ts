/**
 * Folders the user adds: their documents are searched with everything else, and results carry file and place. Only what changed
 * is read again: time and size first, then a hash. Links are not followed, hidden files and huge ones are left out and named.
 */
import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Records } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import type { Clock, Log } from "../../../core/kit/index.ts";
import { SHARED } from "../kinds.ts";
import type { Memory } from "../memory.ts";
import { htmlParts, markdownParts, type Part, textParts } from "./parts.ts";
import { dropFile, filesOf, keepFile } from "./store.ts";

const READERS: Readonly<Record<string, (text: string) => Part[] | Promise<Part[]>>> = {
  ".md": markdownParts,
  ".markdown": markdownParts,
  ".mdx": markdownParts,
  ".txt": textParts,
  ".text": textParts,
  ".org": textParts,
  ".rst": textParts,
  ".html": htmlParts,
  ".htm": htmlParts,
};
/** Read by nobody here yet; said rather than passed over in silence. */
const KNOWN_BUT_UNREAD: ReadonlySet<string> = new Set([".pdf", ".docx", ".doc", ".odt", ".epub", ".rtf"]);
const CLOSED = new Set(["node_modules", "dist", "build"]);
/** Beyond it a "document" is a log or a data dump. */
const LARGEST = 4 * 1024 * 1024;
const MOST_FILES = 20_000;
/** Editors write a file in several steps. */
const SETTLE_MS = 1000;

export interface IndexReport {
  added: number;
  changed: number;
  removed: number;
  unchanged: number;
  /** What was left out, and why. */
  skipped: { path: string; why: string }[];
}

export class Documents {
  private readonly watchers = new Map<string, FSWatcher>();
  private readonly parts: { memory: Memory; records: Records; clock: Clock; log: Log };

  constructor(parts: { memory: Memory; records: Records; clock: Clock; log: Log }) {
    this.parts = parts;
  }

  /** Brings memory in step with the folder. May be repeated at any time; a file is replaced in one transaction. */
  async index(dir: string, how: { scope?: string; signal?: AbortSignal } = {}): Promise<IndexReport> {
    const scope = how.scope ?? SHARED;
    const folder = await realpath(dir).catch(() => {
      throw new AppError("NOT_FOUND", {
        message: `There is no folder ${dir}.`,
        hint: "Name a folder that exists.",
        retry: "after-change",
      });
    });
    const report: IndexReport = { added: 0, changed: 0, removed: 0, unchanged: 0, skipped: [] };
    const before = new Map((await filesOf(this.parts.records, scope, folder)).map((row) => [row.path, row]));
    for (const path of await listFiles(folder, report)) {
      how.signal?.throwIfAborted();
      const known = before.get(path);
      before.delete(path);
      await this.indexFile({ path, scope, folder, report, ...(known ? { known } : {}) });
    }
    for (const path of before.keys()) {
      await this.forgetFile(scope, path);
      report.removed++;
    }
    return report;
  }

  /** Indexes now and after every change. Returns how to stop. */
  async watch(dir: string, how: { scope?: string } = {}): Promise<() => void> {
    await this.index(dir, how);
    let cancel: (() => void) | undefined;
    const watcher = watch(dir, { recursive: true, persistent: false }, () => {
      cancel?.();
      cancel = this.parts.clock.after(SETTLE_MS, () => {
        this.index(dir, how).catch((error: unknown) => {
          this.parts.log.warn("a watched folder could not be indexed", { dir, reason: String(error) });
        });
      });
    });
    watcher.on("error", (error) => this.parts.log.warn("watching a folder failed", { dir, reason: String(error) }));
    this.watchers.set(dir, watcher);
    return () => {
      cancel?.();
      watcher.close();
      this.watchers.delete(dir);
    };
  }

  stop(): void {
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private async indexFile(f: {
    path: string;
    scope: string;
    folder: string;
    report: IndexReport;
    known?: { mtime: number; size: number; hash: string };
  }): Promise<void> {
    const { report, known } = f;
    const stat = await lstat(f.path).catch(() => undefined);
    if (!stat) return;
    const mtime = Math.round(stat.mtimeMs);
    if (known && known.mtime === mtime && known.size === stat.size) {
      report.unchanged++;
      return;
    }
    const bytes = await readFile(f.path).catch((error: NodeJS.ErrnoException) => {
      report.skipped.push({ path: f.path, why: error.code ?? error.message });
      return undefined;
    });
    if (!bytes) return;
    const hash = createHash("sha256").update(bytes).digest("hex");
    const row = { path: f.path, scope: f.scope, folder: f.folder, mtime, size: stat.size, hash };
    if (known?.hash === hash) {
      await this.parts.records.write((tx) => keepFile(tx, row));
      report.unchanged++;
      return;
    }
    if (bytes.subarray(0, 8000).includes(0)) {
      report.skipped.push({ path: f.path, why: "not a text" });
      return;
    }
    const parts = await READERS[extname(f.path).toLowerCase()]!(bytes.toString("utf8"));
    await this.parts.memory.replaceDocument({
      source: f.path,
      scope: f.scope,
      at: mtime,
      parts,
      also: (tx) => keepFile(tx, row),
    });
    if (known) report.changed++;
    else report.added++;
  }

  private async forgetFile(scope: string, path: string): Promise<void> {
    await this.parts.memory.replaceDocument({
      source: path,
      scope,
      at: 0,
      parts: [],
      also: (tx) => dropFile(tx, scope, path),
    });
  }
}

async function listFiles(folder: string, report: IndexReport): Promise<string[]> {
  const files: string[] = [];
  const open = [folder];
  for (let dir = open.pop(); dir !== undefined; dir = open.pop()) {
    const entries = await readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      report.skipped.push({ path: dir!, why: error.code ?? error.message });
      return [];
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith(".")) continue;
      const path = join(dir, entry.name);
      if (entry.isDirectory() && !CLOSED.has(entry.name)) open.push(path);
      if (!entry.isFile()) continue;
      const kind = extname(entry.name).toLowerCase();
      if (KNOWN_BUT_UNREAD.has(kind)) report.skipped.push({ path, why: `${kind.slice(1)} files are not read yet` });
      if (!(kind in READERS)) continue;
      if ((await lstat(path)).size > LARGEST) report.skipped.push({ path, why: "larger than 4 MB" });
      else if (files.length < MOST_FILES) files.push(path);
      else report.skipped.push({ path, why: `more than ${MOST_FILES} files` });
    }
  }
  return files;
}
