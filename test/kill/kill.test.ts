/** The short version of `npm run test:kill`. */
import { expect, it } from "vitest";
import { SEED } from "../support/property.ts";
import { runKill, table } from "./kill.ts";

it("random kill -9 under load: nothing lost, nothing twice, in order, every unknown said", async () => {
  const seed = SEED;
  process.stdout.write(`kill test, seed ${seed}\n`);
  const report = await runKill({ rounds: 5, seed, leastAnswers: 50 });
  expect(report.violations, `seed ${seed}\n${table(report)}`).toEqual([]);
  expect(report.messages).toBeGreaterThanOrEqual(50);
  expect(report.effects).toBeGreaterThan(0);
  expect(report.delivered).toBeGreaterThan(0);
}, 120_000);
