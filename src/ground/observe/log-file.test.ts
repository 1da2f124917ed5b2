import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createLog, openLogFile, readLogs } from "./index.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lares-log-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const quiet = { write() {} };
const logging = (mostBytes?: number) => {
  const log = createLog({ level: "warn", keep: "info", stream: quiet });
  log.writeTo(openLogFile(home, mostBytes));
  return log;
};
const whats = (limit = 1000) =>
  readLogs(home)
    .tail({ limit })
    .map(({ what }) => what);

it("what is kept is in the file, redacted, and only its owner can read it", async () => {
  const log = createLog({ level: "warn", keep: "info", stream: quiet });
  log.redactor.addSecret("hunter2-and-more");
  log.info("before the file");
  log.writeTo(openLogFile(home));
  log.info("token is hunter2-and-more", { password: "x" });
  log.debug("not kept");
  await log.flush();
  const text = readFileSync(join(home, "logs/lares.log"), "utf8");
  expect(text).not.toContain("hunter2");
  expect(whats()).toEqual(["before the file", "token is [redacted]"]);
  expect(statSync(join(home, "logs/lares.log")).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, "logs")).mode & 0o777).toBe(0o700);
});

it("OBSERVE-6: the files rotate and stay within the bound, and the newest lines are found across them", async () => {
  const log = logging(2000);
  for (let i = 0; i < 200; i++) {
    log.info(`line ${i} ${"x".repeat(60)}`);
    await log.flush();
  }
  const files = readdirSync(join(home, "logs")).sort();
  expect(files).toEqual(["lares.log", "lares.log.1", "lares.log.2", "lares.log.3"]);
  for (const file of files) expect(statSync(join(home, "logs", file)).size).toBeLessThanOrEqual(2000);
  const found = whats(30).map((what) => Number(what.split(" ")[1]));
  expect(found).toEqual(Array.from({ length: 30 }, (_, i) => 170 + i));
});

it("a new process goes on in the same file; a line cut by a death and a missing file are skipped", async () => {
  mkdirSync(join(home, "logs"));
  const old = { seq: 1, level: "info", time: "2026-01-01T00:00:00.000Z", room: "r", what: "old" };
  writeFileSync(join(home, "logs/lares.log.2"), `${JSON.stringify(old)}\n`);
  writeFileSync(join(home, "logs/lares.log"), `${JSON.stringify({ ...old, what: "whole" })}\n{"seq":2,"lev\n`);
  const log = logging();
  log.warn("new");
  await log.flush();
  expect(whats()).toEqual(["old", "whole", "new"]);
});

it("following goes on through a rotation, each line once", async () => {
  const log = logging(1000);
  log.info("first");
  await log.flush();
  const stored = readLogs(home);
  expect(stored.more()).toEqual([]);
  const seen: string[] = [];
  for (let i = 0; i < 40; i++) {
    log.info(`next ${i} ${"x".repeat(40)}`);
    await log.flush();
    seen.push(...stored.more().map(({ what }) => what.slice(0, 7).trim()));
  }
  stored.close();
  expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => `next ${i}`));
});

it("what can't be written is lost, and when there is room again lines are written again", async () => {
  writeFileSync(join(home, "logs"), "a file in the way");
  const log = logging();
  log.warn("lost");
  await log.flush();
  rmSync(join(home, "logs"));
  log.warn("found");
  await log.flush();
  expect(whats()).toEqual(["found"]);
});

it("a crash is the last line, with what still waited before it", () => {
  const log = logging();
  log.redactor.addSecret("hunter2-and-more");
  log.info("one");
  log.info("two");
  log.ending("Lares crashed", new Error("boom hunter2-and-more"));
  const [last] = readLogs(home).tail({ limit: 1 });
  expect(last).toMatchObject({ level: "error", what: "Lares crashed" });
  expect(JSON.stringify(last)).toContain("boom [redacted]");
  expect(whats()).toContain("two");
});
