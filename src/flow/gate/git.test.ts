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

/** `--open-files-in-pager` and its like, cut short, or behind a `--` that is the value of the option before it. */
test.each([
  "grep -e -- --open=pwn",
  "grep -e -- --open-file=pwn",
  "grep -e -- -Opwn",
  "grep -A -- --open-files-in-pager=pwn x",
  "grep x -C -- --no-index",
  "log -S -- --output=x",
  "log -G -- --outp=x",
  "diff -S -- --ext-diff",
  "blame -L -- --contents=x a.txt",
  "branch --contains -- -D main",
  "grep x -- --open=pwn",
  "fetch --upl=pwn .",
  "fetch --upload-p pwn .",
  "pull --upl=pwn .",
  "ls-remote --exe=pwn .",
  "push --exe=pwn . HEAD",
  "push --rece=pwn . HEAD",
  "cherry-pick --strat=../x HEAD",
  "merge --into-name -m --strategy=x",
  "commit --author -m --templ=x",
])("git %s concerns a word behind the subcommand", (text) => {
  const args = text.split(" ");
  expect(judgeGit(args).concerns.some(({ index }) => index > 0)).toBe(true);
});

test.each(["upload-pack", "receive-pack", "exec", "template", "gpg-sign", "output", "recurse-submodules", "strategy"])(
  "every beginning of --%s concerns",
  (option) => {
    for (const name of [
      "fetch",
      "pull",
      "push",
      "ls-remote",
      "commit",
      "merge",
      "checkout",
      "add",
      "revert",
      "log",
      "grep",
    ])
      for (let length = 1; length <= option.length; length++) {
        const word = `--${option.slice(0, length)}=x`;
        expect(
          judgeGit([name, word]).concerns.map(({ index }) => index),
          `git ${name} ${word}`,
        ).toContain(1);
      }
  },
);

test.each(["log -- src", "grep -n -e x -- src", "log -S x -- src", "diff --stat -- src/*.ts"])(
  "git %s still only looks",
  (text) => expect(judgeGit(text.split(" ")).concerns).toEqual([]),
);

test.each([
  ["commit --author -m --file=.env", 3, false],
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
