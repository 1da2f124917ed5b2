/**
 * Checkpoints: the contents of files before a turn changed them, within limits of space and age, and how to restore them. See
 * keep.ts for what is kept (CHECKPOINTS-1 to CHECKPOINTS-4) and undo.ts for how it comes back (CHECKPOINTS-5 to CHECKPOINTS-7).
 */

import { isUtf8 } from "node:buffer";
import { resolve } from "node:path";
import { type AgentId, asId, isObject, type JsonObject, readEditorSession } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import { Blobs } from "./blobs.ts";
import { COMMAND, Keeper, MOST_COPIED } from "./keep.ts";
import { ABSENT, type Call, type CheckpointParts, UNKNOWN } from "./ports.ts";
import {
  blobBytes,
  dropOlder,
  dropTurn,
  forgetBlob,
  knownBlobs,
  listChanged,
  listRows,
  listUndos,
  oldest,
  openUndos,
  readUndo,
  unusedBlobs,
} from "./store.ts";
import { toRestores, Undoing, type Undone } from "./undo.ts";

/** Something that changed files: a turn, or an undo. */
export interface Changed {
  turn: string;
  session: string;
  agent: string;
  at: number;
  /** It is an undo of this one. */
  undoes?: string;
  /** It was undone by this one. */
  undoneBy?: string;
  files: { path: string; change: "created" | "changed" | "deleted"; kept: boolean }[];
  notes: string[];
}

/** A file before a call. Without `text`: nobody kept it, or it isn't text that people would read. */
interface FileBefore {
  path: string;
  text?: string | null;
}

/** A call that waits for an approval, as it was asked about. */
interface AskedWrite {
  call?: string;
  tool: string;
  agent: string;
  session: string;
  action: JsonObject;
}

/** Larger files aren't shown side by side. */
const MOST_SHOWN = 1_048_576;
const DAY_MS = 86_400_000;
/** A copy is written before its row, so it may be without one for this long. */
const GRACE_MS = 600_000;

export class Checkpoints {
  private readonly parts: CheckpointParts;
  private readonly blobs: Blobs;
  private readonly keeper: Keeper;
  private readonly undoing: Undoing;
  private bytes = 0;
  private pruning: Promise<void> | undefined;

  constructor(parts: CheckpointParts) {
    this.parts = parts;
    this.blobs = new Blobs(parts.folder);
    this.keeper = new Keeper(parts, this.blobs, (bytes) => {
      this.bytes += bytes;
      if (this.bytes > this.mostBytes()) void this.prune();
    });
    this.undoing = new Undoing(parts, this.keeper, this.blobs);
  }

  /** Finishes undos that a kill interrupted, and counts what is stored. Never throws because of one of them. */
  async start(): Promise<void> {
    this.bytes = await blobBytes(this.parts.records);
    for (const undo of await openUndos(this.parts.records)) {
      await this.undoing.finish(undo).catch((error) => {
        this.parts.log.warn("an undo couldn't be completed", { undo: undo.id, error: String(error) });
      });
    }
  }

  /** Runs a call after saving everything it may change. */
  around<T>(call: Call, work: () => Promise<T>): Promise<T> {
    return this.keeper.around(call, work);
  }

  /** The call has its outcome; repeating it changes nothing. */
  settle(turn: string, call: string): Promise<void> {
    return this.keeper.settle(turn, call);
  }

  /** Whether a file of this size comes back after it was overwritten by a command's output, or a new one goes away again. */
  restores(bytes: number): boolean {
    const most = this.mostBytes();
    return most > 0 && bytes <= Math.min(MOST_COPIED, most);
  }

  /** Restores the files of a turn, or of an undo, where they still are as it left them. Repeating it completes it. */
  async undo(turn: string, how: { by: string; dryRun?: boolean | undefined }): Promise<Undone> {
    await this.pruning;
    return this.undoing.undo(turn, { by: how.by, dryRun: how.dryRun ?? false });
  }

  /** What changed files, newest first. */
  async list({ session, limit }: { session?: string | undefined; limit: number }): Promise<Changed[]> {
    const turns = await listChanged(this.parts.records.committed, { limit, ...truthy({ session }) });
    return Promise.all(turns.map((turn) => this.view(turn)));
  }

  /** What a call's files had in them before it. `asked`: approvals that wait, whose files are still as they were. */
  async before(
    turn: string,
    call: string,
    asked: readonly AskedWrite[],
  ): Promise<{ kept: boolean; files: FileBefore[] }> {
    const kept = this.parts.config().megabytes > 0;
    const waiting = asked.find((one) => one.call === call);
    const path = waiting && findTarget(waiting);
    const root = waiting && this.parts.findRoot(asId<AgentId>(waiting.agent));
    if (path !== undefined && root !== undefined) {
      const found = await this.parts.files.read(root, path, MOST_SHOWN);
      if (found.state === "refused") return { kept, files: [{ path }] };
      return { kept, files: [{ path, ...readText(found.state === "file" ? found.content : null) }] };
    }
    const rows = (await listRows(this.parts.records.committed, turn)).filter((row) => row.call === call);
    const files = rows
      .filter((row) => row.path !== COMMAND)
      .map(async (row): Promise<FileBefore> => {
        if (row.before === ABSENT) return { path: row.path, text: null };
        const content = row.before === UNKNOWN ? undefined : await this.blobs.get(row.before);
        return { path: row.path, ...(content ? readText(content) : {}) };
      });
    return { kept, files: await Promise.all(files) };
  }

  /** Deletes copies beyond the age and size limits, the oldest first. */
  prune(): Promise<void> {
    this.pruning ??= this.pruneNow().finally(() => {
      this.pruning = undefined;
    });
    return this.pruning;
  }

  private async view(turn: string): Promise<Changed> {
    const db = this.parts.records.committed;
    const rows = await listRows(db, turn);
    const undoes = (await readUndo(db, turn))?.turn;
    const ended = (await listUndos(db, turn)).find((undo) => undo.ended_at !== null);
    // An undo that was undone itself changed nothing in the end.
    const isUndone = ended && !(await listUndos(db, ended.id)).some((undo) => undo.ended_at !== null);
    const undoneBy = isUndone ? ended.id : undefined;
    const { session, agent, at } = rows[0]!;
    return {
      turn,
      session,
      agent,
      at,
      ...truthy({ undoes, undoneBy }),
      files: toRestores(rows).map(({ path, before, now, lost }) => ({
        path,
        change: nameChange(before, now),
        kept: before !== UNKNOWN && lost === undefined,
      })),
      notes: rows.flatMap((row) => (row.path === COMMAND && row.note ? [row.note] : [])),
    };
  }

  private mostBytes(): number {
    return this.parts.config().megabytes * 1_048_576;
  }

  private async pruneNow(): Promise<void> {
    const { records, clock, log } = this.parts;
    try {
      await this.undoing.idle();
      const now = clock.now();
      await records.write((tx) => dropOlder(tx, now - this.parts.config().days * DAY_MS));
      await this.dropUnused(now);
      for (let turn = await oldest(records); this.bytes > this.mostBytes() && turn; turn = await oldest(records)) {
        const gone = turn;
        await records.write((tx) => dropTurn(tx, gone));
        await this.dropUnused(now);
      }
      await this.blobs.sweep(await knownBlobs(records), Date.now() - GRACE_MS);
    } catch (error) {
      log.warn("checkpoints were not pruned", { error: String(error) });
    }
  }

  private async dropUnused(now: number): Promise<void> {
    const { records } = this.parts;
    // Over its limit the store cannot wait for the grace of copies whose call has not begun.
    const since = this.bytes > this.mostBytes() ? now + 1 : now - GRACE_MS;
    const unused = (await unusedBlobs(records, since)).filter(({ hash }) => !this.keeper.isPinned(hash));
    await records.write((tx) => {
      for (const { hash } of unused) forgetBlob(tx, hash);
    });
    for (const { hash } of unused) await this.blobs.drop(hash);
    this.bytes = await blobBytes(records);
  }
}

/** The file that a waiting call replaces, where its input says so. */
function findTarget({ tool, session, action: { input } }: AskedWrite): string | undefined {
  const path = tool === "write" && isObject(input) ? input.path : undefined;
  // A home's `~` is the tool's to resolve.
  if (typeof path !== "string" || path === "" || path.startsWith("~")) return undefined;
  const folder = readEditorSession(session)?.folder;
  return folder === undefined ? path : resolve(folder, path);
}

/** Nothing for what isn't text. */
function readText(content: Buffer | null): { text?: string | null } {
  if (content === null) return { text: null };
  if (content.length > MOST_SHOWN || content.includes(0) || !isUtf8(content)) return {};
  return { text: content.toString("utf8") };
}

function nameChange(before: string, now: string): "created" | "deleted" | "changed" {
  if (before === ABSENT) return "created";
  return now === ABSENT ? "deleted" : "changed";
}
