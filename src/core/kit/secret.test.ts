import { expect, test } from "vitest";
import { isSameSecret } from "./secret.ts";

test.each([
  ["secret", "secret", true],
  ["secret", "Secret", false],
  ["", "secret", false],
  ["secre", "secret", false],
  ["secret and more", "secret", false],
  ["é", Buffer.from("é"), true],
])("%j against %j", (given, expected, same) => {
  // Whatever the lengths: timingSafeEqual itself throws when they differ (WH-07).
  expect(isSameSecret(given, expected)).toBe(same);
});
