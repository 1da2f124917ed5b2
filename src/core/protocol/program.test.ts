import { expect, test } from "vitest";
import { asCalled } from "./program.ts";

const clone = "node bin/lares.js";

test.each([
  ["See: lares sessions list", "See: node bin/lares.js sessions list"],
  ["lares gateway run, then lares chat", "node bin/lares.js gateway run, then node bin/lares.js chat"],
  ["Use it (lares status), or stop it", "Use it (node bin/lares.js status), or stop it"],
  ["a link from `lares dashboard`.", "a link from `node bin/lares.js dashboard`."],
  ["  Next  lares chat", "  Next  node bin/lares.js chat"],
])("%s", (text, expected) => {
  expect(asCalled(text, clone)).toBe(expected);
  expect(asCalled(text, "lares")).toBe(text);
});

test.each([
  "Lares is running.",
  "what lares does",
  "~/.lares chat",
  "node bin/lares status",
  "the file lares.yaml",
  "lares chatter",
  "lares",
])("no command, no change: %s", (text) => {
  expect(asCalled(text, clone)).toBe(text);
});
