import { expect, test } from "vitest";
import { floor, unseenRemoval } from "./floor.ts";
import { execPlan, PLACE, plainShell } from "./testing.ts";

test.each([
  "rm -rf /",
  "rm -rf ~",
  "cd / && rm -rf *",
  "ln -s / r && rm -rf r/",
  "mkfs.ext4 /dev/sda1",
  "dd if=x of=/dev/sda",
  "shutdown now",
  "cat /etc/shadow",
  "lares approve abc123",
  "cat ~/.ssh/id_ed25519",
])("%s is denied in every mode", (text) => expect(floor(execPlan(text), PLACE)).toBeTypeOf("string"));

test.each(["rm -rf build", "ls /", "cat notes.md", "git status", "lares status", "cd sub && rm -rf dist"])(
  "%s is not the floor's",
  (text) => expect(floor(execPlan(text), PLACE)).toBeUndefined(),
);

test("policy and rights are people's, files of secrets are closed to file tools, what can't be parsed can't be judged", () => {
  const plan = { tool: "read", risk: "read", targets: ["~/.ssh/config"], shown: "", binding: {} } as const;
  expect(floor({ ...plan, targets: [...plan.targets] }, PLACE)).toMatch(/off limits/);
  expect(floor({ ...plan, targets: [], changes: "policy" }, PLACE)).toMatch(/Only people/);
  const reasons = [{ kind: "unparsed" as const, text: "No." }];
  expect(floor(execPlan("ls", {}, { reasons }), PLACE)).toMatch(/parsed/);
});

test("a removal of what is known only when it runs is recognised", () => {
  const shell = plainShell("rm -rf x");
  expect(unseenRemoval(shell)).toBeUndefined();
  shell.commands[0]!.words[2] = { guess: "*", isUnseen: true };
  expect(unseenRemoval(shell)).toMatch(/only known when it runs/);
});
