import { describe, expect, test } from "vitest";
import { limitsConfig } from "./config.ts";
import { computeCost, reached, repeated } from "./limits.ts";
import { newProgress } from "./progress.ts";

const limits = limitsConfig.parse({});
const progress = (over: object) => ({ ...newProgress(0), ...over });
const usage = (over: object) => ({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cost: 0,
  ...over,
});

describe("the caps of one turn (I10)", () => {
  test.each([
    ["a fresh turn", {}, 0, undefined],
    ["one call below the cap", { call: 49 }, 0, undefined],
    ["model calls", { call: 50 }, 0, "50 model calls"],
    ["time", {}, 30 * 60_000, "30 minutes"],
    ["money", { usage: usage({ cost: 5 }) }, 0, "$5"],
    [
      "money of unknown price",
      { usage: usage({ cost: null, inputTokens: 400_000 }) },
      0,
      "$5, counted at an assumed $15 per million tokens",
    ],
    ["unreadable tool calls", { badInputs: 3 }, 0, "could not be read"],
  ])("%s", (_name, over, activeMs, words) => {
    const cap = reached(limits, progress(over), activeMs);
    if (words === undefined) expect(cap).toBeUndefined();
    else expect(cap?.sentence).toContain(words);
  });

  test("a last word may follow a cap of calls or minutes; when the money is gone too, nothing does", () => {
    expect(reached(limits, progress({ call: 50 }), 0)?.lastWord).toBe(true);
    expect(reached(limits, progress({}), 30 * 60_000)?.lastWord).toBe(true);
    expect(reached(limits, progress({ call: 50, usage: usage({ cost: 5 }) }), 0)?.lastWord).toBe(false);
    expect(reached(limits, progress({ badInputs: 3 }), 0)?.lastWord).toBe(false);
  });

  test("an unknown price is never free", () => {
    expect(computeCost(limits, usage({ cost: null, outputTokens: 1_000_000 }))).toBe(15);
    expect(computeCost(limits, usage({ cost: 0.25 }))).toBe(0.25);
  });

  test("only the same call with the same result in a row counts as repeated", () => {
    const once = repeated(null, "a");
    expect(repeated(once, "a")).toEqual({ print: "a", count: 2 });
    expect(repeated(repeated(once, "a"), "b")).toEqual({ print: "b", count: 1 });
  });
});
