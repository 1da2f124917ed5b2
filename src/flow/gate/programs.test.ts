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
test.each(["find . -delete", "find . -exec rm {} ;", "sed -i s/a/b/e x", "git push"])("%s does more", (text) =>
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

test.each(["cut --output-delimiter -f x", "ls --ignore -I x", "tree --charset -- -o x", "rg --color -e x"])(
  "%s: an option that takes the next word asks when it stands alone",
  (text) => expect(judgeArguments(text.split(" ")[0]!, text.split(" ").slice(1)).concerns[0]?.index).toBe(0),
);

test("the second file of xxd is written", () => {
  expect(judgeArguments("xxd", ["-l", "16", "a"])).toEqual({
    concerns: [],
    files: [{ index: 2, path: "a", use: "content" }],
  });
  expect(judgeArguments("xxd", ["-r", "-p", "a", "b"]).writes).toEqual([{ index: 3, path: "b" }]);
  expect(concerns("xxd -le 1 a")).toBe(1);
  expect(concerns("xxd a b c")).toBe(1);
});

test.each([
  ["zcat", ["-rf", "."], 0],
  ["gzip", ["-c", "-9r", "."], 1],
  ["zstd", ["-dc", "--rec", "."], 1],
])("%s %j goes through folders", (name, args, index) => expect(judgeArguments(name, args).follows).toBe(index));

test("what sort takes for the name of its output is not read as an option", () => {
  const { files, writes } = judgeArguments("sort", ["-o", "-o", "x"]);
  expect(files).toEqual([{ index: 2, path: "x", use: "content" }]);
  expect(writes?.map(({ path }) => path)).toEqual(["-o", "-o"]);
});
