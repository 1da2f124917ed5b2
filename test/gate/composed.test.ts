/** A fourth list of everyday commands: at most three in a hundred ask, what runs is what was typed, and no hostile twin runs. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMPOSED, COMPOSED_FILES, COMPOSED_RULES, TWINS } from "./composed.ts";
import { STUBS } from "./everyday.ts";
import { type Ground, ground } from "./support.ts";
import { TYPED_STUBS } from "./typed.ts";

let g: Ground;
beforeAll(() => {
  g = ground(COMPOSED_RULES);
  for (const name of [...STUBS, ...TYPED_STUBS, "od", "strings"]) {
    if (["/usr/local/bin", "/usr/bin", "/bin"].some((dir) => existsSync(join(dir, name)))) continue;
    writeFileSync(join(g.bin, name), "#!/bin/sh\n");
    chmodSync(join(g.bin, name), 0o755);
  }
  for (const file of COMPOSED_FILES) {
    mkdirSync(dirname(join(g.workspace, file)), { recursive: true });
    writeFileSync(join(g.workspace, file), `${file},1\nfoo,2\nTODO x\n`);
  }
  symlinkSync(g.out, join(g.workspace, "g/up"));
});
afterAll(() => g.close());

/** A variable that every later program gets may mean anything to one of them. */
const ASKED_STILL = ["export A=1 && env | grep A"];

test("of a fourth list of everyday commands, at most three in a hundred ask", async () => {
  const asked: string[] = [];
  const why: string[] = [];
  for (const command of COMPOSED) {
    const { verdict, because } = await g.judge(command);
    if (verdict === "allow") continue;
    asked.push(command);
    why.push(`${verdict} ${command}: ${because}`);
  }
  console.log(`False asks: ${asked.length} of ${COMPOSED.length}`);
  expect(asked, why.join("\n")).toEqual(ASKED_STILL);
  expect(asked.length / COMPOSED.length).toBeLessThanOrEqual(0.03);
});

test("what runs of the fourth list prints what the command as typed prints", async () => {
  const different: string[] = [];
  let compared = 0;
  for (const command of COMPOSED) {
    const { verdict, settled, plan } = await g.judge(command);
    if (verdict !== "allow" || !settled || /\b(sleep|time|git|npm|node|du|df|ps|pytest)\b|date($|[);])/.test(command))
      continue;
    const form = plan.shell!.settled!;
    const [one, other] = [shell(`cd '${form.cwd}'\n${form.run}`), shell(plan.shell!.text)];
    if (one !== other) different.push(`${command}\n${form.run}\n${one}\n--\n${other}`);
    compared++;
  }
  expect(different.join("\n\n")).toBe("");
  expect(compared).toBeGreaterThan(35);
});

/** What it prints, what it leaves behind and how it ends. */
function shell(script: string): string {
  const env = { PATH: `${g.bin}:/usr/local/bin:/usr/bin:/bin`, HOME: g.workspace, LANG: "C.UTF-8", LC_ALL: "C.UTF-8" };
  const made = "counts.txt report.txt report.md test.log all.txt shown.txt numbers.txt quoted.txt";
  const text = `${"("} ${script}\n); echo "ended $?"; cat ${made} 2>/dev/null; rm -f ${made}`;
  return execFileSync("/bin/bash", ["-c", `{ ${text}\n} 2>/dev/null | LC_ALL=C sort`], {
    cwd: g.workspace,
    env,
    encoding: "utf8",
  });
}

describe.each(Object.entries(TWINS))("hostile twins of %s ask (SHELL-9)", (_, commands) => {
  test.each(commands)("%s", async (command) => {
    expect((await g.judge(command)).verdict).not.toBe("allow");
  });
});
