/** A repository whose settings name programs: looking at it must not run them without asking. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { gitEnvironment } from "../../src/edges/tools/exec/git.ts";
import { judgeGit } from "../../src/flow/gate/git.ts";
import { needs } from "../support/index.ts";
import { ground } from "./support.ts";

const g = ground({ exec: ["git *"] });
afterAll(() => g.close());
const at = (path: string) => join(g.workspace, path);
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], {
    cwd: g.workspace,
    stdio: "ignore",
    env: { PATH: "/usr/bin:/bin", HOME: g.dir },
  });
const LOOKS = [
  "git status",
  "git diff",
  "git log -p",
  "git show",
  "git branch",
  "git ls-files -m",
  "git diff HEAD~1",
  "git blame a.txt",
  "git grep alpha",
  "git stash list",
];

describe.skipIf(!needs("git", "repositories whose settings name programs"))("a repository", () => {
  beforeEach(() => {
    rmSync(at(".git"), { recursive: true, force: true });
    rmSync(at(".gitattributes"), { force: true });
    rmSync(at(".gitconfig"), { force: true });
    writeFileSync(at("a.txt"), "alpha\n");
    git("init", "-q");
    git("add", "a.txt");
    git("commit", "-qm", "one");
    writeFileSync(at("a.txt"), "beta\n");
    git("commit", "-qam", "two");
    writeFileSync(at("a.txt"), "gamma\n");
  });

  test("an ordinary repository is looked at without asking", async () => {
    git("remote", "add", "origin", "https://example.com/x.git");
    git("config", "user.name", "somebody");
    for (const command of LOOKS) expect((await g.judge(command)).verdict, command).toBe("allow");
    expect(await g.run("git log --oneline")).toMatch(/two\n.*one\n/);
    expect(await g.run("git status --short")).toContain("M a.txt");
  });

  test.each([
    ["core.fsmonitor", "pwn"],
    ["core.pager", "pwn"],
    ["core.sshCommand", "pwn"],
    ["core.hooksPath", "hooks"],
    ["diff.external", "pwn"],
    ["diff.x.command", "pwn"],
    ["diff.x.textconv", "pwn"],
    ["filter.x.clean", "pwn"],
    ["filter.x.process", "pwn"],
    ["alias.status", "!pwn"],
    ["alias.x", "!pwn"],
    ["include.path", "../evil"],
    ["gpg.program", "pwn"],
    ["credential.helper", "!pwn"],
    ["remote.origin.url", "ext::pwn"],
    ["remote.origin.uploadpack", "pwn"],
    ["pager.log", "pwn"],
    ["url.ext::pwn.insteadOf", "https://x"],
    ["submodule.x.update", "!pwn"],
    ["some.new.key", "pwn"],
  ])("%s=%s in the repository's settings asks, and the setting is shown", async (key, value) => {
    git("config", key, value);
    writeFileSync(at(".gitattributes"), "* diff=x filter=x\n");
    for (const command of LOOKS) {
      const { verdict, plan } = await g.judge(command);
      expect(verdict, command).toBe("ask");
      expect(plan.shown.toLowerCase()).toContain(`${key}=${value}`.toLowerCase());
    }
  });

  test("settings in the commands' home count as the repository's", async () => {
    writeFileSync(at(".gitconfig"), "[core]\n\tfsmonitor = pwn\n");
    expect((await g.judge("git status")).verdict).toBe("ask");
  });

  test("hooks and monitors do not run when git only looks, even if they appear after the judgement", async () => {
    mkdirSync(at(".git/hooks"), { recursive: true });
    for (const hook of ["post-index-change", "pre-commit", "post-checkout", "reference-transaction"]) {
      writeFileSync(at(`.git/hooks/${hook}`), `#!/bin/sh\n${g.bin}/pwn\n`);
      chmodSync(at(`.git/hooks/${hook}`), 0o755);
    }
    for (const command of LOOKS) {
      expect((await g.judge(command)).verdict, command).toBe("allow");
      await g.run(command);
    }
    git("config", "core.fsmonitor", `${g.bin}/pwn`);
    git("config", "diff.external", `${g.bin}/pwn`);
    for (const command of LOOKS) await g.run(command);
    expect(g.pwned()).toBe(false);
  });

  test("every subcommand that the gate lets look runs with hooks and monitors switched off", () => {
    const names = execFileSync("git", ["--list-cmds=main"], { encoding: "utf8" }).split("\n").filter(Boolean);
    const looks = names.filter((name) => judgeGit([name]).concerns.length === 0);
    expect(looks).toContain("merge-base");
    expect(looks.filter((name) => gitEnvironment([name]) === undefined)).toEqual([]);
  });
});

describe("an option that starts a program asks under the rule of its subcommand, also cut short", () => {
  const talking = ground({
    exec: ["fetch", "pull", "ls-remote", "push", "cherry-pick"].map((name) => `git ${name} *`),
  });
  afterAll(() => talking.close());

  test.each([
    "git fetch --upl='touch m;' .",
    "git fetch --upload-p pwn .",
    "git fetch --upload-pack=pwn .",
    "git pull --upl=pwn .",
    "git pull --strat=../x .",
    "git ls-remote --exe=pwn .",
    "git ls-remote --up pwn .",
    "git push --exe=pwn . HEAD",
    "git push --rece=pwn . HEAD",
    "git push --e pwn . HEAD",
    "git cherry-pick --strat=../x HEAD",
  ])("%s", async (command) => {
    expect((await talking.judge(command)).verdict).toBe("ask");
  });

  test.each(["git fetch --prune origin", "git push --force-with-lease origin main", "git pull --rebase --tags"])(
    "%s does not ask",
    async (command) => expect(await talking.judge(command)).toMatchObject({ verdict: "allow" }),
  );
});
