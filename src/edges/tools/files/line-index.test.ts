import { expect, test } from "vitest";
import { LineIndex } from "./line-index.ts";

test("finds every place, also where they overlap", () => {
  const index = new LineIndex(["a", "b", "a", "b", "a"]);
  expect(index.places(["a", "b", "a"], 0)).toEqual([0, 2]);
  expect(index.places(["a", "b", "a"], 1)).toEqual([2]);
  expect(index.places(["b", "c"], 0)).toEqual([]);
  expect(index.places([], 0)).toEqual([]);
});

test("finds what comparing line by line would find", () => {
  for (let n = 0; n < 2000; n++) {
    const line = () => "ab"[Math.floor(Math.random() * 2)]!;
    const lines = Array.from({ length: n % 20 }, line);
    const wanted = Array.from({ length: 1 + (n % 4) }, line);
    const plain = lines.flatMap((_, at) => (wanted.every((one, k) => lines[at + k] === one) ? [at] : []));
    expect({ lines, wanted, found: new LineIndex(lines).places(wanted, 0) }).toEqual({ lines, wanted, found: plain });
  }
});
