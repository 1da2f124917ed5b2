import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { needs } from "../../../test/support/not-run.ts";
import { testRecords } from "../../../test/support/records.ts";
import { ManualClock, noCrash, silentLog } from "../../core/kit/index.ts";
import { GitWorktrees } from "./index.ts";

const never = new AbortController().signal;

/** A repository with one commit, in a folder that the agent may work in. */
async function open() {
  const { records, home } = await testRecords("worktrees");
  const root = join(home, "code");
  const repository = join(root, "app");
  mkdirSync(repository, { recursive: true });
  const run = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ana", "-c", "user.email=ana@example.com", ...args], {
      cwd,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" },
    }).trim();
  const git = (...args: string[]) => run(repository, ...args);
  git("init", "-q", "-b", "main");
  writeFileSync(join(repository, "a.txt"), "one\n");
  writeFileSync(join(repository, ".gitignore"), "ignored/\n");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  const locked: string[] = [];
  const make = () =>
    new GitWorktrees({
      home,
      records,
      clock: new ManualClock(0),
      crash: noCrash,
      log: silentLog,
      tag: "LARES_RUN",
      endRun: async () => 0,
      alone: async (name, _of, work) => {
        locked.push(name);
        return work();
      },
    });
  const request = (key: string, more: object = {}) => ({
    owner: "run" as const,
    key,
    line: "chat",
    agent: "coder",
    repository,
    within: [root],
    ...more,
  });
  return { home, root, repository, git, run, make, trees: make(), request, locked };
}

describe.skipIf(!needs("git", "worktrees"))("a worktree", () => {
  test("is on a separate branch; what was left there is committed, reported and gone from the disk (WORKTREES-3)", async () => {
    const { trees, request, repository, git, home } = await open();
    writeFileSync(join(repository, "a.txt"), "dirty\n");
    const tree = await trees.open(request("t1"), never);
    expect(tree.notes).toEqual(["1 file has changes that aren't committed; they aren't in the worktree."]);
    expect(tree.path.startsWith(join(home, "worktrees"))).toBe(true);
    expect(readFileSync(join(tree.path, "a.txt"), "utf8")).toBe("one\n");
    expect((await trees.open(request("t1"), never)).path).toBe(tree.path);
    writeFileSync(join(tree.path, "a.txt"), "one\ntwo\n");
    mkdirSync(join(tree.path, "ignored"));
    writeFileSync(join(tree.path, "ignored", "x"), "x");
    writeFileSync(join(tree.path, "b with space.txt"), "new\n");
    execFileSync("git", ["update-index", "--assume-unchanged", "a.txt"], { cwd: tree.path });
    const report = await trees.close("t1", "What the run left");
    expect(report).toMatchObject({ branch: tree.branch, files: 2, added: 2, removed: 0, left: null, notes: [] });
    expect(report!.commits.map(({ subject }) => subject)).toEqual(["What the run left"]);
    expect(git("show", `${tree.branch}:a.txt`)).toBe("one\ntwo");
    expect(git("log", "-1", "--format=%an", tree.branch)).toBe("Lares agent coder");
    expect(await trees.close("t1", "again")).toEqual(report);
    expect(readdirSync(join(home, "worktrees"))).toEqual([]);
    expect(git("worktree", "list").split("\n")).toHaveLength(1);
    expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("dirty\n");
    expect(git("branch", "--show-current")).toBe("main");
  });

  test("goes on in the same folder on the same branch; without changes nothing is left of it", async () => {
    const { trees, request, git } = await open();
    const first = await trees.open(request("t1"), never);
    expect(await trees.close("t1", "-")).toMatchObject({ branch: null, commits: [] });
    expect(git("branch", "--list", "lares/*")).toBe("");
    await trees.open(request("t2"), never);
    writeFileSync(join(first.path, "b.txt"), "b\n");
    await trees.close("t2", "second");
    const third = await trees.open(request("t3"), never);
    expect(third).toMatchObject({ path: first.path, branch: first.branch });
    expect(existsSync(join(third.path, "b.txt"))).toBe(true);
    writeFileSync(join(third.path, "c.txt"), "c\n");
    const report = await trees.close("t3", "third");
    expect(report!.commits.map(({ subject }) => subject)).toEqual(["third"]);
    // The person looks at it: the next one gets another branch.
    git("checkout", "-q", first.branch);
    expect((await trees.open(request("t4"), never)).branch).toBe(`${first.branch}-2`);
  });

  test("keeps commits that were made there, and runs no program of the repository (GIT-1, GIT-2)", async () => {
    const { trees, request, repository, git, run, home } = await open();
    const planted = join(home, "planted");
    const hook = (name: string) => {
      writeFileSync(join(repository, ".git", "hooks", name), `#!/bin/sh\necho ${name} >> ${planted}\n`);
      chmodSync(join(repository, ".git", "hooks", name), 0o755);
    };
    hook("post-checkout");
    git("config", "filter.evil.clean", `sh -c 'echo clean >> ${planted}; cat'`);
    git("config", "filter.evil.smudge", `sh -c 'echo smudge >> ${planted}; cat'`);
    git("config", "core.fsmonitor", `sh -c 'echo monitor >> ${planted}'`);
    const tree = await trees.open(request("t1"), never);
    expect(tree.notes).toEqual([expect.stringContaining("Filters (evil) aren't used")]);
    run(
      tree.path,
      "-c",
      "core.hooksPath=/dev/null",
      "-c",
      "core.fsmonitor=false",
      "commit",
      "--allow-empty",
      "-qm",
      "own",
    );
    writeFileSync(join(tree.path, ".gitattributes"), "* filter=evil\n");
    writeFileSync(join(tree.path, "a.txt"), "changed\n");
    // Whoever worked there planted a hook, and lied about where the repository is.
    hook("reference-transaction");
    const fake = join(home, "fake.git");
    execFileSync("git", ["init", "-q", "--bare", fake]);
    execFileSync("git", ["-C", fake, "config", "core.fsmonitor", `sh -c 'echo fake >> ${planted}'`]);
    writeFileSync(join(tree.path, ".git"), `gitdir: ${fake}\n`);
    const report = await trees.close("t1", "rest");
    expect(report!.commits.map(({ subject }) => subject)).toEqual(["own", "rest"]);
    expect(report!.notes).toEqual([expect.stringContaining("hooks/reference-transaction")]);
    expect(existsSync(planted)).toBe(false);
    expect(git("-c", "core.fsmonitor=false", "worktree", "list").split("\n")).toHaveLength(1);
  });

  test("a repository inside it is committed with its files, and its settings aren't used", async () => {
    const { trees, request, git, home } = await open();
    const planted = join(home, "planted");
    const tree = await trees.open(request("t1"), never);
    const inner = join(tree.path, "inner");
    execFileSync("git", ["init", "-q", inner]);
    execFileSync("git", ["-C", inner, "config", "core.fsmonitor", `sh -c 'echo inner >> ${planted}'`]);
    writeFileSync(join(inner, "x.txt"), "x\n");
    const report = await trees.close("t1", "rest");
    expect(report!.notes).toEqual([expect.stringContaining("inner was a separate repository")]);
    expect(git("show", `${tree.branch}:inner/x.txt`)).toBe("x");
    expect(existsSync(planted)).toBe(false);
  });

  test("what a crash left is taken up under its key, or committed and removed by the sweep (WORKTREES-1, WORKTREES-2)", async () => {
    const { make, request, repository, git, home, locked } = await open();
    const before = make();
    const tree = await before.open(request("t1"), never);
    await before.open(request("t2", { line: "other" }), never);
    writeFileSync(join(tree.path, "b.txt"), "b\n");
    const after = make();
    await after.sweep("task", async () => false);
    expect(git("worktree", "list").split("\n")).toHaveLength(3);
    await after.sweep("run", async (key) => key === "t2");
    expect(git("show", `${tree.branch}:b.txt`)).toBe("b");
    expect(git("worktree", "list").split("\n")).toHaveLength(2);
    expect((await after.open(request("t2", { line: "other" }), never)).repository).toBe(repository);
    await after.sweep("run", async () => false);
    expect(readdirSync(join(home, "worktrees"))).toHaveLength(1);
    await after.close("t2", "-");
    expect(readdirSync(join(home, "worktrees"))).toEqual([]);
    // Each was made and removed under the name of the one repository.
    expect(locked).toEqual(Array(4).fill(locked[0]));
  });

  test("files stay where they are when the repository is gone", async () => {
    const { trees, request, repository } = await open();
    const tree = await trees.open(request("t1"), never);
    writeFileSync(join(tree.path, "b.txt"), "b\n");
    rmSync(repository, { recursive: true });
    const report = await trees.close("t1", "-");
    expect(report).toMatchObject({ left: tree.path, branch: null });
    expect(report!.notes.join(" ")).toBe(`The repository is gone. The files stay in ${tree.path}.`);
    expect(existsSync(join(tree.path, "b.txt"))).toBe(true);
  });

  test("is refused in a sentence where there can be none, and leaves nothing", async () => {
    const { trees, request, root, home, repository, git } = await open();
    const refused = (more: object) => trees.open(request("no", more), never).then(String, (error) => error.message);
    mkdirSync(join(root, "plain"));
    execFileSync("git", ["init", "-q", "--bare", join(root, "bare.git")]);
    execFileSync("git", ["init", "-q", join(root, "empty")]);
    expect(await refused({ repository: join(root, "none") })).toMatch(/There is no folder/);
    expect(await refused({ repository: join(root, "plain") })).toMatch(/isn't in a git repository/);
    expect(await refused({ repository: join(root, "bare.git") })).toMatch(/is a bare repository/);
    expect(await refused({ repository: join(root, "empty") })).toMatch(/has no commit yet/);
    expect(await refused({ within: [join(root, "plain")] })).toMatch(/outside the agent's folders/);
    // A .git that leads to a repository elsewhere.
    execFileSync("git", ["clone", "-q", repository, join(home, "far")]);
    writeFileSync(join(root, "plain", ".git"), `gitdir: ${join(home, "far", ".git")}\n`);
    expect(await refused({ repository: join(root, "plain") })).toMatch(/outside the agent's folders/);
    expect(readdirSync(join(home, "worktrees"))).toEqual([]);
    await trees.open(request("t1"), never);
    expect(await refused({})).toMatch(/still using the worktree/);
    expect(git("worktree", "list").split("\n")).toHaveLength(2);
  });
});
