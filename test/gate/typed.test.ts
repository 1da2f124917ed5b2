/** A third list of everyday commands: at most three in a hundred ask, what runs is what was typed, and no dangerous look-alike runs. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { STUBS } from "./everyday.ts";
import { type Ground, ground } from "./support.ts";
import { LOOK_ALIKES, TYPED, TYPED_FILES, TYPED_RULES, TYPED_STUBS } from "./typed.ts";

let g: Ground;
beforeAll(() => {
  g = made();
});
afterAll(() => g.close());

function made(): Ground {
  const here = ground(TYPED_RULES);
  for (const name of [...STUBS, ...TYPED_STUBS]) {
    if (["/usr/local/bin", "/usr/bin", "/bin"].some((dir) => existsSync(join(dir, name)))) continue;
    writeFileSync(join(here.bin, name), "#!/bin/sh\n");
    chmodSync(join(here.bin, name), 0o755);
  }
  for (const file of TYPED_FILES) {
    mkdirSync(dirname(join(here.workspace, file)), { recursive: true });
    writeFileSync(join(here.workspace, file), `${file},1\nfoo,2\nTODO x\n`);
  }
  return here;
}

/** Names that nobody has seen become arguments of another program, or are put into its words. */
const ASKED_STILL = ["find . -maxdepth 1 -type d -exec ls -d {} \\;", "grep -l foo *.txt | xargs -r head -n 1"];

test("of a third list of everyday commands, at most three in a hundred ask", async () => {
  const asked: string[] = [];
  const why: string[] = [];
  for (const command of TYPED) {
    const { verdict, because } = await g.judge(command);
    if (verdict === "allow") continue;
    asked.push(command);
    why.push(`${verdict} ${command}: ${because}`);
  }
  console.log(`False asks: ${asked.length} of ${TYPED.length}`);
  expect(asked, why.join("\n")).toEqual(ASKED_STILL);
  expect(asked.length / TYPED.length).toBeLessThanOrEqual(0.03);
});

test("what runs of the third list prints what the command as typed prints", async () => {
  const different: string[] = [];
  let compared = 0;
  for (const command of TYPED) {
    const { verdict, settled, plan } = await g.judge(command);
    if (verdict !== "allow" || !settled || /\b(date|sleep|time|git|npm|node|du|df|ps|seq 1 10)\b/.test(command))
      continue;
    const form = plan.shell!.settled!;
    const [one, other] = [shell(`cd '${form.cwd}'\n${form.run}`), shell(plan.shell!.text)];
    if (one !== other) different.push(`${command}\n${form.run}\n${one}\n--\n${other}`);
    compared++;
  }
  expect(different.join("\n\n")).toBe("");
  expect(compared).toBeGreaterThan(20);
});

function shell(script: string): string {
  const env = { PATH: `${g.bin}:/usr/local/bin:/usr/bin:/bin`, HOME: g.workspace, LANG: "C.UTF-8", LC_ALL: "C.UTF-8" };
  const sorted = `{ ${script}\n} 2>/dev/null | LC_ALL=C sort`;
  return execFileSync("/bin/bash", ["-c", sorted], { cwd: g.workspace, env, encoding: "utf8" });
}

describe.each(Object.entries(LOOK_ALIKES))("look-alikes of %s ask (SHELL-8)", (_, commands) => {
  test.each(commands)("%s", async (command) => {
    expect((await g.judge(command)).verdict).not.toBe("allow");
  });
});
