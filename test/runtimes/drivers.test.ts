/** The table of runtimes. */
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/kit/index.ts";
import { DRIVERS } from "../../src/edges/runtimes/index.ts";

test("every runtime in the table has its own name, and its adapter has the same, claims and proves nothing by itself", async () => {
  const parts = { clock: systemClock, searchPath: () => [], tag: "LARES_RUN", endRun: async () => 0 };
  expect(new Set(DRIVERS.map(({ name }) => name)).size).toBe(DRIVERS.length);
  for (const driver of DRIVERS) {
    const adapter = await driver.make(parts);
    expect(adapter.name).toBe(driver.name);
    const { class: _class, ...skills } = adapter.capabilities("1");
    expect(Object.values(skills).filter(({ proof }) => proof === "proven")).toEqual([]);
  }
});
