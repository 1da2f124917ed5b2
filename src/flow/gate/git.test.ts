import { expect, test } from "vitest";
import { isGitText, judgeGit } from "./git.ts";

test.each(["status", "log --oneline -n 3", "diff --stat", "show HEAD", "branch", "--no-pager log"])(
  "git %s only looks",
  (text) => expect(judgeGit(text.split(" ")).concerns).toEqual([]),
);
test.each(["-c core.pager=x log", "push origin", "frob", "log --output=x", "diff --ext-diff", "stash pop"])(
  "git %s concerns",
  (text) => expect(judgeGit(text.split(" ")).concerns).not.toEqual([]),
);

test.each([
  ["commit -m /etc/passwd", 2, true],
  ["log --grep=/x", 1, true],
  ["grep /x src", 1, true],
  ["grep /x src", 2, false],
  ["grep -e /x src", 2, false],
  ["log -- --grep=x", 2, false],
  ["add /x", 1, false],
])("in git %s, whether word %i is text: %s", (text, index, isText) =>
  expect(isGitText(text.split(" "), index)).toBe(isText),
);
