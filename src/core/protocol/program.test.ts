import { expect, test } from "vitest";
import { asCalled } from "./program.ts";

const clone = "node bin/lares.js";

test.each([
  ["See: lares sessions list", "See: node bin/lares.js sessions list"],
  ["lares gateway run, then lares chat", "node bin/lares.js gateway run, then node bin/lares.js chat"],
  ["Use it (lares status), or stop it", "Use it (node bin/lares.js status), or stop it"],
  ["a link from `lares dashboard`.", "a link from `node bin/lares.js dashboard`."],
  ["See: lares --help", "See: node bin/lares.js --help"],
  ["To resume: lares watch resume news", "To resume: node bin/lares.js watch resume news"],
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

test("a name that ends with ours is put in once, also where two faces do it", () => {
  const name = "docker exec lares lares";
  const once = asCalled("Get a new link: lares dashboard", name);
  expect(once).toBe("Get a new link: docker exec lares lares dashboard");
  expect(asCalled(once, name)).toBe(once);
});
