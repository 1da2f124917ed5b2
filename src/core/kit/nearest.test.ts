import { expect, test } from "vitest";
import { distance, nearest } from "./nearest.ts";

test.each([
  ["report", "report", 0],
  ["reprot", "report", 1],
  ["erprot", "report", 2],
  ["report", "reports", 1],
  ["", "abc", 3],
  ["kitten", "sitting", 3],
])("from %s to %s: %d", (a, b, faults) => {
  expect(distance(a, b)).toBe(faults);
  expect(distance(b, a)).toBe(faults);
  expect(distance(a, b, faults)).toBe(faults);
  if (faults > 0) expect(distance(a, b, faults - 1)).toBe(faults);
});

test("bounded, it never says less than unbounded, and gives up early on long words", () => {
  const words = ["abcd", "abdc", "bacd", "dcba", "abcdef", "xabcd", "", "a", "ababab", "bababa"];
  for (const a of words)
    for (const b of words)
      for (let most = 0; most < 7; most++) expect(distance(a, b, most)).toBe(Math.min(distance(a, b), most + 1));
  expect(distance("a".repeat(100_000), "b".repeat(100_000), 2)).toBe(3);
});

test("the nearest word, or none", () => {
  expect(nearest("raed", ["write", "read", "red"])).toBe("read");
  expect(nearest("something", ["write", "read"])).toBeUndefined();
});
