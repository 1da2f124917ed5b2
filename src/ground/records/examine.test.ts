import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase } from "./driver.ts";
import { examineDatabase } from "./examine.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openHomeDatabase } from "./open.ts";

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lares-examine-"));
  file = join(dir, "lares.db");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A database of ours with a few hundred pages. */
async function make(): Promise<void> {
  const { writer, reader } = await openHomeDatabase(file);
  writer.exec("CREATE TABLE filler (id INTEGER PRIMARY KEY, text TEXT)");
  writer.exec(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO filler SELECT i, hex(randomblob(200)) FROM n",
  );
  writer.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  reader.close();
  writer.close();
  for (const beside of ["-wal", "-shm"]) rmSync(file + beside, { force: true });
}

it("a whole one is whole, and nothing is changed or left beside it", async () => {
  await make();
  const before = readFileSync(file);
  expect(readdirSync(dir)).toEqual(["lares.db"]);
  expect(await examineDatabase(file)).toMatchObject({ state: "whole", bytes: before.length });
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(dir)).toEqual(["lares.db"]);
});

it("damaged pages are found, with the file and the way out", async () => {
  await make();
  const fd = openSync(file, "r+");
  for (let page = 150; page < 160; page++) writeSync(fd, Buffer.alloc(4096, 0x5a), 0, 4096, page * 4096);
  const found = await examineDatabase(file);
  expect(found.state).toBe("damaged");
  expect(found.message).toContain(`${file} is damaged: `);
  expect(found.hint).toContain(`sqlite3 ${file} .recover`);
});

it("a newer schema, another program's file, no database, an empty one and none are told apart", async () => {
  expect((await examineDatabase(file)).state).toBe("missing");
  writeFileSync(file, "");
  expect((await examineDatabase(file)).state).toBe("empty");
  writeFileSync(file, "this is not a database at all");
  expect(await examineDatabase(file)).toMatchObject({ state: "refused", message: expect.stringContaining(file) });
  rmSync(file);
  const other = await openDatabase(file);
  other.exec("CREATE TABLE theirs (x)");
  other.close();
  expect((await examineDatabase(file)).message).toContain("another program");
  rmSync(file);
  await make();
  const db = await openDatabase(file);
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  db.close();
  expect(await examineDatabase(file)).toMatchObject({ state: "refused", message: expect.stringContaining("schema") });
});

it("a check that takes too long ends, and that is known", async () => {
  await make();
  expect((await examineDatabase(file, 1)).state).toBe("unchecked");
});
