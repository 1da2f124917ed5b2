/**
 * Folders the user adds: their documents are searched with everything else, and results carry file and place. Only what changed
 * is read again: time and size first, then a hash. Links are not followed, hidden files and huge ones are left out and named.
 */
import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import type { Records } from "../../../core/contracts/index.ts";
import { AppError, workKeys } from "../../../core/domain/index.ts";
import { filesBelow, readBelow, type TreeFile } from "../../../core/files/index.ts";
import {
  type Apart,
  type Clock,
  type Crash,
  defined,
  type Guard,
  guarded,
  type Log,
  noCrash,
  noGuard,
} from "../../../core/kit/index.ts";
import { SHARED } from "../kinds.ts";
import type { Memory } from "../memory.ts";
import { type DocumentPart, htmlParts, markdownParts, pageParts, textParts } from "./parts.ts";
import { dropFile, dropFolder, keepFile, keepFolder, listFolders, listKnownFiles } from "./store.ts";

const READERS: Readonly<Record<string, (text: string) => DocumentPart[] | Promise<DocumentPart[]>>> = {
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
/** Formats we know but can't read; reported rather than silently skipped. */
const KNOWN_BUT_UNREAD: ReadonlySet<string> = new Set([".docx", ".doc", ".odt", ".epub", ".rtf"]);
const MADE_BY_PROGRAMS = new Set(["node_modules", "dist", "build"]);
const CLOSED = { has: (name: string) => name.startsWith(".") || MADE_BY_PROGRAMS.has(name) };
/** Deeper than any tree people make by hand. */
const DEPTH = 64;
/** Files of any kind that are looked at, before the documents among them are counted. */
const MOST_NAMES = 100_000;
/** Beyond it a "document" is a log or a data dump. */
const LARGEST = 4 * 1024 * 1024;
/** Mostly pictures and fonts; the text in it is far less. */
const LARGEST_PDF = 32 * 1024 * 1024;
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

export interface DocumentParts {
  memory: Memory;
  records: Records;
  clock: Clock;
  log: Log;
  crash?: Crash;
  guard?: Guard;
  /** The pages of a PDF as text. Without it such files are named as not read. */
  pdf?: (bytes: Uint8Array) => Promise<readonly { page: number; text: string }[]>;
}

export interface Folder {
  dir: string;
  scope: string;
  files: number;
  at: number;
  /** From lares.yaml: it goes by being taken out there. */
  declared: boolean;
  report?: IndexReport;
}

export class Documents {
  private readonly watchers = new Map<string, () => void>();
  private readonly parts: DocumentParts;
  private declared: readonly string[] = [];
  private stopped = false;
  private order: Promise<unknown> = Promise.resolve();

  constructor(parts: DocumentParts) {
    this.parts = parts;
  }

  /** Syncs all known folders in the background and watches them. */
  async start(declared: readonly string[]): Promise<void> {
    const before = this.declared;
    this.declared = declared.map(expand);
    // Taken out of the settings while we run: its documents go, too.
    for (const dir of before) if (!this.declared.includes(dir)) await this.remove(dir);
    const known = await listFolders(this.parts.records);
    for (const { dir, scope } of [...known, ...this.declared.map((dir) => ({ dir, scope: SHARED }))]) {
      if (this.stopped) return;
      if (this.watchers.has(watchKey(dir, scope))) continue;
      await this.add(dir, { scope }).catch((error: unknown) => {
        this.parts.log.warn("a folder could not be indexed", { dir, reason: String(error) });
      });
    }
  }

  /** Indexes a folder now and keeps it in sync from then on, also after a restart. */
  add(dir: string, how: { scope?: string } = {}): Promise<IndexReport> {
    // One at a time: two passes over one folder would each put in what the other did.
    const done = this.order.then(() => this.addNow(dir, how));
    this.order = done.catch(() => {});
    return done;
  }

  private async addNow(dir: string, how: { scope?: string }): Promise<IndexReport> {
    const scope = how.scope ?? SHARED;
    const folder = await realFolder(expand(dir));
    const report = await this.index(folder, { scope });
    await this.parts.records.write((tx) =>
      keepFolder(tx, { dir: folder, scope, at: this.parts.clock.now(), report: JSON.stringify(short(report)) }),
    );
    if (!this.stopped && !this.watchers.has(watchKey(folder, scope))) this.follow(folder, scope);
    return report;
  }

  /** Takes a folder's documents out of memory. False when it was not indexed. */
  async remove(dir: string): Promise<boolean> {
    const wanted = expand(dir);
    const found = (await listFolders(this.parts.records)).filter((f) => f.dir === wanted || f.dir === dir);
    for (const { dir: folder, scope } of found) {
      this.watchers.get(watchKey(folder, scope))?.();
      for (const { path } of await listKnownFiles(this.parts.records, scope, folder))
        await this.forgetFile(scope, path);
      await this.parts.records.write((tx) => dropFolder(tx, folder, scope));
    }
    return found.length > 0;
  }

  async folders(): Promise<Folder[]> {
    const rows = await listFolders(this.parts.records);
    return rows.map(({ report, ...row }) => ({
      ...row,
      declared: this.declared.includes(row.dir),
      ...(report === null ? {} : { report: JSON.parse(report) as IndexReport }),
    }));
  }

  /** Syncs memory with the folder. May be repeated at any time; a file is replaced in one transaction. */
  async index(dir: string, how: { scope?: string; signal?: AbortSignal } = {}): Promise<IndexReport> {
    const scope = how.scope ?? SHARED;
    const folder = await realFolder(dir);
    const report: IndexReport = { added: 0, changed: 0, removed: 0, unchanged: 0, skipped: [] };
    const before = new Map((await listKnownFiles(this.parts.records, scope, folder)).map((row) => [row.path, row]));
    for (const file of await listFiles(folder, report, this.parts.pdf !== undefined)) {
      how.signal?.throwIfAborted();
      const path = join(folder, file.path);
      const known = before.get(path);
      before.delete(path);
      await this.indexFile({ path, file, scope, folder, report, ...defined({ known }) });
    }
    for (const path of before.keys()) {
      await this.forgetFile(scope, path);
      report.removed++;
    }
    return report;
  }

  stop(): void {
    this.stopped = true;
    for (const end of this.watchers.values()) end();
  }

  /** Indexes again a moment after every change. */
  private follow(dir: string, scope: string): void {
    const { clock, log } = this.parts;
    let cancel: (() => void) | undefined;
    let watcher: FSWatcher;
    const again = () => {
      this.add(dir, { scope }).catch((error: unknown) => {
        log.warn("a watched folder could not be indexed", { dir, reason: String(error) });
      });
    };
    try {
      watcher = watch(dir, { recursive: true, persistent: false }, () => {
        cancel?.();
        cancel = clock.after(SETTLE_MS, again);
      });
    } catch (error) {
      log.warn("watching a folder failed", { dir, reason: String(error) });
      return;
    }
    watcher.on("error", (error) => log.warn("watching a folder failed", { dir, reason: String(error) }));
    this.watchers.set(watchKey(dir, scope), () => {
      cancel?.();
      watcher.close();
      this.watchers.delete(watchKey(dir, scope));
    });
  }

  private async indexFile(f: {
    path: string;
    file: TreeFile;
    scope: string;
    folder: string;
    report: IndexReport;
    known?: { mtime: number; size: number; hash: string };
  }): Promise<void> {
    const { report, known, file } = f;
    const mtime = Math.round(file.mtimeMs);
    if (known && known.mtime === mtime && known.size === file.size) {
      report.unchanged++;
      return;
    }
    const { guard = noGuard, crash = noCrash } = this.parts;
    await guarded(
      guard,
      workKeys.document(mtime, f.path),
      async (apart) => {
        crash.at("memory.reading", () => f.path);
        await this.readFile({ ...f, mtime, apart });
      },
      async () => {
        const why = "reading it stopped Lares twice; it is tried again when the file changes";
        report.skipped.push({ path: f.path, why });
        this.parts.log.warn("a document was left out", { path: f.path, why });
      },
    );
  }

  private async readFile(f: {
    path: string;
    file: TreeFile;
    scope: string;
    folder: string;
    report: IndexReport;
    mtime: number;
    known?: { hash: string };
    apart: Apart;
  }): Promise<void> {
    const { report, known, file, mtime } = f;
    const isPdf = extname(f.path).toLowerCase() === ".pdf";
    const most = isPdf ? LARGEST_PDF : LARGEST;
    const found = await readBelow({ root: f.folder, path: file.path, most, links: "refuse" });
    if (found.state === "refused") report.skipped.push({ path: f.path, why: found.why });
    if (found.state !== "file") return;
    const bytes = found.content;
    const hash = createHash("sha256").update(bytes).digest("hex");
    const row = { path: f.path, scope: f.scope, folder: f.folder, mtime, size: file.size, hash };
    if (known?.hash === hash) {
      await this.parts.records.write((tx) => keepFile(tx, row));
      report.unchanged++;
      return;
    }
    if (!isPdf && bytes.subarray(0, 8000).includes(0)) {
      report.skipped.push({ path: f.path, why: "not a text" });
      return;
    }
    const parts = isPdf
      ? await f.apart("asks", () => this.pdfParts(bytes, f.path, report))
      : await READERS[extname(f.path).toLowerCase()]!(bytes.toString("utf8"));
    if (!parts) return;
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

  private async pdfParts(bytes: Uint8Array, path: string, report: IndexReport): Promise<DocumentPart[] | undefined> {
    try {
      return (await this.parts.pdf!(bytes)).flatMap(({ page, text }) => pageParts(text, page));
    } catch (error) {
      report.skipped.push({ path, why: error instanceof Error ? error.message : "it could not be read" });
      return undefined;
    }
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

/** What a list has room for. */
function short(report: IndexReport): IndexReport {
  return { ...report, skipped: report.skipped.slice(0, 20) };
}

function watchKey(dir: string, scope: string): string {
  return `${scope}\n${dir}`;
}

function expand(dir: string): string {
  return resolve(dir.replace(/^~(?=$|\/)/, homedir()));
}

async function realFolder(dir: string): Promise<string> {
  const folder = await realpath(dir).catch(() => undefined);
  if (folder && (await lstat(folder)).isDirectory()) return folder;
  throw new AppError("NOT_FOUND", {
    message: `There is no folder ${dir}.`,
    hint: "Name a folder that exists, on the machine where Lares runs.",
    retry: "after-change",
  });
}

/** The documents below a folder, by name and size. What is left out is named in the report. */
async function listFiles(folder: string, report: IndexReport, readsPdf: boolean): Promise<TreeFile[]> {
  const documents: TreeFile[] = [];
  const { files, more } = await filesBelow(folder, {
    most: MOST_NAMES,
    names: MOST_NAMES,
    depth: DEPTH,
    closed: CLOSED,
  });
  if (more) report.skipped.push({ path: folder, why: `more than ${MOST_NAMES} files` });
  for (const file of files) {
    if (basename(file.path).startsWith(".")) continue;
    const path = join(folder, file.path);
    const kind = extname(file.path).toLowerCase();
    if (KNOWN_BUT_UNREAD.has(kind)) report.skipped.push({ path, why: `${kind.slice(1)} files can't be read yet` });
    const isPdf = kind === ".pdf";
    if (isPdf && !readsPdf) report.skipped.push({ path, why: "pdf files can't be read yet" });
    if (!(kind in READERS) && !(isPdf && readsPdf)) continue;
    const most = isPdf ? LARGEST_PDF : LARGEST;
    if (file.size > most) report.skipped.push({ path, why: `larger than ${most >> 20} MB` });
    else if (documents.length < MOST_FILES) documents.push(file);
    else report.skipped.push({ path, why: `more than ${MOST_FILES} files` });
  }
  return documents;
}
