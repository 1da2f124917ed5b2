import { expect, test } from "vitest";
import { expectLinear } from "./growth.ts";

test("work in one pass is let through, work that looks back at all it has seen is not", () => {
  let sum = 0;
  const once = (size: number) => {
    for (let i = 0; i < size; i++) sum += i % 7;
  };
  const again = (size: number) => {
    for (let i = 0; i < size; i++) for (let j = 0; j < i; j++) sum += j % 7;
  };
  expectLinear(once, 8_000_000);
  expect(() => expectLinear(again, 40_000)).toThrow("8 times the text took more than 24 times the work");
  expect(sum).toBeGreaterThan(0);
});
