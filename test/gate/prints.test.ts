/**
 * Commands that people allow, by what they print. That a command was allowed and ran says nothing: `git diff` once died on
 * every change with its output thrown away.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createBubblewrap } from "../../src/edges/tools/sandbox/bubblewrap.ts";
import { EVERY_WAY } from "../support/every-way.ts";
import { needs, notRun } from "../support/not-run.ts";
import { type Ground, ground } from "./support.ts";

const RULES = {
  exec: [
    ..."git ls cat head tail wc grep rg find sort uniq cut tr diff sed jq stat file du echo date pwd sha256sum mkdir touch"
      .split(" ")
      .map((name) => `${name} *`),
    "git add *",
    "git commit *",
    "npm test *",
    "node scripts/report.js *",
    "python3 tools/check.py *",
    "pwd",
  ],
  write: ["workspace/**"],
};

const PRINTS: readonly [command: string, prints: RegExp, needs?: string][] = [
  ["git status", /modified: +notes\.txt/],
  ["git status --short", /^ M notes\.txt\n/],
  ["git diff", /^diff --git a\/notes\.txt b\/notes\.txt\n[\s\S]*-two\n\+three\n\[exit 0/],
  ["git diff --stat", /notes\.txt \| 2 \+-/],
  ["git diff HEAD~1", /-one\n\+three/],
  ["git diff HEAD -- notes.txt 2>&1 | grep three", /^\+three\n\[exit 0/],
  ["git diff --no-ext-diff", /\+three/],
  ["git log --oneline", /^[0-9a-f]+ second\n[0-9a-f]+ first\n\[exit 0/],
  ["git log -p -1", /second[\s\S]*-one\n\+two/],
  ["git show", /second[\s\S]*\+two/],
  ["git show HEAD~1:notes.txt", /^one\n\[exit 0/],
  ["git blame notes.txt", /three\n/],
  ["git branch --show-current", /^work\n/],
  ["git ls-files", /^data\.json\nnotes\.txt/],
  ["git grep three", /^notes\.txt:three\n/],
  ["git rev-parse --abbrev-ref HEAD", /^work\n/],
  ["ls", /^data\.json\nnotes\.txt\npackage\.json\nscripts\ntools\n/],
  ["ls -la 2>&1", /notes\.txt/],
  ["cat notes.txt", /^three\n\[exit 0/],
  ["cat < notes.txt", /^three\n\[exit 0/],
  ["head -n 1 notes.txt", /^three\n/],
  ["tail -n 1 notes.txt", /^three\n/],
  ["wc -l notes.txt", /^1 notes\.txt\n/],
  ["grep -n three notes.txt", /^1:three\n/],
  ["grep -rn three . --include=notes.txt", /^\.\/notes\.txt:1:three\n/],
  ["rg three", /^notes\.txt:(1:)?three\n/, "rg"],
  ["find . -name 'notes*'", /^\.\/notes\.txt\n/],
  ["jq .name data.json", /^"lares"\n/, "jq"],
  ["cat data.json | jq -r .name", /^lares\n/, "jq"],
  ["sort notes.txt | uniq -c", /1 three\n/],
  ["sed -n 1,1p notes.txt", /^three\n/],
  ["diff notes.txt data.json", /^1c1\n< three\n/],
  ["stat -c %s notes.txt", /^6\n/],
  ["du -a notes.txt 2>/dev/null", /notes\.txt\n/],
  ["sha256sum notes.txt", /^[0-9a-f]{64} {2}notes\.txt\n/],
  ["echo one two", /^one two\n\[exit 0/],
  ["pwd", /\/workspace\n/],
  ["cat no-such-file 2>&1 | head -1", /No such file/],
  ["sort notes.txt > sorted.txt && cat sorted.txt", /^three\n/],
  ["npm test", /the suite ran/, "npm"],
  ["npm test 2>&1 | tail -3", /the suite ran/, "npm"],
  ["node scripts/report.js --month 10", /^report --month 10\n/],
  ["python3 tools/check.py --strict", /^checked --strict\n/, "python3"],
  ["mkdir -p deep/er && ls deep", /^er\n/],
  ["git add notes.txt && git commit -m third", /third[\s\S]*1 file changed/],
];

const SYSTEM = ["/usr/local/bin", "/usr/bin", "/bin"];
const isHere = (name: string) => SYSTEM.some((dir) => existsSync(join(dir, name)));
const bubblewrap = await createBubblewrap().available();

describe.each([
  ["without a sandbox", false],
  ["in the sandbox", true],
] as const)("%s", (where, sandboxed) => {
  const isReady =
    needs("git", `what allowed commands print ${where}`) &&
    (!sandboxed || needs("bwrap", `what allowed commands print ${where}`, bubblewrap.ok));
  if (!isReady) {
    test.skip("needs git, and bubblewrap in the sandbox");
    return;
  }
  const g = ground(RULES, sandboxed);
  afterAll(() => g.close());
  prepare(g);
  // The strictest place that is here gets them all, the other one every fifth; `npm run test:gate` runs all in both.
  const isSample = !EVERY_WAY && sandboxed !== bubblewrap.ok;
  for (const [command, prints, program] of PRINTS.filter((_, i) => !isSample || i % 5 === 0)) {
    const isMissing = program !== undefined && !isThere(program, `${command} ${where}`);
    test.skipIf(isMissing)(`${command} prints what it should`, async () => {
      const { verdict, because } = await g.judge(command);
      expect(`${verdict}: ${because}`).toMatch(/^allow/);
      expect(await g.run(command)).toMatch(prints);
    });
  }
});

/** npm comes with Node, which may be in a folder of its own; the commands here see the system's only. */
function isThere(program: string, what: string): boolean {
  if (program !== "npm") return needs(program, what, isHere(program));
  if (!isHere("npm")) notRun(what, "Run it where npm is in a folder of the system, such as /usr/local/bin.");
  return isHere("npm");
}

function prepare(g: Ground): void {
  const at = (path: string) => join(g.workspace, path);
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: g.workspace, stdio: "ignore", env: { PATH: "/usr/bin:/bin", HOME: g.dir } });
  for (const dir of ["scripts", "tools"]) mkdirSync(at(dir));
  execFileSync("rm", ["a.txt", "evil.sh"], { cwd: g.workspace });
  writeFileSync(at("notes.txt"), "one\n");
  writeFileSync(at("data.json"), '{"name": "lares"}\n');
  git("init", "-q", "-b", "work");
  git("config", "user.name", "somebody");
  git("config", "user.email", "somebody@example.com");
  git("add", ".");
  git("commit", "-qm", "first");
  writeFileSync(at("notes.txt"), "two\n");
  git("commit", "-qam", "second");
  writeFileSync(at("notes.txt"), "three\n");
  writeFileSync(at("package.json"), '{"name": "x", "scripts": {"test": "echo the suite ran"}}\n');
  writeFileSync(at("scripts/report.js"), 'console.log("report", ...process.argv.slice(2));\n');
  writeFileSync(at("tools/check.py"), 'import sys\nprint("checked", *sys.argv[1:])\n');
}
