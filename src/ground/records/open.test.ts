import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Database, openDatabase } from "./driver.ts";
import { MIGRATIONS, openRecords } from "./index.ts";
import { openHomeDatabase } from "./open.ts";

function newFile(): string {
  const dir = mkdtempSync(join(tmpdir(), "lares-open-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, "lares.db");
}

async function open(file: string) {
  const parts = await openHomeDatabase(file);
  onTestFinished(() => close(parts));
  return parts;
}

function close(parts: { writer: Database; reader: Database }): void {
  for (const db of [parts.reader, parts.writer]) {
    try {
      db.close();
    } catch {
      // Already closed by the test.
    }
  }
}

async function raw(file: string, sql: string): Promise<void> {
  const db = await openDatabase(file);
  db.exec(sql);
  db.close();
}

const pragma = (db: Database, name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() as object)[0];
const tables = (db: Database) =>
  (db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all() as { name: string }[]).map(
    (row) => row.name,
  );

describe("a home's database", () => {
  it("is made from nothing by all migrations, marked as ours", async () => {
    const { writer } = await open(newFile());
    expect(pragma(writer, "user_version")).toBe(MIGRATIONS.length);
    expect(pragma(writer, "application_id")).toBe(0x4c617265);
    expect(pragma(writer, "journal_mode")).toBe("wal");
    // What a writer is told of is synced by wal.ts; SQLite itself syncs before it overwrites the log or the file.
    expect(pragma(writer, "synchronous")).toBe(1);
    expect(pragma(writer, "integrity_check")).toBe("ok");
    expect(tables(writer)).toEqual(expect.arrayContaining(["meta", "engine_turn", "engine_journal", "engine_event"]));
  });

  it("tells its schema in the file's header, so that it can be refused without being opened", async () => {
    const file = newFile();
    await open(file);
    expect(readFileSync(file).readUInt32BE(60)).toBe(MIGRATIONS.length);
    expect(readFileSync(file).readUInt32BE(68)).toBe(0x4c617265);
  });

  it("is opened again with its contents and the next epoch (I11)", async () => {
    const file = newFile();
    const first = await open(file);
    first.writer.exec("INSERT INTO meta VALUES ('kept', 'yes')");
    close(first);
    const second = await open(file);
    expect(Number(second.epoch)).toBe(Number(first.epoch) + 1);
    expect(second.writer.prepare("SELECT value FROM meta WHERE key = 'kept'").get()).toEqual({ value: "yes" });
  });

  it("is readable by its owner only, with everything SQLite puts beside it", async () => {
    const file = newFile();
    const records = await openRecords(file, () => {});
    await records.write((tx) => tx.run("INSERT INTO meta VALUES ('secret', 'x')"));
    for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(name).mode & 0o077, name).toBe(0);
    records.close();
  });

  it("is one file after a clean stop, so that a copy of it is a backup", async () => {
    const file = newFile();
    const records = await openRecords(file, () => {});
    await records.write((tx) => tx.run("INSERT INTO meta VALUES ('kept', 'yes')"));
    records.close();
    const copy = newFile();
    copyFileSync(file, copy);
    const { writer } = await open(copy);
    expect(writer.prepare("SELECT value FROM meta WHERE key = 'kept'").get()).toEqual({ value: "yes" });
  });

  it("is made in a file that is empty, or that was killed before its first table", async () => {
    const empty = newFile();
    writeFileSync(empty, "");
    expect(pragma((await open(empty)).writer, "user_version")).toBe(MIGRATIONS.length);
    const begun = newFile();
    await raw(begun, "PRAGMA journal_mode = WAL");
    expect(statSync(begun).size).toBeGreaterThan(0);
    expect(pragma((await open(begun)).writer, "user_version")).toBe(MIGRATIONS.length);
  });

  it("goes on when it was killed after the migration and before its header was written", async () => {
    const file = newFile();
    const db = await openDatabase(file);
    db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; BEGIN");
    for (const sql of MIGRATIONS) db.exec(sql);
    db.exec(`PRAGMA application_id = ${0x4c617265}; PRAGMA user_version = ${MIGRATIONS.length};
      INSERT INTO meta VALUES ('kept', 'yes'); COMMIT`);
    const killed = copyAsKilled(file);
    db.close();
    expect(readFileSync(killed).readUInt32BE(68)).toBe(0);
    const { writer } = await open(killed);
    expect(writer.prepare("SELECT value FROM meta WHERE key = 'kept'").get()).toEqual({ value: "yes" });
  });
});

describe("refused, and left as it was, byte for byte:", () => {
  const refused = async (file: string, code: string) => {
    const before = readFileSync(file);
    const error = await openHomeDatabase(file).catch((e: unknown) => e);
    expect(error).toMatchObject({ name: "AppError", code, hint: expect.stringContaining("Nothing was changed") });
    expect((error as Error).message).toContain(file);
    expect(readFileSync(file).equals(before)).toBe(true);
  };

  it("a database of a newer Lares", async () => {
    const file = newFile();
    close(await open(file));
    await raw(file, `PRAGMA user_version = ${MIGRATIONS.length + 1}; PRAGMA wal_checkpoint(TRUNCATE)`);
    expect(readFileSync(file).readUInt32BE(60)).toBe(MIGRATIONS.length + 1);
    await refused(file, "DATABASE_NEWER");
  });

  it("a database of a newer Lares that was killed before its header was written", async () => {
    const file = newFile();
    const parts = await open(file);
    parts.writer.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    const killed = copyAsKilled(file);
    expect(readFileSync(killed).readUInt32BE(60)).toBe(MIGRATIONS.length);
    await refused(killed, "DATABASE_NEWER");
  });

  const garbage: [string, Buffer][] = [
    ["a text", Buffer.from("dear diary, today ".repeat(40))],
    ["a short file", Buffer.from("SQLite format 3\0")],
    ["noise", Buffer.alloc(8192, 0xa7)],
    ["zeroes", Buffer.alloc(8192)],
    ["a header with noise behind it", Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(8176, 0xa7)])],
  ];
  for (const [name, bytes] of garbage) {
    it(name, async () => {
      const file = newFile();
      writeFileSync(file, bytes);
      await refused(file, "DATABASE_UNREADABLE");
    });
  }

  it("another program's database, by its mark", async () => {
    const file = newFile();
    await raw(file, "PRAGMA application_id = 12345; CREATE TABLE theirs (x)");
    await refused(file, "DATABASE_UNREADABLE");
  });

  it("another program's database without a mark, by its tables", async () => {
    for (const version of [0, MIGRATIONS.length]) {
      const file = newFile();
      await raw(file, `CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1); PRAGMA user_version = ${version}`);
      await refused(file, "DATABASE_UNREADABLE");
    }
  });
});

/** What a kill in this moment would leave of a database that is open: the file and its log, without a goodbye. */
function copyAsKilled(file: string): string {
  const copy = newFile();
  copyFileSync(file, copy);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
  return copy;
}
