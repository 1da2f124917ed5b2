/** What the table of `npm run test:runtimes` says about a runtime. */
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/kit/index.ts";
import { DRIVERS } from "../../src/edges/runtimes/index.ts";
import { type Mark, proofOf } from "./proof-table.ts";

const parts = { clock: systemClock, searchPath: () => [], tag: "LARES_RUN", endRun: async () => 0 };
const checks = [
  { name: "stream", proves: ["stream", "usage"] as const },
  { name: "sandbox", proves: ["stream"] as const },
];

test("only what a check saw is proven; one failure is enough, and what is absent says why", async () => {
  const adapter = await DRIVERS.find(({ name }) => name === "opencode")!.make(parts);
  const see = (marks: [string, Mark][]) => ({
    name: "opencode",
    version: "1",
    can: adapter.capabilities("1"),
    marks: new Map(marks),
  });
  expect(proofOf(see([["stream", "ok"]]), "stream", checks)).toBe("proven");
  expect(
    proofOf(
      see([
        ["stream", "ok"],
        ["sandbox", "FAILED"],
      ]),
      "stream",
      checks,
    ),
  ).toBe("FAILED");
  expect(proofOf(see([["stream", "-"]]), "stream", checks)).toMatch(/^claimed: /);
  expect(proofOf(see([["stream", "ok"]]), "rateLimits", checks)).toMatch(/^absent: \w/);
});

test("every runtime says why it can't do what it can't", async () => {
  for (const driver of DRIVERS) {
    const { class: _class, ...skills } = (await driver.make(parts)).capabilities("1");
    const silent = Object.entries(skills).filter(([, one]) => one.proof === "absent" && !one.note);
    expect([driver.name, silent]).toEqual([driver.name, []]);
  }
});
