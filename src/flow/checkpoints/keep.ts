/**
 * Keeping: before a call changes a file its old content is copied and a row says so; after it the row gets the new content's
 * hash.
 *
 * CHECKPOINTS-1: the copy and the row are durable before the call begins, for every file the call is known to change.
 * CHECKPOINTS-2: a call's rows are closed with what it left behind. After a crash, with what its plan said it would leave, so
 * that a file somebody else has changed since is never taken for the agent's.
 * CHECKPOINTS-3: a command can change anything. What its output goes to, what it names, what the turn touched before and what it may delete is copied,
 * within limits; for everything else only size and times are recorded, so that an undo can at least say what it can't restore.
 * CHECKPOINTS-4: saving never stops the work. What couldn't be saved is recorded as such.
 */

import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { ActionPlan, Tx } from "../../core/contracts/index.ts";
import type { AgentId } from "../../core/domain/index.ts";
import { readMark, readMarkedSize } from "../../core/files/index.ts";
import { defined } from "../../core/kit/index.ts";
import { type Blobs, hashContent } from "./blobs.ts";
import { type Endangered, endangered } from "./endangered.ts";
import { findHardLinks } from "./hard-links.ts";
import { type KeptContent, keepMarked, keepNoFile } from "./no-file.ts";
import { ABSENT, type Call, type CheckpointParts, type FileListing, type FileState, UNKNOWN } from "./ports.ts";
import { closeRow, dropRow, knowBlob, lastSeq, listRows, openRow, openRows, setBefore } from "./store.ts";
import {
  COMMAND_INTERRUPTED,
  FOLDER_NOT_COPIED,
  hardLinkGone,
  MAY_HAVE_CHANGED,
  notAllListed,
  notCopied,
  permissionsStay,
} from "./words.ts";

/** Larger files are data, not text somebody edits; a copy of each version would fill the store. */
export const MOST_COPIED = 20 * 1024 * 1024;
/** Largest file copied on the mere chance that a command changes it. */
const MOST_NAMED = 1024 * 1024;
const MOST_NAMES = 60;
/** Checking this many files takes about a tenth of a second. */
const MOST_LISTED = 5000;
/** Limits for files copied because a command may delete them: this much takes a fraction of a second, once. */
const MOST_ENDANGERED = 400;
const MOST_ENDANGERED_BYTES = 16 * 1024 * 1024;
/** Most files read after a command to know what it left there. Of more it is known that they changed, which is enough to say so. */
const MOST_READ = 500;
/** Notes about hard links. */
const MOST_PARTED = 5;
/** The row that stands for the command itself. */
export const COMMAND = "";

interface Kept {
  path: string;
  before: string;
  mode: number | null;
}

interface ChangedRow extends Kept {
  after: string;
  bytes?: number;
  note?: string;
}

/** What was known before a command ran. */
interface BegunCommand {
  seq: number;
  kept: Kept[];
  manifest: FileListing;
  folders: string[];
}

export class Keeper {
  private readonly parts: CheckpointParts;
  private readonly blobs: Blobs;
  private readonly onKept: (bytes: number) => void;
  private readonly lines = new Map<AgentId, Promise<unknown>>();
  /** Copies whose rows are not written yet: a prune must not take them. */
  private readonly pins = new Map<string, number>();

  constructor(parts: CheckpointParts, blobs: Blobs, onKept: (bytes: number) => void) {
    this.parts = parts;
    this.blobs = blobs;
    this.onKept = onKept;
  }

  /** Runs the work after saving everything it may change. Returns and throws what the work does. */
  async around<T>(call: Call, work: () => Promise<T>): Promise<T> {
    if (this.parts.config().megabytes === 0) return work();
    if (call.plan.risk === "write") return this.inLine(call.agent, () => this.aroundWrite(call, work));
    return call.plan.risk === "exec" ? this.aroundCommand(call, work) : work();
  }

  /** The call has its outcome, perhaps from an earlier process: rows that are still open are closed (CHECKPOINTS-2). */
  async settle(turn: string, call: string): Promise<void> {
    const { records } = this.parts;
    const open = await openRows(records, turn, call);
    if (!open.length) return;
    const root = this.parts.findRoot(open[0]!.agent);
    const now = new Map<string, string>();
    for (const { path } of open) if (path !== COMMAND && root) now.set(path, await this.hashAt(root, path));
    await records.write((tx) => {
      for (const row of open) {
        const found = now.get(row.path) ?? UNKNOWN;
        if (row.path === COMMAND) closeRow(tx, row, UNKNOWN, COMMAND_INTERRUPTED);
        else if (isSame(found, row.before)) dropRow(tx, row);
        else if (row.leaves !== null) closeRow(tx, row, row.leaves);
        else closeRow(tx, row, UNKNOWN, MAY_HAVE_CHANGED);
      }
    });
  }

  /** What stands at that very place. What is reached through a link on the way, or below a file, stands elsewhere. */
  async hashAt(root: string, path: string): Promise<string> {
    const { files } = this.parts;
    const noFile = await files.readNoFile(root, path);
    if (noFile) return noFile.path === path ? keepNoFile(noFile).hash : ABSENT;
    const found = await files.read(root, path, MOST_COPIED);
    if (found.state !== "refused") return found.path === path ? hashAs(found) : ABSENT;
    for (const above of foldersAbove(path))
      if ((await files.read(root, above, MOST_COPIED)).state === "file") return ABSENT;
    return UNKNOWN;
  }

  /** Copies what stands there. */
  async copy(root: string, path: string, most = MOST_COPIED): Promise<Kept & { bytes: number }> {
    const noFile = await this.parts.files.readNoFile(root, path);
    if (noFile) return this.put(noFile.path, keepNoFile(noFile));
    const found = await this.parts.files.read(root, path, most);
    if (found.state !== "file") return { path: found.path, before: hashAs(found), mode: null, bytes: 0 };
    return this.put(found.path, { hash: hashAs(found), content: found.content, mode: found.mode });
  }

  private async put(path: string, { hash: before, content, mode }: KeptContent): Promise<Kept & { bytes: number }> {
    this.pins.set(before, (this.pins.get(before) ?? 0) + 1);
    await this.blobs.put(before, content);
    this.onKept(content.length);
    return { path, before, mode, bytes: content.length };
  }

  /** With the row that speaks of the copy: from now on it is kept for that row. */
  note(tx: Tx, kept: { before: string; bytes: number }): void {
    if (kept.before === ABSENT || kept.before === UNKNOWN) return;
    knowBlob(tx, kept.before, kept.bytes, this.parts.clock.now());
    const left = (this.pins.get(kept.before) ?? 1) - 1;
    if (left > 0) this.pins.set(kept.before, left);
    else this.pins.delete(kept.before);
  }

  isPinned(hash: string): boolean {
    return this.pins.has(hash);
  }

  /** Files are changed one call after another, so that each row begins where the one before it ended. */
  private inLine<T>(agent: AgentId, work: () => Promise<T>): Promise<T> {
    const mine = (this.lines.get(agent) ?? Promise.resolve()).then(work, work);
    const line = mine.catch(() => {});
    this.lines.set(agent, line);
    void line.then(() => this.lines.get(agent) === line && this.lines.delete(agent));
    return mine;
  }

  private async aroundWrite<T>(call: Call, work: () => Promise<T>): Promise<T> {
    const kept = await this.tried(call, () => this.openAll(call, call.plan.targets, "write"));
    try {
      return await work();
    } finally {
      if (kept) await this.tried(call, () => this.closeAll(call, kept));
    }
  }

  private async openAll(call: Call, paths: readonly string[], as: "write" | "output" | "named"): Promise<Kept[]> {
    const { records, clock } = this.parts;
    const leaves = new Map(call.plan.leaves?.map((one) => [one.path, one.sha256 ?? ABSENT]));
    const known = new Map((await openRows(records, call.turn, call.call)).map((row) => [row.path, row]));
    const kept: (Kept & { bytes: number; leaves: string | null })[] = [];
    for (const path of paths) {
      const copies = as === "named" ? await this.copyNamed(call, path) : [await this.copy(call.workspace, path)];
      // What can't be copied is found by listing the files, if it is in the agent's folders at all.
      for (const copy of copies)
        if (as !== "output" || copy.before !== UNKNOWN) kept.push({ ...copy, leaves: leaves.get(path) ?? null });
    }
    if (!kept.length) return [];
    const { turn, call: id, agent, session, tool } = call;
    await records.write((tx) => {
      for (const one of kept) {
        this.note(tx, one);
        const { path, before, mode } = one;
        // The same call after a crash: what stood there at first counts, unless somebody else wrote since.
        const first = known.get(path);
        if (first && (before === first.before || before === first.leaves)) one.before = first.before;
        openRow(tx, { turn, call: id, path, agent, session, tool, before, mode, leaves: one.leaves, at: clock.now() });
        if (first && one.before !== first.before) setBefore(tx, { turn, call: id, path, before, mode });
      }
    });
    return kept;
  }

  /** What a word of a command names: a file, or a link and the file it leads to, which may be written through it. */
  private async copyNamed({ workspace }: Call, path: string): Promise<(Kept & { bytes: number })[]> {
    const noFile = await this.parts.files.readNoFile(workspace, path);
    // Whether a folder is gone can be seen afterwards.
    if (noFile?.kind === "folder") return [];
    const link = noFile ? [await this.put(noFile.path, keepNoFile(noFile))] : [];
    const found = await this.parts.files.read(workspace, path, MOST_NAMED);
    // A word that names no file is only a word.
    if (found.state !== "file") return link;
    return [...link, await this.put(found.path, { hash: hashAs(found), content: found.content, mode: found.mode })];
  }

  private async closeAll(call: Call, kept: readonly Kept[]): Promise<void> {
    const after = await Promise.all(kept.map(({ path }) => this.hashAt(call.workspace, path)));
    await this.parts.records.write((tx) => {
      for (const [i, { path, before }] of kept.entries()) {
        const row = { turn: call.turn, call: call.call, path };
        if (isSame(before, after[i]!)) dropRow(tx, row);
        else closeRow(tx, row, after[i]!);
      }
    });
  }

  private async aroundCommand<T>(call: Call, work: () => Promise<T>): Promise<T> {
    const begun = await this.tried(call, () => this.beforeCommand(call));
    try {
      return await work();
    } finally {
      if (begun) await this.tried(call, () => this.afterCommand(call, begun));
    }
  }

  private async beforeCommand(call: Call): Promise<BegunCommand> {
    const { records, clock } = this.parts;
    const { turn, call: id, agent, session, tool } = call;
    const touched = new Set((await listRows(records, turn)).map((row) => row.path).filter((path) => path !== COMMAND));
    const paths = new Set([...namedBy(call.plan), ...[...touched].slice(-MOST_NAMES)]);
    const seq = await lastSeq(records);
    // Not awaited: it costs a flush, and is missed only when the machine dies within this moment.
    void records
      .write((tx) =>
        openRow(tx, {
          turn,
          call: id,
          path: COMMAND,
          agent,
          session,
          tool,
          before: UNKNOWN,
          mode: null,
          leaves: null,
          at: clock.now(),
        }),
      )
      .catch(() => {});
    const danger = endangered(call.plan);
    const folders = listFoldersAtRisk(call, danger);
    const manifest = await this.list(folders);
    const risky = await this.listEndangered(call, danger, manifest.files);
    const outputs = listOutputs(call.plan);
    const written = await this.openAll(call, outputs, "output");
    const others = [...new Set([...paths, ...risky])].filter((path) => !outputs.includes(path));
    const kept = [...written, ...(await this.openAll(call, others, "named"))];
    return { seq, kept, manifest, folders };
  }

  private async list(folders: readonly string[]): Promise<FileListing> {
    const all = await Promise.all(folders.map((folder) => this.parts.files.manifest(folder, MOST_LISTED)));
    return {
      files: new Map(all.flatMap(({ files }) => [...files])),
      closed: new Map(all.flatMap(({ closed }) => [...closed])),
      more: all.some(({ more }) => more),
    };
  }

  /** Files a command may take away, those it names first. */
  private async listEndangered(
    call: Call,
    { named, anything }: Endangered,
    there: ReadonlyMap<string, string>,
  ): Promise<string[]> {
    if (named.length === 0 && !anything) return [];
    // What the listing names from somewhere, it names from the workspace.
    const root = await realpath(this.parts.findRoot(call.agent) ?? call.workspace);
    const all = [...there].map(([path, mark]) => ({
      path: isAbsolute(path) ? path : join(root, path),
      size: readMarkedSize(mark),
    }));
    const isNamed = ({ path }: { path: string }) => named.some((start) => path.startsWith(start));
    const wanted = [...all.filter(isNamed), ...(anything ? all.filter((one) => !isNamed(one)) : [])];
    const chosen: string[] = [];
    let bytes = 0;
    for (const { path, size } of wanted) {
      if (size > MOST_NAMED || bytes + size > MOST_ENDANGERED_BYTES) continue;
      bytes += size;
      if (chosen.push(path) >= MOST_ENDANGERED) break;
    }
    return chosen;
  }

  private async afterCommand(call: Call, begun: BegunCommand): Promise<void> {
    const { records, clock } = this.parts;
    const { turn, call: id, agent, session, tool } = call;
    const now = await this.list(begun.folders);
    const copies = new Map(begun.kept.map((one) => [one.path, one]));
    // What another call of the turn changed meanwhile has rows of its own.
    const others = new Set(
      (await listRows(records, turn)).filter((row) => row.seq > begun.seq && row.call !== id).map((row) => row.path),
    );
    const was = begun.manifest.files;
    const isPartial = begun.manifest.more || now.more;
    const changed = listChanged(was, now.files, { others, isPartial }).filter((path) => !copies.has(path));
    const links = findHardLinks(was, now.files);
    const rows: ChangedRow[] = await this.listLostFolders(call, begun.manifest.closed, now.closed);
    const permissions: string[] = [];
    for (const copy of copies.values()) {
      const after = await this.hashAt(call.workspace, copy.path);
      if (others.has(copy.path)) continue;
      rows.push({ ...copy, after });
      const marks = [was.get(copy.path) ?? "", now.files.get(copy.path) ?? ""] as const;
      // Only the content is kept. What else changed is said.
      if (isSame(after, copy.before) && marks[0] !== marks[1] && !links.isOnlyRelinked(copy.path))
        if (await this.hasOtherMode(call.workspace, copy)) permissions.push(copy.path);
    }
    let read = 0;
    for (const path of changed) {
      // Beyond what was listed nobody knows whether it was there before.
      const marked = keepMarked(was.get(path) ?? "");
      const twin = links.others(path).flatMap((name) => copies.get(name) ?? [])[0];
      const kept = marked ? await this.put(path, marked) : twin && { before: twin.before, mode: twin.mode };
      if (!kept && links.isOnlyRelinked(path)) continue;
      const before = was.has(path) || begun.manifest.more ? UNKNOWN : ABSENT;
      let after = UNKNOWN;
      if (!kept && was.has(path) && !now.files.has(path) && !now.more) after = ABSENT;
      else if (kept || read++ < MOST_READ) after = await this.hashAt(call.workspace, path);
      // One that the second listing didn't reach may be as it was.
      if (was.has(path) && !now.files.has(path) && after !== ABSENT) continue;
      const isLarge = !kept && readMarkedSize(was.get(path) ?? "") > MOST_NAMED;
      const note = isLarge ? notCopied(after === ABSENT ? "deleted" : "changed", MOST_NAMED) : undefined;
      rows.push({ path, before, mode: null, bytes: 0, ...kept, after, ...defined({ note }) });
    }
    const parted = rows
      .filter(({ before, after }) => before !== UNKNOWN && !isSame(after, before))
      .flatMap(({ path }) =>
        links
          .others(path)
          .filter((name) => now.files.has(name))
          .slice(0, 1)
          .map((name) => hardLinkGone(path, name)),
      );
    const note = [
      ...(isPartial ? [notAllListed(MOST_LISTED)] : []),
      ...parted.slice(0, MOST_PARTED),
      ...(permissions.length > 0 ? [permissionsStay(permissions.slice(0, MOST_PARTED), permissions.length)] : []),
    ].join("; ");
    await records.write((tx) => {
      for (const { after, bytes, note: about, ...row } of rows) {
        if (bytes) this.note(tx, { before: row.before, bytes });
        const key = { turn, call: id, path: row.path };
        if (isSame(after, row.before)) {
          dropRow(tx, key);
          continue;
        }
        if (!copies.has(row.path)) openRow(tx, { ...key, ...row, agent, session, tool, leaves: null, at: clock.now() });
        closeRow(tx, key, after, about);
      }
      for (const path of others) if (copies.has(path)) dropRow(tx, { turn, call: id, path });
      const own = { turn, call: id, path: COMMAND };
      if (note) closeRow(tx, own, UNKNOWN, note);
      else dropRow(tx, own);
    });
  }

  /** Folders of which only the identity is known, such as `.git`, that a command deleted or replaced. */
  private async listLostFolders(
    call: Call,
    was: ReadonlyMap<string, number>,
    now: ReadonlyMap<string, number>,
  ): Promise<ChangedRow[]> {
    const rows: ChangedRow[] = [];
    for (const [path, ino] of was) {
      if (now.get(path) === ino) continue;
      const after = await this.hashAt(call.workspace, path);
      // One that the second listing didn't reach is still there.
      if (after !== ABSENT && !now.has(path)) continue;
      rows.push({ path, before: UNKNOWN, mode: null, after, note: FOLDER_NOT_COPIED });
    }
    return rows;
  }

  private async hasOtherMode(root: string, { path, mode }: Kept): Promise<boolean> {
    const found = await this.parts.files.read(root, path, MOST_COPIED);
    return found.state === "file" && mode !== null && (found.mode & 0o777) !== (mode & 0o777);
  }

  /** CHECKPOINTS-4. */
  private async tried<T>(call: Call, keep: () => Promise<T>): Promise<T | undefined> {
    try {
      return await keep();
    } catch (error) {
      this.parts.log.warn("a checkpoint couldn't be saved", { turn: call.turn, tool: call.tool, error: String(error) });
      return undefined;
    }
  }
}

/** The folder a command runs in, and those others of the agent's that it names or may reach. */
function listFoldersAtRisk({ workspace, folders }: Call, { named, anything }: Endangered): string[] {
  const isNamed = (folder: string) => named.some((path) => path.startsWith(folder) || folder.startsWith(path));
  return [workspace, ...folders.filter((folder) => folder !== workspace && (anything || isNamed(folder)))];
}

/** Every folder that something of the listing is in. */
function listFolders(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths)
    for (const folder of foldersAbove(path)) {
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return folders;
}

/** Paths that differ between the two listings and that no other call accounts for. */
function listChanged(
  was: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
  { others, isPartial }: { others: ReadonlySet<string>; isPartial: boolean },
): string[] {
  const filled = listFolders(was.keys());
  const own = [...now.keys()].filter((path) => !others.has(path));
  // A folder with something in it isn't listed by itself. One that wasn't there before goes after what is in it.
  const made = new Set(isPartial ? [] : [...listFolders(own)].filter((path) => !filled.has(path)));
  // A folder that was emptied was there before, and is filled again with its files.
  const isEmptied = (path: string) => filled.has(path) && !was.has(path) && isFolderMark(now.get(path));
  return [...new Set([...was.keys(), ...now.keys(), ...made])].filter(
    (path) =>
      (was.get(path) !== now.get(path) || (made.has(path) && !was.has(path))) && !isEmptied(path) && !others.has(path),
  );
}

function isFolderMark(mark = ""): boolean {
  return "folder" in (readMark(mark) ?? {});
}

/** The folders on the way to a path, the nearest first. */
function* foldersAbove(path: string): Generator<string> {
  for (let at = dirname(path); at !== "." && at !== "/"; at = dirname(at)) yield at;
}

function hashAs(found: FileState): string {
  if (found.state === "file") return hashContent(found.content);
  if (found.state === "none") return ABSENT;
  return UNKNOWN;
}

/** Two contents nobody looked at may differ. */
function isSame(a: string, b: string): boolean {
  return a === b && a !== UNKNOWN;
}

/** Files that a command's output goes to, as it is written and in its settled form: they are known to change. */
function listOutputs({ shell }: ActionPlan): string[] {
  if (!shell) return [];
  const paths = [shell, ...(shell.settled ? [shell.settled] : [])].flatMap(({ cwd, commands }) =>
    commands
      .flatMap(({ words, redirects, plainFiles = [] }) => [
        ...redirects.filter(({ isPlainFile }) => isPlainFile).map(({ target }) => target),
        ...plainFiles.map(({ word }) => words[word]!),
      ])
      .map(({ literal }) => resolve(cwd, literal!)),
  );
  return [...new Set(paths)].slice(0, MOST_NAMES);
}

/** Files a command names in words that are what they seem: operands and targets of redirections. */
function namedBy({ shell }: ActionPlan): string[] {
  if (!shell) return [];
  const words = shell.commands.flatMap(({ words: [, ...operands], redirects }) => [
    ...redirects.map(({ target }) => target.literal),
    ...operands.map(({ literal }) => literal),
  ]);
  const paths = words.filter((word) => word !== undefined && word !== "" && !word.startsWith("-")) as string[];
  return [...new Set(paths.map((path) => (isAbsolute(path) ? path : join(shell.cwd, path))))].slice(0, MOST_NAMES);
}
