/**
 * Undo: the files of a turn as they were before it, where they still are as it left them.
 *
 * CHECKPOINTS-5: a file that is no longer as the turn left it is a conflict: told, and not touched.
 * CHECKPOINTS-6: what will be restored is written down, with copies of what stands there now, before the first file is touched. A kill in
 *     the middle loses nothing: the same undo again, or the next start, does the rest.
 * CHECKPOINTS-7: an undo has rows like a turn, so it can be undone.
 */
import { AppError, type TurnId, unknownAgent } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Blobs } from "./blobs.ts";
import { COMMAND, type Keeper, MOST_COPIED } from "./keep.ts";
import { isNoFileMode, readKept } from "./no-file.ts";
import { ABSENT, type CheckpointParts, UNKNOWN } from "./ports.ts";
import {
  type CheckpointRow,
  closeRow,
  dropRow,
  endUndo,
  insertUndo,
  listRows,
  listUndos,
  openRow,
  readUndo,
  type UndoRow,
} from "./store.ts";
import {
  aboutCommand,
  CHANGED_IN_BETWEEN,
  CHANGED_SINCE,
  COPY_DELETED,
  GONE_SINCE,
  NO_COPY,
  RESULT_UNKNOWN,
  systemRefused,
  THERE_AGAIN,
  tooLarge,
} from "./words.ts";

export interface UndoneFile {
  path: string;
  /** `lost`: no copy of the old content. `conflict`: changed since. `already`: as it was before the turn. */
  result: "restored" | "removed" | "already" | "conflict" | "lost";
  reason?: string;
}

export interface Undone {
  turn: string;
  /** The undo's own id, with which it can be undone. Absent when nothing was done. */
  undo?: string;
  files: UndoneFile[];
  /** What the turn's commands did that is not known file by file. */
  notes: string[];
}

interface FileRestore {
  path: string;
  agent: CheckpointRow["agent"];
  session: CheckpointRow["session"];
  /** What should stand there now, and what shall. */
  now: string;
  before: string;
  mode: number | null;
  lost?: string;
}

export class Undoing {
  private readonly parts: CheckpointParts;
  private readonly keeper: Keeper;
  private readonly blobs: Blobs;
  private line: Promise<unknown> = Promise.resolve();

  constructor(parts: CheckpointParts, keeper: Keeper, blobs: Blobs) {
    this.parts = parts;
    this.keeper = keeper;
    this.blobs = blobs;
  }

  /** One undo at a time. */
  undo(turn: string, how: { by: string; dryRun: boolean }): Promise<Undone> {
    const mine = this.line.then(() => this.one(turn, how));
    this.line = mine.catch(() => {});
    return mine;
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    await this.line;
  }

  /** Finishes an undo that a kill cut off. */
  finish(begun: UndoRow): Promise<Undone> {
    const mine = this.line.then(() => this.goOn(begun));
    this.line = mine.catch(() => {});
    return mine;
  }

  private async one(turn: string, { by, dryRun }: { by: string; dryRun: boolean }): Promise<Undone> {
    const { records } = this.parts;
    const rows = await listRows(records, turn);
    const begun = (await listUndos(records, turn)).find((undo) => undo.ended_at === null);
    if (begun && !dryRun) return this.goOn(begun);
    if (!rows.length) throw nothing(turn);
    if (await this.parts.isBusy(turn as TurnId)) {
      throw new AppError("CONFLICT", {
        message: `The turn ${turn} is still working on its files.`,
        hint: "Stop it first, or wait until it is done.",
        retry: "later",
      });
    }
    const { agent } = rows[0]!;
    const root = this.parts.findRoot(agent);
    if (!root) throw unknownAgent(agent);
    const targets = toRestores(rows);
    const notes = rows.flatMap((row) => (row.path === COMMAND && row.note ? [aboutCommand(row.note)] : []));
    const paths = targets.map(({ path }) => `${root}/${path}`);
    if (dryRun || !paths.length) {
      return { turn, files: (await this.look(root, targets)).map(({ file }) => file), notes };
    }
    const id = this.parts.ids.next("u");
    return this.parts.alone({ id, agent, paths }, async () => {
      const looked = await this.look(root, targets);
      const todo = looked.filter(({ file }) => file.result === "restored" || file.result === "removed");
      const files = looked.map(({ file }) => file);
      if (!todo.length) return { turn, files, notes };
      await this.plan(
        { id, turn, by },
        root,
        todo.map(({ target }) => target),
      );
      this.parts.crash.at("undo.planned");
      const failed = await this.restore(id, root);
      return { turn, undo: id, files: files.map((file) => failed.get(file.path) ?? file), notes };
    });
  }

  private async goOn(begun: UndoRow): Promise<Undone> {
    const rows = await listRows(this.parts.records, begun.id);
    const { agent } = rows[0] ?? {};
    const root = agent && this.parts.findRoot(agent);
    if (!agent || !root) {
      await this.parts.records.write((tx) => endUndo(tx, begun.id, this.parts.clock.now()));
      return { turn: begun.turn, undo: begun.id, files: [], notes: [] };
    }
    const paths = rows.map(({ path }) => `${root}/${path}`);
    return this.parts.alone({ id: begun.id, agent, paths }, async () => {
      const failed = await this.restore(begun.id, root);
      const files = rows.map(
        ({ path, leaves }): UndoneFile =>
          failed.get(path) ?? { path, result: leaves === ABSENT ? "removed" : "restored" },
      );
      return { turn: begun.turn, undo: begun.id, files, notes: [] };
    });
  }

  /** What would be done with each file as it stands. */
  private async look(
    root: string,
    targets: readonly FileRestore[],
  ): Promise<{ target: FileRestore; file: UndoneFile }[]> {
    return Promise.all(targets.map(async (target) => ({ target, file: await this.lookAt(root, target) })));
  }

  private async lookAt(root: string, target: FileRestore): Promise<UndoneFile> {
    const { path, before } = target;
    const now = await this.keeper.hashAt(root, path);
    if (now === before && now !== UNKNOWN) return { path, result: "already" };
    if (target.lost) return { path, result: "lost", reason: target.lost };
    if (now !== target.now) return { path, result: "conflict", reason: conflict(now, target.now) };
    if (before === ABSENT) return { path, result: "removed" };
    if (await this.blobs.get(before)) return { path, result: "restored" };
    return { path, result: "lost", reason: COPY_DELETED };
  }

  /** CHECKPOINTS-6: copies first, then one transaction that says everything. */
  private async plan(
    undo: { id: string; turn: string; by: string },
    root: string,
    targets: FileRestore[],
  ): Promise<void> {
    const { records, clock } = this.parts;
    const copies = await Promise.all(targets.map(({ path }) => this.keeper.copy(root, path)));
    const at = clock.now();
    await records.write((tx) => {
      insertUndo(tx, { id: undo.id, turn: undo.turn, by_whom: undo.by, at });
      for (const [i, { path, agent, session, before }] of targets.entries()) {
        const copy = copies[i]!;
        this.keeper.note(tx, copy);
        openRow(tx, {
          turn: undo.id,
          call: "undo",
          path,
          agent,
          session,
          tool: "undo",
          before: copy.before,
          mode: copy.mode,
          leaves: before,
          at,
        });
      }
    });
  }

  /** Carries out the undo's rows and closes it. A file already restored is skipped. Returns what couldn't be done. */
  private async restore(id: string, root: string): Promise<Map<string, UndoneFile>> {
    const { records, files, clock, crash } = this.parts;
    const undo = (await readUndo(records, id))!;
    const modes = new Map(toRestores(await listRows(records, undo.turn)).map((target) => [target.path, target.mode]));
    const rows = inOrder(await listRows(records, id), modes);
    const failed = new Map<string, UndoneFile>();
    for (const { path, before, leaves } of rows) {
      try {
        const now = await this.keeper.hashAt(root, path);
        if (now === leaves) continue;
        // Where nothing stands nothing is lost: a kill between taking one kind of thing away and making another leaves that.
        if (now !== before && now !== ABSENT) {
          failed.set(path, { path, result: "conflict", reason: conflict(now, before) });
          continue;
        }
        if (leaves === ABSENT) await files.remove(root, path);
        else {
          const content = await this.blobs.get(leaves!);
          if (!content) {
            failed.set(path, { path, result: "lost", reason: COPY_DELETED });
            continue;
          }
          const mode = modes.get(path) ?? null;
          const kept = readKept(content, mode);
          if (kept && "link" in kept) await files.link(root, path, kept.link, `${id}:${path}`);
          else if (kept) await files.folder(root, path, kept.folder);
          else
            await files.write(root, path, content, { tag: `${id}:${path}`, ...defined({ mode: mode ?? undefined }) });
        }
        crash.at("undo.file");
      } catch (error) {
        const reason = error instanceof AppError ? error.message : refusedBySystem(error);
        if (reason === undefined) throw error;
        failed.set(path, { path, result: "conflict", reason });
      }
    }
    await records.write((tx) => {
      for (const row of rows) {
        if (failed.has(row.path)) dropRow(tx, row);
        else closeRow(tx, row, row.leaves!);
      }
      endUndo(tx, id, clock.now());
    });
    return failed;
  }
}

/** One restore per file: from what the turn last left there back to what was there first. */
export function toRestores(rows: readonly CheckpointRow[]): FileRestore[] {
  const byPath = new Map<string, CheckpointRow[]>();
  for (const row of rows) if (row.path !== COMMAND) byPath.set(row.path, [...(byPath.get(row.path) ?? []), row]);
  return [...byPath].flatMap(([path, [first, ...more]]) => {
    const { agent, session } = first!;
    let { before, mode } = first!;
    let now = first!.after ?? UNKNOWN;
    let lost = first!.note ?? undefined;
    for (const row of more) {
      if (row.before !== now) lost ??= CHANGED_IN_BETWEEN;
      now = row.after ?? UNKNOWN;
      if (row.note) lost ??= row.note;
    }
    if (now === UNKNOWN) lost ??= RESULT_UNKNOWN;
    if (before === UNKNOWN) {
      const byCommand = first!.tool !== "write" && first!.tool !== "edit" && first!.tool !== "apply_patch";
      lost = first!.note ?? (byCommand ? NO_COPY : tooLarge(MOST_COPIED));
      before = UNKNOWN;
      mode = null;
    }
    // Made and taken away again within the turn.
    if (before === now && before === ABSENT) return [];
    return [{ path, agent, session, now, before, mode, ...truthy({ lost }) }];
  });
}

/** What goes makes way first, from the bottom up; then links and folders, from the top down; then the files in them. */
function inOrder(rows: readonly CheckpointRow[], modes: ReadonlyMap<string, number | null>): CheckpointRow[] {
  const depth = ({ path }: CheckpointRow) => path.split("/").length;
  const isNoFile = ({ path }: CheckpointRow) => isNoFileMode(modes.get(path) ?? null);
  const going = rows.filter(({ leaves }) => leaves === ABSENT).sort((a, b) => depth(b) - depth(a));
  const coming = rows.filter(({ leaves }) => leaves !== ABSENT).sort((a, b) => depth(a) - depth(b));
  return [...going, ...coming.filter(isNoFile), ...coming.filter((row) => !isNoFile(row))];
}

function refusedBySystem(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? undefined : systemRefused(code);
}

function nothing(turn: string): AppError {
  return new AppError("NOT_FOUND", {
    message: `There are no copies of files that "${turn}" changed.`,
    hint: "See what can be undone: lares undo",
  });
}

function conflict(now: string, wanted: string): string {
  if (now === ABSENT) return GONE_SINCE;
  return wanted === ABSENT ? THERE_AGAIN : CHANGED_SINCE;
}
