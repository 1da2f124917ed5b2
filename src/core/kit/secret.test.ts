import { expect, test } from "vitest";
import { isSameSecret, ownSecretName } from "./secret.ts";

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

test("two things never share the name of a secret", () => {
  const names = ["a", "a-b", "a_b", "A-B", "a.b", "ab", "a-b-c", "b"];
  const keys = ["C", "B_C", "OAUTH"];
  const made = [
    ...names.flatMap((of) => keys.map((key) => ownSecretName("MCP", of, key))),
    ...names.map((of) => ownSecretName("MODEL_KEY", of)),
  ];
  expect(new Set(made).size).toBe(made.length);
  for (const name of made) expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/);
  expect(ownSecretName("MODEL_KEY", "openai")).toBe("MODEL_KEY_OPENAI");
  expect(ownSecretName("MCP", "sky", "SKY_TOKEN")).toBe("MCP_SKY_SKY_TOKEN");
});
