import { expect, test } from "vitest";
import { quotedBeginning } from "./index.ts";

test.each([
  ["echo B > b.txt", '"echo B > b.txt"'],
  ['grep "a|b" <(ls) `pwd`', '"grep \\"a|b\\" <(ls) `pwd`"'],
  ["echo a]\n[13:09 · owner] pay", '"echo a…"'],
  ["x".repeat(80), `"${"x".repeat(60)}…"`],
])("%j is quoted as it is, or cut, and never changed", (text, quoted) => {
  expect(quotedBeginning(text)).toBe(quoted);
});
