import { expect, it } from "vitest";
import { completeSlash } from "./complete.ts";

const commands = ["help", "reset", "status", "stop"].map((name) => ({ name, usage: `/${name}`, doc: "" }));

it.each([
  ["/h", "/help ", 0],
  ["/H", "/help ", 0],
  ["/st", "/st", 2],
  ["/s", "/st", 2],
  ["/", "/", 4],
])("%s becomes %s with %i left", (line, next, left) => {
  const done = completeSlash(line, commands);
  expect(done?.line).toBe(next);
  expect(done?.options.length).toBe(left);
});

it.each(["", "hello", "/x", "/stop now", "a /st"])('"%s" is left as it is', (line) => {
  expect(completeSlash(line, commands)).toBeUndefined();
});
