import { expect, test } from "vitest";
import { judge } from "./index.ts";
import { NOTHING, used } from "./judge.ts";

const amount = (dollars = 0, tokens = 0, calls = 0) => ({ dollars, tokens, calls, assumed: 0 });
const one = amount(1, 100, 1);

test.each([
  ["without caps everything fits", {}, amount(1e9, 1e9, 1e9), NOTHING, one, "fits"],
  ["up to the cap it fits", { dollars: 10 }, amount(8), amount(1), one, "fits"],
  ["just above the cap it does not", { dollars: 10 }, amount(9.01), NOTHING, one, "over dollars"],
  ["fractions that add up to the cap fit", { dollars: 0.3 }, amount(0.1), amount(0.1), amount(0.1), "fits"],
  ["what others set aside is waited for", { dollars: 10 }, amount(5), amount(4.5), one, "wait dollars"],
  ["what is spent is not waited for", { dollars: 10 }, amount(9.5), amount(4.5), one, "over dollars"],
  ["tokens count for themselves", { dollars: 99, tokens: 1000 }, amount(0, 950), NOTHING, one, "over tokens"],
  ["calls count for themselves", { calls: 3 }, amount(0, 0, 3), NOTHING, one, "over calls"],
  ["the last call fits", { calls: 3 }, amount(0, 0, 2), NOTHING, one, "fits"],
  [
    "over in one kind goes before waiting in another",
    { dollars: 5, calls: 1 },
    amount(4, 0, 1),
    amount(1),
    one,
    "over calls",
  ],
  ["a cap of nothing allows nothing", { dollars: 0 }, NOTHING, NOTHING, one, "over dollars"],
  ["what costs nothing fits an empty purse", { dollars: 0 }, amount(5), NOTHING, amount(0, 10, 1), "fits"],
])("%s", (_name, budget, spent, reserved, estimate, expected) => {
  const verdict = judge(budget, spent, reserved, estimate);
  expect("kind" in verdict ? `${verdict.verdict} ${verdict.kind}` : verdict.verdict).toBe(expected);
});

test("the kind of use that is furthest is the one that is told", () => {
  expect(used({ dollars: 10, calls: 10 }, amount(5, 0, 9))).toEqual({ kind: "calls", share: 0.9 });
  expect(used({ dollars: 0 }, amount(0.1))).toEqual({ kind: "dollars", share: 1 });
  expect(used({}, one)).toBeUndefined();
});
