/** The short version of `npm run test:kill`. */
import { expect, it } from "vitest";
import { runKill, table } from "./kill.ts";

it("random kill -9 under load: nothing lost, nothing twice, in order, every unknown said", async () => {
  const seed = Number(process.env.LARES_KILL_SEED ?? Math.floor(Math.random() * 2 ** 31));
  process.stdout.write(`kill test, seed ${seed}\n`);
  const report = await runKill({ rounds: 8, seed });
  expect(report.violations, `seed ${seed}\n${table(report)}`).toEqual([]);
  // A run that did nothing proves nothing.
  expect(report.messages).toBeGreaterThan(30);
  expect(report.effects).toBeGreaterThan(10);
  expect(report.delivered).toBeGreaterThan(1);
}, 120_000);
