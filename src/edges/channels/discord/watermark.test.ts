import { expect, test } from "vitest";
import { Watermark } from "./watermark.ts";

test("a number still open holds back all after it, but not its own commit", () => {
  const mark = new Watermark(5);
  mark.begin(6);
  mark.skip(7);
  mark.begin(8);
  expect(mark.upTo()).toBe(5);
  expect(mark.upTo(8)).toBe(5);
  expect(mark.upTo(6)).toBe(7);
  mark.finish(6);
  expect(mark.upTo(8)).toBe(8);
  mark.finish(8);
  mark.restart(1);
  expect(mark.upTo()).toBe(1);
});
