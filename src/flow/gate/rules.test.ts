import { describe, expect, test } from "vitest";
import { isLoaded, isStanding, parseExecRule } from "./rules.ts";

describe("a rule for commands", () => {
  test.each([
    ["git status", ["git", "status"], false],
    ["git status *", ["git", "status"], true],
    ["npm run 'build all'", ["npm", "run", "build all"], false],
    ["ls *.ts", ["ls", "*.ts"], false],
    ["grep 'a|b' *", ["grep", "a|b"], true],
  ])("%s is words, and open when it ends in a star", (text, words, open) => {
    expect(parseExecRule(text)).toEqual({ text, words, open });
  });

  test.each([
    ["", /must name a program/],
    ["*", /every program/],
    ["** x", /every program/],
    ["git log | sh", /shell syntax/],
    ["echo $HOME", /shell syntax/],
    ["echo 'a", /quote that is never closed/],
  ])("%j cannot be used", (text, why) => expect(parseExecRule(text).problem).toMatch(why));
});

test.each([
  "AGENTS.md",
  "a/MEMORY.md",
  "skills",
  "skills/x/run.sh",
  ".git/hooks/pre-commit",
  ".github",
  "agents.md",
  "Soul.md",
  "CLAUDE.local.md",
])("%s is a file that instructs later turns, or a folder of such files", (path) => expect(isStanding(path)).toBe(true));
test.each(["docs/user.md", "README.md", "myskills/x", "MEMORY.md.txt"])("%s is not", (path) =>
  expect(isStanding(path)).toBe(false),
);

test("a file that other programs obey is known by its place in the agent's own folder", () => {
  const place = { workspace: "/home/a/.config/lares/agent", roots: ["/srv/code"] };
  expect(isLoaded("/home/a/.config/lares/agent/notes.md", place)).toBe(false);
  expect(isLoaded("/home/a/.config/lares/agent/.config/git/config", place)).toBe(true);
  expect(isLoaded("/srv/code/.envrc", place)).toBe(true);
  expect(isLoaded("/srv/code/envrc", place)).toBe(false);
  expect(isLoaded("/home/a/.bashrc", place)).toBe(true);
});
