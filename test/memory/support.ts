/** A real memory on a real database in a temporary folder. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Embedder } from "../../src/core/contracts/index.ts";
import { type Clock, randomIds, silentLog, systemClock } from "../../src/core/kit/index.ts";
import { openRecords, type SqliteRecords } from "../../src/ground/records/index.ts";
import { Memory, type MemoryParts, memoryConfig } from "../../src/mind/memory/index.ts";

export interface Opened {
  memory: Memory;
  records: SqliteRecords;
  dir: string;
  /** The same file, opened again. */
  close(): Promise<void>;
}

export async function openMemory(
  options: {
    dir?: string;
    embedder?: Embedder;
    earlier?: MemoryParts["earlier"];
    clock?: Clock;
    config?: object;
    weights?: MemoryParts["weights"];
  } = {},
): Promise<Opened> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), "lares-memory-"));
  const records = await openRecords(join(dir, "lares.db"), (error) => {
    throw error;
  });
  const memory = new Memory({
    records,
    clock: options.clock ?? systemClock,
    ids: randomIds(),
    log: silentLog,
    config: () => memoryConfig.parse(options.config ?? {}),
    ...(options.embedder ? { embedder: options.embedder } : {}),
    ...(options.earlier ? { earlier: options.earlier } : {}),
    ...(options.weights ? { weights: options.weights } : {}),
  });
  return {
    memory,
    records,
    dir,
    async close() {
      await memory.stop();
      records.close();
    },
  };
}

export function removeDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}

/** A vector of letter frequencies: a real, if simple, notion of likeness that needs no model. */
export function letters(id = "letters"): Embedder {
  return {
    id,
    dims: 32,
    async embed(all) {
      return all.map((text) => {
        const vector = new Float32Array(32).fill(0.01);
        for (const sign of text.toLowerCase()) if (sign >= "a" && sign <= "z") vector[sign.charCodeAt(0) - 97]! += 1;
        const length = Math.hypot(...vector);
        return vector.map((part) => part / length);
      });
    },
    async close() {},
  };
}

/** Rows, words, vectors and graph tell the same story (MEMORY-2, MEMORY-3). */
export async function agree(records: Opened["records"]): Promise<void> {
  const live = await records.all<{ seq: number }>("SELECT seq FROM memory WHERE state = 'live'");
  const indexed = new Set<number>();
  for (const { term } of await records.all<{ term: string }>("SELECT term FROM memory_fts_word")) {
    const rows = await records.all<{ rowid: number }>(
      "SELECT rowid FROM memory_fts WHERE memory_fts MATCH ?",
      `"${term}"`,
    );
    for (const { rowid } of rows) indexed.add(rowid);
  }
  assert.deepEqual(
    [...indexed].sort((a, b) => a - b),
    live.map((row) => row.seq),
  );
  for (const table of ["memory_vector", "memory_mention", "memory_relation"]) {
    const lost = await records.all(
      `SELECT t.seq FROM ${table} t LEFT JOIN memory m ON m.seq = t.seq AND m.state = 'live' WHERE m.seq IS NULL`,
    );
    assert.deepEqual(lost, [], table);
  }
}
