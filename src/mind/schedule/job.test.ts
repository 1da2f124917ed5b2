import { describe, expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { afterFailure, catchUp, LATE_MS, MOST_CAUGHT_UP, MOST_FAILURES } from "./job.ts";
import type { When } from "./when.ts";

const hourly: When = { kind: "every", everyMs: 3_600_000, anchor: 0 };
const H = 3_600_000;

describe("a slot that comes up", () => {
  test("on time runs itself, whatever the policy", () => {
    for (const policy of ["once", "all", "skip"] as const) {
      expect(catchUp(hourly, 5 * H, 5 * H + 20, policy)).toEqual({ run: [5 * H], missed: [], next: 6 * H });
    }
  });

  test.each([
    ["once", [9 * H], [5 * H, 6 * H, 7 * H, 8 * H]],
    ["all", [5 * H, 6 * H, 7 * H, 8 * H, 9 * H], []],
    ["skip", [], [5 * H, 6 * H, 7 * H, 8 * H, 9 * H]],
  ] as const)("after a sleep of hours, %s", (policy, run, gone) => {
    const result = catchUp(hourly, 5 * H, 9 * H + 10 * 60_000, policy);
    expect(result.run).toEqual(run);
    expect(result.missed.map((m) => m.due)).toEqual(gone);
    expect(result.missed.every((m) => m.reason.length > 0)).toBe(true);
    expect(result.next).toBe(10 * H);
  });

  test("a once-only job that was missed still runs", () => {
    expect(catchUp({ kind: "at", at: H }, H, 9 * H, "once")).toEqual({ run: [H], missed: [], next: undefined });
  });

  test("each due time is run or recorded as missed, none twice, and the next is in the future (property)", () => {
    const policies = fc.constantFrom("once", "all", "skip") as fc.Arbitrary<"once" | "all" | "skip">;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 48 }),
        fc.integer({ min: 0, max: 40 * H }),
        policies,
        (from, late, policy) => {
          const due = from * H;
          const now = due + late;
          const { run, missed, next } = catchUp(hourly, due, now, policy);
          const all = [...run, ...missed.map((m) => m.due)].sort((a, b) => a - b);
          const expected = Array.from({ length: Math.floor(late / H) + 1 }, (_, i) => due + i * H);
          expect(all).toEqual(expected);
          expect(next).toBeGreaterThan(now);
          if (policy === "all") expect(run.length).toBeLessThanOrEqual(MOST_CAUGHT_UP);
          if (late <= LATE_MS) expect(run).toEqual([due]);
        },
      ),
    );
  });
});

describe("after failures in a row", () => {
  test.each([
    [1, 30_000],
    [2, 60_000],
    [3, 300_000],
    [4, 900_000],
  ])("a one-off is tried again after the backoff (%s)", (failures, wait) => {
    expect(afterFailure({ kind: "at", at: 0 }, failures, 1000)).toBe(1000 + wait);
  });

  test("a repeating job waits for the natural slot after the backoff", () => {
    expect(afterFailure(hourly, 1, 5 * H + 1000)).toBe(6 * H);
    const often: When = { kind: "every", everyMs: 10_000, anchor: 0 };
    expect(afterFailure(often, 2, 0)).toBe(60_000);
  });

  test("too many pause it", () => {
    expect(afterFailure(hourly, MOST_FAILURES, 0)).toBeUndefined();
  });
});
