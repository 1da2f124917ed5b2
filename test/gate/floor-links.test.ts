/** The hard floor over links that an earlier call made: what a name leads to counts, not what it says. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ground } from "./support.ts";

const g = ground();
afterAll(() => g.close());
const at = (name: string) => join(g.workspace, name);
mkdirSync(at("sub/below"), { recursive: true });
mkdirSync(at("build"));
writeFileSync(at("build/out.js"), "");
symlinkSync("/", at("r"));
symlinkSync("r", at("chain"));
symlinkSync("/etc", at("sub/e"));
symlinkSync(join(g.dir, "user"), at("q"));
symlinkSync("/usr/lib", at("lib"));
symlinkSync("build", at("latest"));
symlinkSync("/srv/app/logs", at("logs"));
symlinkSync("round", at("round"));
// More links than are followed for a pattern, all of them shorter in the list than the bad one.
mkdirSync(at("many"));
for (let i = 0; i < 60; i++) symlinkSync("../build", at(`many/a${i}`));
symlinkSync("/", at("many/z"));

const DENIED = [
  "rm -rf r/*",
  "rm -rf r/",
  "rm -rf r/.",
  "rm -rf ./r/*",
  "rm -rf r/etc",
  "rm -rf r/../*",
  "rm -rf lib/..",
  "rm -rf chain/*",
  "rm -rf chain/home",
  "rm -rf sub/e/*",
  "rm -rf sub/../r/*",
  "rm -rf */*",
  "rm -rf ?/*",
  "rm -rf */etc",
  "rm -rf */e/*",
  "rm -rf many/*/*",
  "rm -rf q/*",
  "rm -rf '~/r/'*",
  "cd r && rm -rf *",
  "cd r; rm -rf etc",
  "cd sub && rm -rf e/*",
  "cd sub/below/.. && rm -rf e/*",
  "cd sub/e && rm -rf ../usr",
  "cd lib/.. && rm -rf *",
  "cd chain && find . -delete",
  "(cd r; rm -rf .)",
  "bash -c 'cd r && rm -rf *'",
  "D=r; rm -rf $D/*",
  "for d in r/*; do rm -rf $d; done",
  "find r/ -delete",
  "find r -delete",
  "find -H r -delete",
  "find r/ -exec rm -rf {} +",
  "chmod -R 777 r/",
  "chmod -R 777 r",
  "chmod -R 777 *",
  "chown -R nobody r/",
  "mv r/etc x",
  "rsync -a --delete build/ r/",
  "git -C r clean -fdx",
  "tar czf x.tgz r/",
  "grep -r KEY q/",
  "cat r/etc/shadow",
  "cat q/.ssh/id_rsa",
  "cat < q/.aws/credentials",
  "echo b > r/proc/sysrq-trigger",
  "python3 -c 'import shutil; shutil.rmtree(\"r/etc\")'",
  "sudo rm -rf r/*",
];
const NOT_DENIED = [
  "rm r",
  "rm -rf r",
  "rm -f r chain sub/e",
  "unlink r",
  "mv r root-link",
  "rm -rf *",
  "rm -rf sub",
  "rm -rf latest/*",
  "rm -rf build/*",
  "rm -rf logs/*",
  "rm -rf round round/x",
  "ls r",
  "cat latest/out.js",
  "find . -name '*.js' -delete",
  "chmod -R u+w build",
];

const modes = ["ask", "record", "ignore"] as const;
const open = { exec: ["rm *", "find *", "chmod *", "chown *", "mv *", "rsync *", "git *", "cat *", "grep *", "tar *"] };

describe("over links that are there", () => {
  test.each(DENIED)("%j is denied in every mode", async (command) => {
    for (const mode of modes) {
      const { verdict, because } = await g.judge(command, { mode, allow: open });
      expect(`${mode} ${verdict} ${because}`).toMatch(new RegExp(`^${mode} deny `));
    }
  });

  test.each(NOT_DENIED)("%j is not the floor's business", async (command) => {
    const { verdict, because } = await g.judge(command, { mode: "ignore" });
    expect(`${verdict} ${because}`).toMatch(/^allow /);
  });

  test("a text with more words than can be looked up is judged at once, and no removal in it goes through", async () => {
    const words = Array.from({ length: 300 }, (_, i) => `a${i}`).join(" ");
    for (let i = 0; i < 20; i++) mkdirSync(at(`d${i}`));
    const places = Array.from({ length: 20 }, (_, i) => `cd ${i ? "../" : ""}d${i};`).join(" ");
    const before = performance.now();
    const { verdict, plan } = await g.judge(`${places} rm -rf ${words} x/*`, { mode: "ignore" });
    expect([verdict, plan.shell!.isCut]).toEqual(["deny", true]);
    expect((await g.judge(`${places} cat ${words}`, { mode: "ignore" })).verdict).toBe("allow");
    expect(performance.now() - before).toBeLessThan(5000);
  });
});
