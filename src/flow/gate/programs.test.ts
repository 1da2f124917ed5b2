import { expect, test } from "vitest";
import { hasFiles, isLooker, judgeArguments, runsNothing } from "./programs.ts";

const concerns = (text: string) => {
  const [name, ...args] = text.split(" ");
  return judgeArguments(name!, args).concerns.length;
};

test.each(["cat a b", "ls -la", "grep -r x .", "sort -n a", "find . -name x"])(
  "%s only looks (EX-33, GATE-5)",
  (text) => expect(concerns(text)).toBe(0),
);
test.each(["find . -delete", "find . -exec rm {} ;", "sed -i s/a/b/ x", "git push"])("%s does more", (text) =>
  expect(concerns(text)).toBeGreaterThan(0),
);

test("the files of a program are named with what is done to them", () => {
  expect(judgeArguments("cat", ["a.txt"]).files).toEqual([{ index: 0, path: "a.txt", use: "content" }]);
  expect(hasFiles("cat")).toBe(true);
  expect(hasFiles("unheard-of")).toBe(false);
  expect(isLooker("echo")).toBe(true);
  expect(isLooker("sh")).toBe(false);
});

test("an interpreter that only says its version runs no code", () => {
  expect(runsNothing("node", ["--version"])).toBe(true);
  expect(runsNothing("node", ["x.js"])).toBe(false);
});
