import { expect, it } from "vitest";
import { completeSlash } from "./complete.ts";

const commands = ["help", "reset", "status", "stop", "Sky:report", "Sky:tides"].map((name) => ({
  name,
  usage: `/${name}`,
  doc: "",
}));

it.each([
  ["/h", "/help ", 0],
  ["/H", "/help ", 0],
  ["/st", "/st", 2],
  ["/s", "/s", 4],
  ["/sk", "/Sky:", 2],
  ["/sky:r", "/Sky:report ", 0],
  ["/", "/", 6],
])("%s becomes %s with %i left", (line, next, left) => {
  const done = completeSlash(line, commands);
  expect(done?.line).toBe(next);
  expect(done?.options.length).toBe(left);
});

it.each(["", "hello", "/x", "/stop now", "a /st"])('"%s" is left as it is', (line) => {
  expect(completeSlash(line, commands)).toBeUndefined();
});
