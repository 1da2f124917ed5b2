import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { noCrash } from "../../core/kit/index.ts";
import { openDatabase, openRecords } from "../records/index.ts";
import { openArchive } from "./archive.ts";
import { createBackup } from "./create.ts";
import { openPages } from "./pages.ts";
import { pruneBackups } from "./prune.ts";
import { unpackBackup } from "./unpack.ts";

let dir: string;
let home: string;
let now = Date.parse("2026-01-01T00:00:00Z");
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lares-backup-"));
  home = join(dir, "home");
  mkdirSync(home);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const archiveAt = (passphrase?: string) => openArchive(join(dir, "to"), { make: true, passphrase });
const parts = () => ({ home, version: "1.0.0", now: () => (now += 60_000), crash: noCrash });

async function fillHome(): Promise<void> {
  const records = await openRecords(join(home, "lares.db"), () => {});
  await records.write((tx) => tx.run("INSERT INTO meta VALUES ('said', 'hello')"));
  records.close();
  mkdirSync(join(home, "agents/main/workspace"), { recursive: true });
  mkdirSync(join(home, "agents/main/empty"));
  writeFileSync(join(home, "agents/main/SOUL.md"), "I am Vesta.\n", { mode: 0o640 });
  writeFileSync(join(home, "agents/main/workspace/big.bin"), Buffer.alloc(3_000_000, "abc"));
  writeFileSync(join(home, "vault.key"), "key");
  symlinkSync("../SOUL.md", join(home, "agents/main/workspace/link"));
  mkdirSync(join(home, "logs"));
  writeFileSync(join(home, "logs/lares.log"), "not needed");
}

async function readSaid(file: string): Promise<unknown> {
  const db = await openDatabase(file);
  try {
    expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    return (db.prepare("SELECT value FROM meta WHERE key = 'said'").get() as { value: string }).value;
  } finally {
    db.close();
  }
}

describe("pages (PAGES-1)", () => {
  test("every copy made while another process writes is one committed state", async () => {
    const file = join(dir, "busy.db");
    // Two rows that always change together, and enough besides to make the log be emptied and started over again and again.
    const writer = `
      const { DatabaseSync } = require(process.argv[1]);
      const db = new DatabaseSync(process.argv[2]);
      db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 20; CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, fill BLOB)");
      db.exec("INSERT INTO t VALUES (1, 0, zeroblob(3000)), (2, 0, zeroblob(3000))");
      for (let i = 3; i < 200; i++) db.exec("INSERT INTO t VALUES (" + i + ", 0, randomblob(3000))");
      console.log("ready");
      for (let n = 1; ; n++) {
        db.exec("BEGIN; UPDATE t SET n = " + n + " WHERE id = 1; UPDATE t SET fill = randomblob(3000) WHERE id = " + (3 + n % 190) + "; UPDATE t SET n = " + n + " WHERE id = 2; COMMIT");
        if (n % 50 === 0) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      }`;
    const driver = (await import("node:module")).createRequire(import.meta.url).resolve("@photostructure/sqlite");
    const child = spawn(process.execPath, ["-e", writer, driver, file], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      const seen = new Set<number>();
      for (let i = 0; i < 8; i++) {
        const pages = await openPages(file);
        const copy = join(dir, `copy-${i}.db`);
        const bytes: Buffer[] = [];
        for (let at = 0; at < pages.bytes; at += 65_536) {
          bytes.push(pages.read(at, 65_536));
          // The writer gets time in the middle of each copy.
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        pages.close();
        writeFileSync(copy, Buffer.concat(bytes));
        const db = await openDatabase(copy);
        expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
        const [a, b] = db.prepare("SELECT n FROM t WHERE id < 3 ORDER BY id").all() as { n: number }[];
        expect(a).toEqual(b);
        seen.add(a!.n);
        db.close();
      }
      expect(seen.size).toBeGreaterThan(3);
    } finally {
      child.kill("SIGKILL");
    }
  });
});

describe("a backup", () => {
  test.each([
    ["plain", undefined],
    ["encrypted", "correct horse battery"],
  ])("%s: comes back as it was (SEAL-1)", async (_kind, pass) => {
    await fillHome();
    const archive = await archiveAt(pass);
    const made = await createBackup({ ...parts(), archive });
    const to = join(dir, "restored");
    await unpackBackup(await archiveAt(pass), made, to);
    expect(await readSaid(join(to, "lares.db"))).toBe("hello");
    expect(readFileSync(join(to, "agents/main/SOUL.md"), "utf8")).toBe("I am Vesta.\n");
    expect(statSync(join(to, "agents/main/SOUL.md")).mode & 0o777).toBe(0o640);
    expect(readFileSync(join(to, "agents/main/workspace/big.bin")).equals(Buffer.alloc(3_000_000, "abc"))).toBe(true);
    expect(readFileSync(join(to, "agents/main/workspace/link"), "utf8")).toBe("I am Vesta.\n");
    expect(existsSync(join(to, "agents/main/empty"))).toBe(true);
    // The log stays out, and the key goes only where nobody else can read it.
    expect(existsSync(join(to, "logs"))).toBe(false);
    expect(existsSync(join(to, "vault.key"))).toBe(pass !== undefined);
    if (pass) {
      const all = Buffer.concat(readdirSync(join(dir, "to")).map((name) => readFileSync(join(dir, "to", name))));
      expect(all.includes("Vesta")).toBe(false);
    }
  });

  test("stores only what is new, and what is shared survives the backup that brought it", async () => {
    await fillHome();
    const archive = await archiveAt();
    const first = await createBackup({ ...parts(), archive });
    writeFileSync(join(home, "agents/main/USER.md"), "likes tea\n");
    const second = await createBackup({ ...parts(), archive });
    expect(first.added).toBeGreaterThan(5000);
    expect(second.added).toBeLessThan(200);
    const keep = { last: 1, daily: 0, weekly: 0, monthly: 0 };
    expect(await pruneBackups(archive, keep)).toEqual([first.id]);
    await unpackBackup(await archiveAt(), second, join(dir, "restored"));
    expect(await readSaid(join(dir, "restored/lares.db"))).toBe("hello");
    // What nothing needs any more gives its room back.
    rmSync(join(home, "agents/main/workspace/big.bin"));
    writeFileSync(
      join(home, "agents/main/workspace/noise"),
      Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * i) % 251)),
    );
    await createBackup({ ...parts(), archive });
    rmSync(join(home, "agents/main/workspace/noise"));
    const last = await createBackup({ ...parts(), archive });
    await pruneBackups(archive, keep);
    const packs = readdirSync(join(dir, "to")).filter((name) => name.endsWith(".pack"));
    expect(packs.reduce((sum, name) => sum + statSync(join(dir, "to", name)).size, 0)).toBeLessThan(60_000);
    await unpackBackup(await archiveAt(), last, join(dir, "again"));
    expect(await readSaid(join(dir, "again/lares.db"))).toBe("hello");
  });

  test("any number of backups, changes and removals in any order: each that is left comes back as it was", async () => {
    await fillHome();
    const step = fc.oneof(
      fc.record({ kind: fc.constant("write" as const), n: fc.nat(5), size: fc.nat(300_000) }),
      fc.record({ kind: fc.constant("remove" as const), n: fc.nat(5) }),
      fc.record({ kind: fc.constant("backup" as const) }),
      fc.record({ kind: fc.constant("prune" as const), last: fc.integer({ min: 1, max: 3 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const to = mkdtempSync(join(dir, "to-"));
        const expected = new Map<string, Record<string, number>>();
        const files: Record<string, number> = {};
        for (const one of [...steps, { kind: "backup" as const }]) {
          const archive = await openArchive(to, { make: true });
          if (one.kind === "write") {
            files[`f${one.n}`] = one.size;
            writeFileSync(join(home, `f${one.n}`), Buffer.alloc(one.size, one.n + 65));
          } else if (one.kind === "remove") {
            rmSync(join(home, `f${one.n}`), { force: true });
            delete files[`f${one.n}`];
          } else if (one.kind === "backup")
            expected.set((await createBackup({ ...parts(), archive })).id, { ...files });
          else
            for (const id of await pruneBackups(archive, { last: one.last, daily: 0, weekly: 0, monthly: 0 }))
              expected.delete(id);
        }
        const archive = await openArchive(to, {});
        const { backups } = await archive.list();
        expect(backups.map(({ id }) => id)).toEqual([...expected.keys()]);
        for (const backup of backups) {
          const out = join(dir, "out");
          await unpackBackup(archive, backup, out);
          const found = readdirSync(out).filter((name) => /^f\d$/.test(name));
          expect(Object.fromEntries(found.map((name) => [name, statSync(join(out, name)).size]))).toEqual(
            expected.get(backup.id),
          );
        }
        for (const name of Object.keys(files)) rmSync(join(home, name));
        for (const name of Object.keys(files)) delete files[name];
      }),
      { numRuns: 8 },
    );
  });
});

describe("what can be wrong with it is said", () => {
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => "none",
      (error: { code?: string }) => error.code,
    );

  test("a wrong passphrase, none, and a folder that isn't ours", async () => {
    await fillHome();
    await createBackup({ ...parts(), archive: await archiveAt("correct horse battery") });
    expect(await codeOf(archiveAt("incorrect horse"))).toBe("BACKUP_SEALED");
    expect(await codeOf(archiveAt())).toBe("BACKUP_SEALED");
    expect(await codeOf(openArchive(home, { make: true }))).toBe("CONFLICT");
    expect(await codeOf(openArchive(join(dir, "nowhere"), {}))).toBe("NOT_FOUND");
  });

  test.each([
    ["cut", (file: string) => truncateSync(file, statSync(file).size - 40)],
    ["changed", (file: string) => flip(file)],
    ["gone", (file: string) => rmSync(file)],
  ])("a pack that is %s (SEAL-2)", async (_how, harm) => {
    await fillHome();
    const made = await createBackup({ ...parts(), archive: await archiveAt() });
    harm(join(dir, "to", `${made.id}.pack`));
    expect(await codeOf(unpackBackup(await archiveAt(), made, join(dir, "restored")))).toBe("BACKUP_DAMAGED");
    expect(existsSync(join(dir, "restored"))).toBe(false);
    // The next one doesn't build on what is missing.
    if (_how === "changed") return;
    const next = await createBackup({ ...parts(), archive: await archiveAt() });
    await unpackBackup(await archiveAt(), next, join(dir, "restored"));
    expect(await readSaid(join(dir, "restored/lares.db"))).toBe("hello");
  });

  test("a list that was cut is named, and the others are shown", async () => {
    await fillHome();
    const [first, second] = [
      await createBackup({ ...parts(), archive: await archiveAt() }),
      await createBackup({ ...parts(), archive: await archiveAt() }),
    ];
    truncateSync(join(dir, "to", `${second.id}.backup`), 100);
    const { backups, broken } = await (await archiveAt()).list();
    expect([backups.map(({ id }) => id), broken]).toEqual([[first.id], [second.id]]);
  });

  test("a backup of a newer Lares, and one that names files outside the home", async () => {
    await fillHome();
    const archive = await archiveAt();
    const made = await createBackup({ ...parts(), archive });
    const to = join(dir, "restored");
    expect(await codeOf(unpackBackup(archive, { ...made, schema: 9999 }, to))).toBe("DATABASE_NEWER");
    const evil = { path: "../evil", kind: "file" as const, mode: 0o600, pieces: [] };
    expect(await codeOf(unpackBackup(archive, { ...made, entries: [evil] }, to))).toBe("BACKUP_DAMAGED");
    expect(existsSync(join(dir, "evil"))).toBe(false);
  });

  test("what a crash left of a backup is removed by the next one (ARCHIVE-1)", async () => {
    await fillHome();
    const archive = await archiveAt();
    writeFileSync(join(dir, "to", "20250101T000000Z-aaaaaa.pack"), "half");
    await createBackup({ ...parts(), archive });
    expect(readdirSync(join(dir, "to")).filter((name) => name.startsWith("2025"))).toEqual([]);
  });
});

function flip(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1]! ^= 0xff;
  writeFileSync(file, bytes);
}
