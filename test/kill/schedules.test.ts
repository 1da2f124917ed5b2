/** The short version of `npm run test:kill -- --schedules`. */
import { expect, it } from "vitest";
import { SEED } from "../support/property.ts";
import { runScheduleKill, scheduleTable } from "./schedules.ts";

it("kill -9 at fire time: each slot exactly once or explicitly missed", async () => {
  const seed = SEED;
  const report = await runScheduleKill({ rounds: 2, seed });
  expect(report.violations, `seed ${seed}\n${scheduleTable(report)}`).toEqual([]);
  expect(report.slots.done ?? 0).toBeGreaterThan(0);
}, 120_000);
