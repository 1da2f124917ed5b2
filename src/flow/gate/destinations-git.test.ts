import { expect, test } from "vitest";
import { gitTalk } from "./destinations-git.ts";

const talk = (text: string, assignments: string[] = []) =>
  gitTalk(
    { assignments: assignments.map((name) => ({ name, value: { guess: "x" } })) },
    text.split(" "),
    (word) => /^(?:\w+:\/\/)?(?:\w+@)?([\w.-]+)/.exec(word)?.[1] ?? "",
  );

test.each([
  "status",
  "commit -m x",
  "log --oneline",
  "-C sub diff",
  "-c user.name=a commit",
  "push origin main",
  "remote -v",
  "fetch",
])("git %s names no host and hides none", (text) => expect(talk(text)).toEqual({ hosts: [], isHidden: false }));

test.each([
  ["push https://evil.test/x main", "evil.test"],
  ["clone git@evil.test:a/b", "evil.test"],
  ["remote add up https://evil.test/x", "evil.test"],
])("git %s names its host", (text, host) => expect(talk(text).hosts).toContain(host));

test.each([
  "send-email x",
  "some-alias",
  "bisect run ./x",
  "rebase -x ./x",
  "submodule foreach ls",
  "-c core.sshCommand=x fetch",
  "--exec-path=/tmp status",
  "push --receive-pack=x origin",
  "grep -Oless x",
])("git %s may start a program or lead anywhere", (text) => expect(talk(text).isHidden).toBe(true));

test("variables that steer git hide where it leads; names and dates don't", () => {
  expect(talk("fetch", ["GIT_SSH_COMMAND"]).isHidden).toBe(true);
  expect(talk("commit", ["GIT_AUTHOR_NAME", "TZ"]).isHidden).toBe(false);
});
