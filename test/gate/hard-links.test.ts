/** A file has as many names as it has hard links, and what is written to one is in all of them. */
import { linkSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ground } from "./support.ts";

const g = ground({ exec: ["echo *", "cp *", "cat *", "wc *", "tee *", "sort *"], write: ["workspace/**"] });
afterAll(() => g.close());
const agentDir = dirname(g.workspace);
mkdirSync(join(agentDir, "memory"));
for (const name of ["AGENTS.md", "memory/today.md"]) writeFileSync(join(agentDir, name), "mine\n");
linkSync(join(agentDir, "AGENTS.md"), join(g.workspace, "plan.txt"));
linkSync(join(agentDir, "memory/today.md"), join(g.workspace, "log.txt"));
writeFileSync(join(g.workspace, "own.txt"), "one\n");

const TRUSTED = { mode: "record" as const, tainted: true };

test.each([
  "ln ../AGENTS.md notes",
  "ln -t . ../memory/today.md",
  "link ../memory/today.md n",
  "cp -l ../memory/today.md n",
  "cp -rl ../memory m",
  "cd .. && ln memory/today.md workspace/n",
  "find .. -name today.md -exec ln {} n \\;",
  'ln "$(echo ../memory/today.md)" n',
])("after text from outside nothing gives the agent's own files another name: %s", async (command) => {
  expect((await g.judge(command, TRUSTED)).verdict).toBe("ask");
});

test.each([
  "echo x > plan.txt",
  "echo x >> log.txt",
  "echo x | tee -a log.txt",
  "cp own.txt plan.txt",
  "sed -i s/a/b/ plan.txt",
  "dd if=own.txt of=plan.txt",
  "sort -oplan.txt own.txt",
  "for f in own.txt plan.txt; do echo x > $f; done",
  "{ echo x; } > plan.txt",
  "cd . && echo x > plan.txt",
])("nor are they written by a name that was there before: %s", async (command) => {
  expect((await g.judge(command, TRUSTED)).verdict).toBe("ask");
});

test.each([
  "echo x > plan.txt",
  "echo x | tee log.txt",
  "cp own.txt plan.txt",
  "sort -o plan.txt own.txt",
  "sort -oplan.txt own.txt",
])("a rule for writing in the workspace does not cover a file with other names: %s", async (command) => {
  expect((await g.judge(command)).verdict).toBe("ask");
});

test.each(["cat plan.txt", "wc -l *.txt", "echo x > own.txt", "cp own.txt copy.txt", "sort < log.txt"])(
  "reading such a file, and writing others, goes on: %s",
  async (command) => {
    expect((await g.judge(command)).verdict).toBe("allow");
    expect((await g.judge(command, TRUSTED)).verdict).toBe("allow");
  },
);
