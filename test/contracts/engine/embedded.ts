/** The embedded engine as the suite opens it: the same parts `app/` puts together. */
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AppError } from "../../../src/core/domain/index.ts";
import { noCrash, noGuard, randomIds, silentLog, systemClock } from "../../../src/core/kit/index.ts";
import { EmbeddedEngine } from "../../../src/ground/engine/index.ts";
import { lockHome, SqliteRecords } from "../../../src/ground/records/index.ts";
import { openHomeDatabase } from "../../../src/ground/records/open.ts";
import type { EngineFactory } from "./world.ts";

let closed = 0;

/** The driver on Node 20 keeps a closed database's files open until its statements are collected; many lives need many files. */
function collect(): void {
  if (++closed % 200) return;
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

export const factory: EngineFactory = {
  module: new URL(import.meta.url),
  crashPoints: [
    "accept.committed",
    "segment.started",
    "step.recorded",
    "effect.ready",
    "effect.intended",
    "effect.acted",
    "park.before",
    "park.committed",
    "resume.before",
    "resume.committed",
    "end.before",
    "end.committed",
  ],

  async open(home, parts = {}) {
    const lock = await lockHome(home);
    let database: Awaited<ReturnType<typeof openHomeDatabase>>;
    try {
      database = await openHomeDatabase(join(home, "lares.db"));
    } catch (error) {
      lock.release();
      throw error;
    }
    database.writer.exec("CREATE TABLE IF NOT EXISTS contract_note (text TEXT NOT NULL)");
    let open = true;
    const wal = {
      syncNow: () => database.wal.syncNow(),
      close: () => database.wal.close(),
      async sync() {
        await database.wal.sync();
        // A killed process acknowledges nothing, though what it had committed is there.
        if (!open) throw new Error("killed");
      },
    };
    const records = new SqliteRecords({ ...database, wal, onFatal: (error) => engine.lose(error) });
    const engine = new EmbeddedEngine({
      records,
      clock: parts.clock ?? systemClock,
      ids: randomIds(),
      crash: parts.crash ?? noCrash,
      guard: parts.guard ?? noGuard,
      log: silentLog,
      places: parts.places ?? { interactive: 200, scheduled: 20, background: 20 },
    });
    return {
      engine,
      note: (tx, text) => tx.run("INSERT INTO contract_note (text) VALUES (?)", text),
      notes: async () =>
        (await records.committed.all<{ text: string }>("SELECT text FROM contract_note ORDER BY rowid")).map(
          (r) => r.text,
        ),
      async close(drainMs = 0) {
        if (!open) return;
        await engine.stop(drainMs);
        open = false;
        records.close();
        lock.release();
        collect();
      },
      abandon() {
        if (!open) return;
        open = false;
        engine.lose(new AppError("NOT_READY", { message: "killed" }));
        try {
          // What was not committed is gone, as with a killed process.
          database.writer.exec("ROLLBACK");
        } catch {
          // Nothing was open.
        }
        wal.close();
        database.writer.close();
        database.reader.close();
        lock.release();
        collect();
      },
    };
  },

  async takeOver(home) {
    const { writer, reader } = await openHomeDatabase(join(home, "lares.db"));
    return () => {
      reader.close();
      writer.close();
    };
  },
};
