import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { AppError } from "../../core/domain/index.ts";
import type { Database } from "./driver.ts";
import { openHomeDatabase } from "./open.ts";
import { SqliteRecords } from "./sqlite.ts";
import type { WriteAheadLog } from "./wal.ts";

/** What the writer was asked to do, and a chance to refuse it. */
interface Tap {
  log: string[];
  refuse?: (sql: string) => unknown;
}

function tapped(db: Database, tap: Tap): Database {
  const pass = (sql: string) => {
    tap.log.push(sql);
    const refusal = tap.refuse?.(sql);
    if (refusal) throw refusal;
  };
  return {
    exec(sql) {
      pass(sql);
      db.exec(sql);
    },
    prepare(sql) {
      const statement = db.prepare(sql);
      return {
        get: (...params) => statement.get(...params),
        all: (...params) => statement.all(...params),
        run(...params) {
          pass(sql);
          return statement.run(...params);
        },
      };
    },
    close: () => db.close(),
  };
}

function newDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), "lares-records-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** The disk, which can be made to wait and to refuse. */
class Disk {
  private readonly real: WriteAheadLog;
  private held: (() => void)[] | undefined;
  refusal: Error | undefined;
  syncs = 0;

  constructor(real: WriteAheadLog) {
    this.real = real;
  }

  hold(): void {
    this.held = [];
  }

  release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const go of held) go();
  }

  async sync(): Promise<void> {
    this.syncs++;
    const { held } = this;
    if (held) await new Promise<void>((resolve) => held.push(resolve));
    if (this.refusal) throw this.refusal;
    await this.real.sync();
  }

  syncNow(): void {
    if (this.refusal) throw this.refusal;
    this.real.syncNow();
  }

  close(): void {
    this.real.close();
  }
}

async function open(dir = newDirectory()) {
  const parts = await openHomeDatabase(join(dir, "lares.db"));
  const disk = new Disk(parts.wal);
  parts.writer.exec("CREATE TABLE IF NOT EXISTS thing (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  const tap: Tap = { log: [] };
  const fatal: AppError[] = [];
  const records = new SqliteRecords({
    ...parts,
    writer: tapped(parts.writer, tap),
    wal: disk,
    onFatal: (error) => void fatal.push(error),
  });
  onTestFinished(() => {
    try {
      records.close();
    } catch {
      // A test that ends with a closed or broken database has nothing left to close.
    }
  });
  const put = (id: number, text = "x") => records.write((tx) => tx.run("INSERT INTO thing VALUES (?, ?)", id, text));
  const commits = () => tap.log.filter((sql) => sql === "COMMIT").length;
  const ids = async (from: Pick<SqliteRecords, "all"> = records) =>
    (await from.all<{ id: number }>("SELECT id FROM thing ORDER BY id")).map((row) => row.id);
  return { dir, records, raw: parts.writer, tap, fatal, disk, put, commits, ids };
}

const failure = (errcode: number, message: string) => Object.assign(new Error(message), { errcode });

describe("group commit", () => {
  it("gives all writes of one turn of the event loop one commit", async () => {
    const { put, commits, ids } = await open();
    await Promise.all(Array.from({ length: 200 }, (_, i) => put(i)));
    expect(commits()).toBe(1);
    expect(await ids()).toHaveLength(200);
  });

  it("takes writes made in microtasks of the same turn into the same commit", async () => {
    const { put, commits } = await open();
    const chain = (async () => {
      for (let i = 0; i < 20; i++) {
        void put(i);
        await Promise.resolve();
      }
    })();
    await chain;
    await put(99);
    expect(commits()).toBe(1);
  });

  it("commits again for what comes later", async () => {
    const { put, commits } = await open();
    await put(1);
    await put(2);
    expect(commits()).toBe(2);
  });

  it("tells a writer only after the commit that contains its write (SQLITE-1, RECORDS-1)", async () => {
    const { put, tap, ids, records } = await open();
    const told = put(1).then(() => tap.log.push("told"));
    expect(await ids(records.committed)).toEqual([]);
    await told;
    expect(tap.log.indexOf("COMMIT")).toBeGreaterThan(-1);
    expect(tap.log.indexOf("told")).toBeGreaterThan(tap.log.indexOf("COMMIT"));
    expect(await ids(records.committed)).toEqual([1]);
  });

  it("lets a write that nobody waits for share the commit of the next one", async () => {
    const { records, put, commits, ids } = await open();
    const lazy = records.write((tx) => tx.run("INSERT INTO thing VALUES (1, 'lazy')"), { lazy: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(commits()).toBe(0);
    expect(await ids()).toEqual([1]);
    await put(2);
    await lazy;
    expect(commits()).toBe(1);
    expect(await ids(records.committed)).toEqual([1, 2]);
  });

  it("commits a write that nobody waits for by itself when nothing else comes", async () => {
    const { records, commits, ids } = await open();
    await records.write((tx) => tx.run("INSERT INTO thing VALUES (1, 'lazy')"), { lazy: true });
    expect(commits()).toBe(1);
    expect(await ids(records.committed)).toEqual([1]);
  });

  it("keeps a write that nobody waits for over a close", async () => {
    const { dir, records } = await open();
    const lazy = records.write((tx) => tx.run("INSERT INTO thing VALUES (1, 'lazy')"), { lazy: true });
    records.close();
    await lazy;
    const again = await open(dir);
    expect(await again.ids()).toEqual([1]);
  });

  it("takes back a refused write, the first of its transaction or a later one, and nothing else (RECORDS-1)", async () => {
    const { records, put, commits, ids } = await open();
    const half = (id: number) =>
      records.write((tx) => {
        tx.run("INSERT INTO thing VALUES (?, 'half')", id);
        throw new Error("refused");
      });
    const all = [half(1), put(2), half(3), put(4)];
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(commits()).toBe(1);
    expect(await ids(records.committed)).toEqual([2, 4]);
  });

  it("lets an empty write wait for everything before it", async () => {
    const { put, records, ids } = await open();
    void put(1);
    await records.write(() => {});
    expect(await ids(records.committed)).toEqual([1]);
  });
});

describe("a commit on its way to the disk", () => {
  async function committing() {
    const opened = await open();
    opened.disk.hold();
    const first = watched(opened.put(1));
    await expect.poll(() => opened.disk.syncs).toBe(1);
    return { ...opened, first };
  }

  function watched(promise: Promise<unknown>) {
    const state = { settled: false, promise };
    promise.then(
      () => (state.settled = true),
      () => (state.settled = true),
    );
    return state;
  }

  const someTurns = async () => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  it("is reported to nobody and shown to nobody (SQLITE-1, RECORDS-1)", async () => {
    const { records, disk, commits, ids, first } = await committing();
    const shown = watched(ids(records.committed));
    await someTurns();
    expect(commits()).toBe(1);
    expect([first.settled, shown.settled]).toEqual([false, false]);
    expect(await ids()).toEqual([1]);
    disk.release();
    await first.promise;
    expect(await shown.promise).toEqual([1]);
  });

  it("lets everything written meanwhile share the next one", async () => {
    const { disk, put, commits, first } = await committing();
    const later: Promise<void>[] = [];
    for (let id = 2; id < 6; id++) {
      later.push(put(id));
      await someTurns();
    }
    expect(commits()).toBe(1);
    disk.release();
    await Promise.all([first.promise, ...later]);
    expect(commits()).toBe(2);
    expect(disk.syncs).toBe(2);
  });

  it("shows what is durable to a reader who asks again and again while others write", async () => {
    const { records, disk, put, ids, first } = await committing();
    disk.release();
    await first.promise;
    for (let id = 2; id < 30; id++) {
      const written = watched(put(id));
      await new Promise((resolve) => setImmediate(resolve));
      const seen = await ids(records.committed);
      expect(seen.includes(id)).toBe(written.settled);
      await written.promise;
    }
  });

  it("is fatal when the disk refuses it, for itself and for what was written meanwhile (SQLITE-2)", async () => {
    const { disk, put, fatal, first } = await committing();
    const second = put(2);
    disk.refusal = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    disk.release();
    const told = await Promise.allSettled([first.promise, second, put(3)]);
    expect(told.map((t) => t.status === "rejected" && (t.reason as AppError).code)).toEqual([
      "STORAGE_FULL",
      "STORAGE_FULL",
      "STORAGE_FULL",
    ]);
    expect(fatal.map((e) => e.code)).toEqual(["STORAGE_FULL"]);
  });

  it("is waited for by a close, with what was written meanwhile", async () => {
    const { dir, disk, records, put, first } = await committing();
    const second = put(2);
    records.close();
    await Promise.all([first.promise, second]);
    disk.release();
    expect(await (await open(dir)).ids()).toEqual([1, 2]);
  });

  it("is waited for by a purge, after which writing goes on", async () => {
    const { disk, records, put, ids, first } = await committing();
    const second = put(2);
    records.purge();
    await Promise.all([first.promise, second]);
    disk.release();
    await put(3);
    expect(await ids(records.committed)).toEqual([1, 2, 3]);
  });

  it("costs an empty write no sync of its own", async () => {
    const { records, disk, first } = await committing();
    const empty = watched(records.write(() => {}));
    await someTurns();
    expect(empty.settled).toBe(false);
    disk.release();
    await Promise.all([first.promise, empty.promise]);
    expect(disk.syncs).toBe(1);
  });
});

describe("writes", () => {
  it("take effect in the order of the calls, and later reads see them at once (RECORDS-2)", async () => {
    const { records } = await open();
    const set = (text: string) =>
      records.write((tx) =>
        tx.run(
          "INSERT INTO thing VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET text = thing.text || excluded.text",
          text,
        ),
      );
    const all = [..."lares"].map(set);
    expect(await records.get("SELECT text FROM thing")).toEqual({ text: "lares" });
    expect(await records.committed.get("SELECT text FROM thing")).toBeUndefined();
    await Promise.all(all);
    expect(await records.committed.get("SELECT text FROM thing")).toEqual({ text: "lares" });
  });

  it("are atomic: a failing statement takes back its own write and no other (RECORDS-1)", async () => {
    const { put, records, ids, fatal } = await open();
    const before = put(1);
    const bad = records.write((tx) => {
      tx.run("INSERT INTO thing VALUES (2, 'half')");
      tx.run("INSERT INTO thing VALUES (1, 'twice')");
    });
    const after = put(3);
    await expect(bad).rejects.toThrow(/UNIQUE/);
    await Promise.all([before, after]);
    expect(await ids(records.committed)).toEqual([1, 3]);
    expect(fatal).toEqual([]);
    await put(4);
  });

  it("take back what a callback that throws had written, and reject with what it threw (RECORDS-1)", async () => {
    const { put, records, ids } = await open();
    const mine = new Error("mine");
    const bad = records.write((tx) => {
      tx.run("INSERT INTO thing VALUES (1, 'half')");
      throw mine;
    });
    await expect(bad).rejects.toBe(mine);
    await put(1);
    expect(await ids(records.committed)).toEqual([1]);
  });

  it("may be tried again as upserts without a second row (RECORDS-3)", async () => {
    const { records } = await open();
    const upsert = () =>
      records.write((tx) =>
        tx.run("INSERT INTO thing VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET text = excluded.text"),
      );
    await Promise.all([upsert(), upsert()]);
    await upsert();
    expect(await records.all("SELECT * FROM thing")).toEqual([{ id: 1, text: "x" }]);
  });

  it("are kept by a close in the same tick, and refused after it", async () => {
    const { dir, put, records } = await open();
    const last = put(1);
    records.close();
    await last;
    await expect(put(2)).rejects.toMatchObject({ code: "NOT_READY" });
    const again = await open(dir);
    expect(await again.ids()).toEqual([1]);
  });

  it("work with more different statements than the cache keeps", async () => {
    const { records, ids } = await open();
    const all = Array.from({ length: 900 }, (_, i) =>
      records.write((tx) => tx.run(`INSERT INTO thing VALUES (${i}, 'x')`)),
    );
    await Promise.all(all);
    expect(await ids()).toHaveLength(900);
  });
});

describe("a failed commit", () => {
  const codes = [
    { errcode: 13, message: "database or disk is full", code: "STORAGE_FULL" },
    { errcode: 10 | (3 << 8), message: "disk I/O error", code: "STORAGE_FAILED" },
  ];
  for (const { errcode, message, code } of codes) {
    it(`is told to every waiter as ${code}, calls onFatal once, and ends all writing (SQLITE-2)`, async () => {
      const { dir, put, tap, fatal, ids, raw } = await open();
      await put(1);
      tap.refuse = (sql) => (sql === "COMMIT" ? failure(errcode, message) : undefined);
      const told = await Promise.allSettled([put(2), put(3), put(4)]);
      expect(told.map((t) => t.status === "rejected" && (t.reason as AppError).code)).toEqual([code, code, code]);
      tap.refuse = undefined;
      await expect(put(5)).rejects.toMatchObject({ code });
      expect(fatal.map((e) => e.code)).toEqual([code]);
      expect(await ids()).toEqual([1]);
      raw.close();
      expect(await (await open(dir)).ids()).toEqual([1]);
    });
  }

  it("is also one when the disk fails inside a write: the whole batch is lost, not half of it (SQLITE-2)", async () => {
    const { put, tap, fatal, ids } = await open();
    const first = put(1);
    tap.refuse = (sql) => (sql.startsWith("INSERT") ? failure(10, "disk I/O error") : undefined);
    const told = await Promise.allSettled([first, put(2)]);
    tap.refuse = undefined;
    expect(told.map((t) => t.status === "rejected" && (t.reason as AppError).code)).toEqual([
      "STORAGE_FAILED",
      "STORAGE_FAILED",
    ]);
    expect(fatal).toHaveLength(1);
    expect(await ids()).toEqual([]);
  });

  it("happens on a really full disk, and what was told before is still there (SQLITE-1, SQLITE-2)", async () => {
    const dir = newDirectory();
    const mount = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", dir]);
    const mounted = mount.status === 0;
    // Lazily: the driver lets go of the file some time after it was closed.
    if (mounted) onTestFinished(() => void spawnSync("umount", ["-l", dir]));
    else console.info(`no tmpfs here (${String(mount.stderr ?? mount.error).trim()}): the file is capped instead`);
    await fillUp(dir, (db) => {
      if (!mounted) db.exec("PRAGMA max_page_count = 400");
    });
  });

  it("happens when the file may grow no more, and what was told before is still there (SQLITE-1, SQLITE-2)", async () => {
    await fillUp(newDirectory(), (db) => db.exec("PRAGMA max_page_count = 400"));
  });

  async function fillUp(dir: string, cap: (db: Database) => void): Promise<void> {
    const { put, fatal, ids, raw, records } = await open(dir);
    cap(raw);
    const kept: number[] = [];
    let lost: PromiseSettledResult<void>[] = [];
    for (let n = 0; !lost.length; n += 4) {
      expect(n, "the disk never filled up").toBeLessThan(4000);
      const told = await Promise.allSettled([n, n + 1, n + 2, n + 3].map((id) => put(id, "x".repeat(20_000))));
      if (told.every((t) => t.status === "fulfilled")) kept.push(n, n + 1, n + 2, n + 3);
      else lost = told;
    }
    expect(kept.length).toBeGreaterThan(0);
    // All of the batch or nothing of it; the ones already in it when it failed are told too.
    expect(lost.map((t) => t.status === "rejected" && (t.reason as AppError).code)).toEqual(
      Array.from({ length: 4 }, () => "STORAGE_FULL"),
    );
    await expect(put(9999)).rejects.toMatchObject({ code: "STORAGE_FULL", retry: "later" });
    expect(fatal.map((e) => e.code)).toEqual(["STORAGE_FULL"]);
    expect(await ids(records.committed)).toEqual(kept);
    records.close();
  }
});

describe("the epoch", () => {
  it("lets a process that was overtaken write nothing more, and says so once (SQLITE-3, I11)", async () => {
    const first = await open();
    await first.put(1);
    const second = await open(first.dir);
    const told = await Promise.allSettled([first.put(2), first.put(3)]);
    expect(told.map((t) => t.status === "rejected" && (t.reason as AppError).code)).toEqual([
      "HOME_FENCED",
      "HOME_FENCED",
    ]);
    expect(first.fatal.map((e) => e.code)).toEqual(["HOME_FENCED"]);
    await second.put(4);
    expect(await second.ids()).toEqual([1, 4]);
    expect(second.fatal).toEqual([]);
  });

  it("is checked in each commit, not only at the start (SQLITE-3)", async () => {
    const { put, raw, ids, fatal } = await open();
    await put(1);
    raw.exec("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch'");
    await expect(put(2)).rejects.toMatchObject({ code: "HOME_FENCED" });
    expect(await ids()).toEqual([1]);
    expect(fatal).toHaveLength(1);
  });
});
