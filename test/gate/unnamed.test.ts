/** What a command reaches by the folder it stands in, by a folder it names, or on its way through one. */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decide } from "../../src/flow/gate/index.ts";
import { needs } from "../support/index.ts";
import { BLIND_RULES } from "./blind.ts";
import { type Ground, ground } from "./support.ts";

let g: Ground;
const RULES = { ...BLIND_RULES, exec: [...BLIND_RULES.exec!, "xxd *", "rm *", "chmod *", "rgrep *"] };
beforeAll(() => {
  g = ground(RULES);
  const file = (path: string, text = "x\n") => {
    mkdirSync(dirname(join(g.workspace, path)), { recursive: true });
    writeFileSync(join(g.workspace, path), text);
  };
  for (const path of ["README.md", "evil.cfg", "src/app.ts", "src/lib/deep.ts", "docs/a.md", "skills/x/SKILL.md"])
    file(path);
  for (const path of [".git/HEAD", ".git/config", ".git/info/exclude", ".git/hooks/pre-commit.sample"]) file(path);
  for (const path of ["store/HEAD", "store/config", "store/objects/a", "store/refs/a"]) file(path);
  for (const path of ["d1/own.txt", "d2/q", "plain1/a.md", "plain2/a.md", "deep/d1/sub/ok.txt"]) file(path);
  file(".env", "TOKEN=s3cret\n");
  file("keys/server.key");
  mkdirSync(join(g.workspace, ".claude"));
  writeFileSync(join(g.out, "victim"), "victim\n");
  symlinkSync(join(g.out, "victim"), join(g.workspace, "d1/a.txt"));
  symlinkSync(join(g.out, "secret"), join(g.workspace, "d1/README.md"));
  symlinkSync(join(g.out, "victim"), join(g.workspace, "deep/d1/sub/a.txt"));
  symlinkSync(".git", join(g.workspace, "gitlink"));
  linkSync(join(g.out, "victim"), join(g.workspace, "plain1/in.txt"));
});
afterAll(() => g.close());

const verdictOf = async (command: string, cwd?: string) => decide(g.policy, await g.plan(command, cwd)).verdict;

describe("a word is judged from the folder its command stands in", () => {
  test.each<[command: string, cwd?: string]>([
    ["cd .git && cp ../evil.cfg config"],
    ["cd .git && cp ../evil.cfg config && cp ../a.txt info/attributes && cd .. && git add a.txt"],
    ["cd .git && mv hooks/pre-commit.sample hooks/pre-commit && cp ../a.txt hooks/pre-commit"],
    ["cp ../evil.cfg config", ".git"],
    ["mv hooks/pre-commit.sample hooks/pre-commit", ".git"],
    ["touch x", ".git/hooks"],
    ["cp ../../a.txt y", "skills/x"],
    ["cp ../a.txt settings.json", ".claude"],
    ["cd skills && cp ../a.txt x.md"],
    ["cd .claude && cp ../a.txt settings.json"],
    // A folder as the target.
    ["cp a.txt skills"],
    ["cp a.txt .claude"],
    ["cp a.txt .git"],
    ["mv a.txt .git"],
    ["cp -t .git a.txt"],
    ["cp -t.git a.txt"],
    ["cp --target-directory=.git a.txt"],
    ["cp docs/AGENTS.md ."],
    ["cp a.txt AGENTS.md"],
    // A repository that is not called .git.
    ["cp evil.cfg store/config"],
    ["cd store && cp ../evil.cfg config"],
    ["cp ../evil.cfg config", "store"],
    ["cp evil.cfg store"],
    ["cp -t store evil.cfg"],
    ["echo x > store/config"],
    ["echo x | tee store/config"],
    ["sort -o store/config a.txt"],
    // A link in the workspace.
    ["cp evil.cfg gitlink/config"],
    ["echo x > gitlink/config"],
  ])("%s (in %s) asks", async (command, cwd) => {
    expect(await verdictOf(command, cwd)).toBe("ask");
  });

  test.each<[command: string, cwd?: string]>([
    ["cp app.ts other.ts", "src"],
    ["cp ../a.txt .", "src"],
    ["cp a.txt b.txt"],
    ["cp a.txt src"],
    ["mv a.txt docs/b.txt"],
    ["cat store/config"],
    ["cat config", "store"],
    ["mkdir -p out/new"],
    ["touch src/new.ts"],
  ])("%s (in %s) does not", async (command, cwd) => {
    expect(await verdictOf(command, cwd)).toBe("allow");
  });
});

describe("git after a command that may have written its settings", () => {
  test.each([
    "cp evil.cfg config && git status",
    "cp a.txt HEAD; git add a.txt",
    "cp -r d2 d3 && git status",
    "echo x > config && git log",
    "echo x | tee config && git status",
    "sort -o config a.txt && git status",
    "for f in config; do cp a.txt $f; done; git status",
  ])("%s asks", async (command) => {
    expect(await verdictOf(command)).toBe("ask");
  });

  test.each([
    "cp a.txt b.txt && git add b.txt",
    "echo x > out.txt && git add out.txt",
    "git status && cp a.txt config",
    "npm test && git status",
    "sort a.txt && git diff",
    "mkdir -p out && git status",
  ])("%s does not", async (command) => {
    expect(await verdictOf(command)).toBe("allow");
  });
});

describe("what is written into a folder, or compared in one", () => {
  test.each([
    "cp a.txt d1",
    "cp a.txt d1/",
    "cp -t d1 a.txt",
    "cp -td1 a.txt",
    "cp --target-directory=d1 a.txt",
    "cp src/app.ts a.txt d1",
    "cp docs/a.md plain1/in.txt d1/a.txt",
    "mv a.txt d1",
    // With other names.
    "cp d2/in.txt plain1",
    // All that is in it.
    "cp -r d1 deep",
    "cp -r d1/. d1",
    "diff d1 README.md",
    "diff README.md d1",
    "diff d1 d2",
    "diff d2 d1",
  ])("%s asks", async (command) => {
    expect(await verdictOf(command)).toBe("ask");
  });

  test.each([
    "cp a.txt d2",
    "cp own.txt d1",
    "cp src/app.ts docs",
    "diff plain2 README.md",
    "diff d2 plain2",
    "cp -r docs plain2",
  ])("%s does not", async (command) => {
    expect(await verdictOf(command)).toBe("allow");
  });
});

describe("the second file of xxd is written", () => {
  const LOOKS_ONLY = { exec: ["xxd *"] };
  test.each(["xxd a.txt evil.sh", "xxd -p a.txt out.hex", "xxd -r -p a.txt AGENTS.md", "xxd -s -10 -c 4 a.txt x"])(
    "%s asks where only looking is allowed",
    async (command) => {
      expect((await g.judge(command, { allow: LOOKS_ONLY })).verdict).toBe("ask");
    },
  );
  test.each(["xxd a.txt", "xxd -l 64 a.txt", "xxd -s -10 -c 4 a.txt", "xxd -p -c8 a.txt"])(
    "%s does not",
    async (command) => {
      expect((await g.judge(command, { allow: LOOKS_ONLY })).verdict).toBe("allow");
    },
  );
  test("and git is judged again after it", async () => {
    expect(await verdictOf("xxd -r a.txt config && git status")).toBe("ask");
  });
});

describe("files of secrets, whatever program gets them", () => {
  test.each([
    "rev .env",
    "rev .env | rev",
    "base64 .env",
    "base64 keys/server.key",
    "column .env",
    "cp .env z.txt",
    "cp .env z.txt && cat z.txt",
    "mv .env z.txt",
    "xxd .env",
    "rev env | cp ./.env x",
    "rev .env.local",
    "git diff /dev/null .env",
    "git diff -- .env",
    "git show HEAD:.env",
    "git log -p -- .env",
    "git log -Sx -- .env",
    "git blame .env",
    "git cat-file -p HEAD:.env",
    "git grep --untracked -e '' -- .env",
    "for f in .env; do rev $f; done",
    'x=.en; rev "$x"v',
    "for f in .e*; do base64 $f; done",
    // A search that would meet them.
    "grep -r '' .",
    "grep -rn x",
    "grep -r src",
    "grep -rn -A 3 src",
    "grep -re x keys",
    "grep --include=.env -r '' .",
    "grep --include='*' -rn x .",
    "grep -d recurse x .",
    "grep --directories=recurse x .",
    "rg -uuu x",
    "rg --hidden x",
    "rg x keys",
    "rg -g .env x",
    "rg -g '!*.key' -g '*.key' x",
    "rg -g '!docs/*' x",
    "rg -g '*' x",
    "cd src && grep -r -eA ../keys",
    "cd src && grep -reA ../keys docs",
    "rgrep x .",
    "diff keys docs",
    "diff -r keys docs",
    "diff -N docs keys",
    "diff -r -x '*' -N . docs",
    "git diff --no-index keys docs",
    "git diff --no-index -- . docs",
    "git grep --untracked x",
  ])("%s asks", async (command) => {
    expect(await verdictOf(command)).not.toBe("allow");
  });

  test.each([
    "ls -la .env",
    "stat .env",
    "test -f .env",
    "rm .env",
    "chmod 600 .env",
    "touch .env",
    "cp .env.example b.txt",
    "git add .env",
    "git log --oneline -- .env",
    "git show --stat HEAD -- .env",
    "git status",
    "git commit -m 'read .env first'",
    "sha256sum .env",
    "grep -rn x src",
    "grep -rn x . --include=*.ts",
    "grep -rn x . --exclude=.env --exclude-dir=keys",
    "grep -rn x docs src/lib",
    "grep x a.txt",
    "rg x src",
    "rg x -g '*.ts'",
    "rg --files",
    "rg x -g '!keys'",
    "rg -n -A 2 x src",
    "rg -g '*.ts' -g '!*.test.ts' x",
    "diff -r docs src --no-dereference",
    "diff -q keys docs",
    "diff . a.txt",
    "diff -N . docs -x .env",
    "git diff src docs",
    "git grep x",
  ])("%s does not", async (command) => {
    expect(await verdictOf(command)).toBe("allow");
  });
});

describe.skipIf(!needs("git", "a search through what git knows"))("in a repository", () => {
  test("git grep asks where git knows a file of secrets that it would search", async () => {
    const here = ground(RULES);
    try {
      mkdirSync(join(here.workspace, "src"));
      mkdirSync(join(here.workspace, "deploy"));
      for (const file of [".env", "src/app.ts", "deploy/site.pem"]) writeFileSync(join(here.workspace, file), "x\n");
      const git = (...args: string[]) => execFileSync("git", args, { cwd: here.workspace, stdio: "ignore" });
      git("init", "-q");
      git("add", "src");
      expect((await here.judge("git grep x")).verdict).toBe("allow");
      git("add", "deploy");
      expect((await here.judge("git grep x")).verdict).toBe("ask");
      expect((await here.judge("git grep x -- src")).verdict).toBe("allow");
      expect((await here.judge("git grep x -- deploy")).verdict).toBe("ask");
    } finally {
      here.close();
    }
  });

  test("settings written in the same text do not run", async () => {
    const here = ground(RULES);
    try {
      execFileSync("git", ["init", "-q"], { cwd: here.workspace });
      writeFileSync(join(here.workspace, "evil.cfg"), '[filter "x"]\n\tclean = pwn\n');
      writeFileSync(join(here.workspace, "attrs"), "* filter=x\n");
      const command = "cd .git && cp ../evil.cfg config && cp ../attrs info/attributes && cd .. && git add a.txt";
      const { verdict, settled, plan } = await here.judge(command);
      if (verdict === "allow") await here.run(command, settled && plan.shell!.settled!.run);
      expect(here.pwned()).toBe(false);
      expect(verdict).toBe("ask");
    } finally {
      here.close();
    }
  });
});
