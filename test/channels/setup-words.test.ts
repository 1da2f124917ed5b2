/** What `channels add` asks for is shown as it is written: nothing in it looks like a secret to the redactor. */
import { expect, test } from "vitest";
import { ADAPTERS } from "../../src/edges/channels/index.ts";
import { createRedactor } from "../../src/ground/observe/index.ts";

const asked = Object.values(ADAPTERS).flatMap(({ name, title, asks }) =>
  asks.map(({ field, what }) => [`${name}.${field}`, `${title}, ${field}: ${what}.`] as const),
);

test("the table is there", () => {
  expect(asked.length).toBeGreaterThan(20);
});

test.each(asked)("%s", (_field, words) => {
  expect(createRedactor().redact(words)).toBe(words);
});
