/** A real memory on a real database in a temporary folder. */
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
  options: { dir?: string; embedder?: Embedder; clock?: Clock; config?: object; weights?: MemoryParts["weights"] } = {},
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
    config: memoryConfig.parse(options.config ?? {}),
    ...(options.embedder ? { embedder: options.embedder } : {}),
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
