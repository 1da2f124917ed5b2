import { expect, test } from "vitest";
import { judgeXxd } from "./xxd.ts";

test("after the first file every word is a file", () => {
  const { concerns, files, writes } = judgeXxd(["a", "-r"]);
  expect([concerns, files.length, writes]).toEqual([[], 1, [{ index: 1, path: "-r" }]]);
});

test.each(["-le 1 a", "--len 1 a", "-- a", "-l a b", "-l", "-R always a"])("xxd %s is not understood", (text) => {
  expect(judgeXxd(text.split(" ")).concerns).not.toEqual([]);
});
