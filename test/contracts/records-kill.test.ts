/** The home's database and its lock under `kill -9` of the process that holds them. */
import { copyFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/ground/records/driver.ts";
import { lockHome, MIGRATIONS } from "../../src/ground/records/index.ts";
import { openHomeDatabase } from "../../src/ground/records/open.ts";
import { Child } from "./engine/child.ts";
import { newHome } from "./engine/instance.ts";
import { until } from "./engine/world.ts";

const driver = new URL("./records-driver.ts", import.meta.url);

describe("the home's lock", () => {
  it("names its owner to a second process, and is free in the moment the owner is killed (I11)", async () => {
    const home = newHome();
    const child = new Child(driver, ["lock", home]);
    await child.says("locked");
    const refused = await lockHome(home).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "HOME_LOCKED", details: { pid: child.process.pid }, retry: "after-change" });
    expect((refused as Error).message).toContain(String(child.process.pid));
    await child.kill();
    // What the dead left behind still names it; that must not keep anybody out.
    expect(readFileSync(join(home, "lares.pid"), "utf8")).toContain(String(child.process.pid));
    const lock = await lockHome(home);
    await expect(lockHome(home)).rejects.toMatchObject({ code: "HOME_LOCKED", details: { pid: process.pid } });
    lock.release();
    (await lockHome(home)).release();
  });

  it("keeps a second process out that starts while this one holds it", async () => {
    const home = newHome();
    const lock = await lockHome(home);
    const child = new Child(driver, ["lock", home]);
    await expect(child.says("locked")).rejects.toThrow(/HOME_LOCKED/);
    lock.release();
    const next = new Child(driver, ["lock", home]);
    await next.says("locked");
  });
});

describe("a migration that is killed half-way", () => {
  const killHalfWay = async (home: string) => {
    const log = join(home, "lares.db-wal");
    const child = new Child(driver, ["migrate", home]);
    const size = () => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    // Its pages spill into the log long before it could commit.
    await until("the migration is at work", () => size() > 1_000_000, 2);
    await child.kill();
  };

  it("leaves nothing of itself in a new home, and the next start makes all of it", async () => {
    const home = newHome();
    const file = join(home, "lares.db");
    await killHalfWay(home);
    const copy = join(newHome(), "look.db");
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    const look = await openDatabase(copy);
    expect(look.prepare("SELECT COUNT(*) AS n FROM sqlite_master").get()).toEqual({ n: 0 });
    expect(look.prepare("PRAGMA user_version").get()).toEqual({ user_version: 0 });
    look.close();
    const { writer, reader } = await openHomeDatabase(file);
    expect(writer.prepare("PRAGMA user_version").get()).toEqual({ user_version: MIGRATIONS.length });
    expect(writer.prepare("SELECT COUNT(*) AS n FROM sqlite_master WHERE name = 'half'").get()).toEqual({ n: 0 });
    expect(writer.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    reader.close();
    writer.close();
  });

  it("leaves a home of the version before exactly as it was", async () => {
    const home = newHome();
    const file = join(home, "lares.db");
    const before = await openHomeDatabase(file);
    before.writer.exec("INSERT INTO meta VALUES ('kept', 'yes')");
    before.reader.close();
    before.writer.close();
    await killHalfWay(home);
    const { writer, reader } = await openHomeDatabase(file);
    expect(writer.prepare("PRAGMA user_version").get()).toEqual({ user_version: MIGRATIONS.length });
    expect(writer.prepare("SELECT value FROM meta WHERE key = 'kept'").get()).toEqual({ value: "yes" });
    expect(writer.prepare("SELECT COUNT(*) AS n FROM sqlite_master WHERE name = 'half'").get()).toEqual({ n: 0 });
    reader.close();
    writer.close();
  });
});
