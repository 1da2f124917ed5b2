/**
 * What the listener wrote down, as batches with a position. A position is committed with what it covers, so a new life reads on from
 * there; what was taken without it is known by its id. A file is deleted when all of it was read and nobody writes to it any longer.
 */
import { closeSync, openSync, readdirSync, readSync, rmSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { asNumber, asObject, asText, type Json, type JsonObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { ensureListener, hasEnded, listenerIn, stillWanted, whyEnded } from "./listener.ts";

/** Lines taken at once. */
const MOST = 100;
/** The folder is watched; where that does not work, it is looked into this often. The listener itself is looked at as often. */
const LOOK_MS = 500;
/** An older listener may still write what it has read after a newer one has started, because it checks only every second. */
const SETTLED_MS = 60_000;

export interface Batch {
  /** What signal-cli said, in order. */
  said: Record<string, unknown>[];
  cursor: Json;
}

export class Mailbox {
  private readonly folder: string;
  private readonly url: string;
  private readonly at = new Map<string, number>();
  private last: string | undefined;
  private name = "";

  constructor(folder: string, url: string, cursor: Json | undefined) {
    this.folder = folder;
    this.url = url;
    const kept = asObject(cursor);
    for (const [file, offset] of Object.entries(asObject(kept.at))) this.at.set(file, asNumber(offset) ?? 0);
    this.last = asText(kept.last);
  }

  /** Finds the listener, or starts one. */
  async open(signal: AbortSignal): Promise<void> {
    this.name = await ensureListener({ folder: this.folder, url: this.url, after: this.last }, signal);
  }

  /** Batch after batch until the signal aborts; throws when the listener is gone and everything it wrote was given. */
  async *batches(committed: () => Promise<Json | undefined>, signal: AbortSignal): AsyncGenerator<Batch> {
    let wake = () => {};
    const watcher = watch(this.folder, () => wake());
    watcher.on("error", () => {});
    let lookedAt = 0;
    try {
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        // Before the files are read: once it is known to have ended, its last lines are there.
        const isDue = Date.now() - lookedAt >= LOOK_MS;
        const isThere = !hasEnded(this.folder, this.name) && (!isDue || listenerIn(this.folder)?.name === this.name);
        const batch = this.next();
        if (batch) {
          yield batch;
          continue;
        }
        if (!isThere) throw new Error(`signal-cli's stream ended: ${whyEnded(this.folder, this.name)}.`);
        if (isDue) {
          lookedAt = Date.now();
          stillWanted(this.folder);
          this.tidy(asObject(asObject(await committed()).at));
        }
        await waitFor(woken, signal);
      }
      signal.throwIfAborted();
    } finally {
      watcher.close();
    }
  }

  private next(): Batch | undefined {
    const said: Record<string, unknown>[] = [];
    for (const file of this.files()) {
      let offset = this.at.get(file) ?? 0;
      for (const line of linesFrom(join(this.folder, file), offset, MOST - said.length)) {
        offset += Buffer.byteLength(line) + 1;
        const { id, params } = parsed(line);
        this.last = asText(id) ?? this.last;
        said.push(asObject(params));
      }
      this.at.set(file, offset);
      if (said.length >= MOST) break;
    }
    if (!said.length) return undefined;
    const cursor: JsonObject = { at: Object.fromEntries(this.at), ...truthy({ last: this.last }) };
    return { said, cursor };
  }

  private tidy(committed: Record<string, unknown>): void {
    const files = this.files();
    for (const file of files.slice(0, -1)) {
      const path = join(this.folder, file);
      const heard = asNumber(committed[file]) ?? 0;
      if (Date.now() - statSync(path).mtimeMs < SETTLED_MS || linesFrom(path, heard, 1).length) continue;
      rmSync(path, { force: true });
      this.at.delete(file);
    }
    for (const file of this.at.keys()) if (!files.includes(file)) this.at.delete(file);
    // The reasons that earlier listeners gave for their end.
    for (const one of readdirSync(this.folder)) {
      if (one.endsWith(".ended") && one !== `${this.name}.ended`) rmSync(join(this.folder, one), { force: true });
    }
  }

  private files(): string[] {
    return readdirSync(this.folder)
      .filter((one) => /^\d{8}\.jsonl$/.test(one))
      .sort();
  }
}

/** Whole lines; one without its end is still being written, or never will be. */
function linesFrom(path: string, offset: number, most: number): string[] {
  const size = statSync(path).size - offset;
  if (size <= 0 || most <= 0) return [];
  const data = Buffer.alloc(size);
  const fd = openSync(path, "r");
  try {
    const read = readSync(fd, data, 0, size, offset);
    const end = data.subarray(0, read).lastIndexOf(10);
    return end < 0 ? [] : data.toString("utf8", 0, end).split("\n", most);
  } finally {
    closeSync(fd);
  }
}

function parsed(line: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(line));
  } catch {
    return {};
  }
}

function waitFor(woken: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, LOOK_MS);
    signal.addEventListener("abort", done, { once: true });
    void woken.then(done);
  });
}
