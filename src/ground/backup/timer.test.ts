import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { backupIds } from "../../core/domain/index.ts";
import { ManualClock, silentLog } from "../../core/kit/index.ts";
import { BackupTimer } from "./timer.ts";

const HOUR = 3_600_000;
const home = mkdtempSync(join(tmpdir(), "lares-timer-"));
afterEach(() => rmSync(home, { recursive: true, force: true }));

test("a backup is made when the newest is too old, whoever made it; after a failure an hour passes", async () => {
  const clock = new ManualClock();
  const folder = join(home, "backups");
  mkdirSync(folder, { recursive: true });
  const made: number[] = [];
  let fails = false;
  const run = async () => {
    if (fails) throw new Error("the disk is gone");
    made.push(clock.now());
    writeFileSync(join(folder, `${backupIds.make(clock.now(), "ab12")}.backup`), "");
  };
  let everyHours = 0;
  const timer = new BackupTimer({ home, settings: () => ({ everyHours }), run, clock, log: silentLog });
  await timer.look();
  expect(made).toHaveLength(0);
  everyHours = 24;
  await timer.look();
  await timer.look();
  expect(made).toHaveLength(1);
  clock.advance(25 * HOUR);
  fails = true;
  await timer.look();
  expect(timer.problem).toContain("the disk is gone");
  fails = false;
  await timer.look();
  expect(made).toHaveLength(1);
  clock.advance(HOUR);
  await timer.look();
  expect(made).toHaveLength(2);
  expect(timer.problem).toBeUndefined();
});
