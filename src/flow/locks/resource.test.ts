import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ActionPlan } from "../../core/contracts/index.ts";
import { findResources } from "./index.ts";

let workspace: string;
beforeAll(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "lares-resource-")));
  for (const dir of ["repo/.git", "repo/src/deep", "repo/inner/.git", "tree", "loose"]) {
    mkdirSync(join(workspace, dir), { recursive: true });
  }
  writeFileSync(join(workspace, "tree/.git"), "gitdir: ../repo/.git/worktrees/tree\n");
  symlinkSync(join(workspace, "repo"), join(workspace, "link"));
});
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const write = (...targets: string[]): ActionPlan => ({
  tool: "write",
  risk: "write",
  targets: targets.map((path) => join(workspace, path)),
  shown: "",
  binding: {},
});
const exec = (cwd: string): ActionPlan => ({
  tool: "exec",
  risk: "exec",
  targets: ["ls"],
  shown: "",
  binding: { cwd },
});

describe("what an action must have for itself", () => {
  test.each<[string, () => ActionPlan, string[]]>([
    ["a file in a repository needs the repository", () => write("repo/src/deep/a.ts"), ["repo"]],
    ["a file that is not there yet needs it too", () => write("repo/new/dir/a.ts"), ["repo"]],
    ["a repository inside another is its own", () => write("repo/inner/a.ts"), ["repo/inner"]],
    ["a worktree is its own", () => write("tree/a.ts"), ["tree"]],
    ["the same repository by another name is the same", () => write("link/src/a.ts"), ["repo"]],
    ["outside a repository it is the path", () => write("loose/a.txt"), ["loose/a.txt"]],
    ["several files of one repository need it once", () => write("repo/a", "repo/src/b"), ["repo"]],
    ["several places come sorted", () => write("tree/b", "loose/a", "repo/c"), ["loose/a", "repo", "tree"]],
    ["what lies inside another is covered by it", () => write("repo/inner/x", "repo/y"), ["repo"]],
    ["a command needs the repository it runs in", () => exec(join(workspace, "repo/src")), ["repo"]],
    ["a command outside a repository needs its folder", () => exec(join(workspace, "loose")), ["loose"]],
    ["reading needs nothing", () => ({ ...write("repo/a"), risk: "read" }), []],
    ["the network needs nothing", () => ({ ...write("repo/a"), risk: "network" }), []],
    ["what is refused anyway needs nothing", () => ({ ...write("../x"), outside: "outside" }), []],
  ])("%s", async (_name, plan, expected) => {
    expect(await findResources(plan(), workspace)).toEqual(expected.map((path) => join(workspace, path)));
  });

  test("a repository above the workspace is not looked for", async () => {
    const inner = join(workspace, "repo", "src");
    expect(await findResources(write("repo/src/deep/a"), inner)).toEqual([join(inner, "deep/a")]);
  });
});
