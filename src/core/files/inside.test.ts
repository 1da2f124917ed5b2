import { execFileSync } from "node:child_process";
import { link, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SECRET, scene } from "../../edges/tools/testing.ts";
import type { How } from "./dir.ts";
import { withInside } from "./inside.ts";

const outsideError = expect.objectContaining({ code: "PATH_OUTSIDE" });

describe.each<How>(["handles", "realpath"])("by %s", (how) => {
  const read = (root: string, path: string) =>
    withInside({ root, path, how }, async (inside) => (await inside.readFile(1e6)).toString());
  const write = (root: string, path: string, content = "new") =>
    withInside({ root, path, how, parents: "make" }, (inside) => inside.writeAtomic(content, "tag"));

  test("FS-01: paths that lead out are refused for reading and writing (FILES-1)", async () => {
    const { workspace, out } = await scene();
    await mkdir(join(workspace, "a"));
    const paths = [
      "../out/secret",
      "a/../../out/secret",
      join(out, "secret"),
      `${workspace}/./../out/secret`,
      `${workspace}x`,
      `file://${out}/secret`,
      "FILE:///etc/passwd",
      "~/secret",
      "~",
      "~root/secret",
      "..",
      "/",
    ];
    for (const path of paths) {
      await expect(read(workspace, path), path).rejects.toEqual(outsideError);
      await expect(write(workspace, path), path).rejects.toEqual(outsideError);
    }
    expect(await readFile(join(out, "secret"), "utf8")).toBe(SECRET);
  });

  test("a NUL in a path is refused with its name spelt out", async () => {
    const { workspace } = await scene();
    await expect(read(workspace, "a\0b")).rejects.toThrow(/"a\\u\{0\}b" contains a NUL/);
  });

  test("relative and absolute paths inside the root are the same place", async () => {
    const { workspace } = await scene();
    await mkdir(join(workspace, "a"));
    await writeFile(join(workspace, "a", "f"), "hello");
    for (const path of ["a/f", "./a//f", "a/../a/f", join(workspace, "a/f"), "a/./f"]) {
      expect(await read(workspace, path), path).toBe("hello");
    }
  });

  test("FS-03: symbolic links that lead out are refused, as file and as directory (FILES-2)", async () => {
    const { workspace, out } = await scene();
    await symlink(join(out, "secret"), join(workspace, "file"));
    await symlink("../out/secret", join(workspace, "relative"));
    await symlink(out, join(workspace, "dir"));
    await symlink("dir", join(workspace, "twice"));
    for (const path of ["file", "relative", "dir/secret", "twice/secret", "dir/new"]) {
      await expect(read(workspace, path), path).rejects.toEqual(outsideError);
      await expect(write(workspace, path), path).rejects.toEqual(outsideError);
    }
    expect(await readdir(out)).toEqual(["secret"]);
    expect(await readFile(join(out, "secret"), "utf8")).toBe(SECRET);
  });

  test("FS-03: a dangling link is not written through, neither out nor in (FILES-3)", async () => {
    const { workspace, out } = await scene();
    await symlink(join(out, "fresh"), join(workspace, "out"));
    await symlink("nowhere", join(workspace, "in"));
    for (const path of ["out", "in", "in/deep/file"]) {
      await expect(write(workspace, path), path).rejects.toEqual(outsideError);
    }
    expect(await readdir(out)).toEqual(["secret"]);
    expect((await readdir(workspace)).sort()).toEqual(["in", "out"]);
  });

  test("links that stay inside are followed, and a write goes to the file they name", async () => {
    const { workspace } = await scene();
    await mkdir(join(workspace, "real"));
    await writeFile(join(workspace, "real", "f"), "old");
    await symlink("real", join(workspace, "dir"));
    await symlink(join(workspace, "real", "f"), join(workspace, "file"));
    expect(await read(workspace, "dir/f")).toBe("old");
    await write(workspace, "file");
    await write(workspace, "dir/sub/g");
    expect(await readFile(join(workspace, "real", "f"), "utf8")).toBe("new");
    expect(await readFile(join(workspace, "real", "sub", "g"), "utf8")).toBe("new");
    expect((await lstat(join(workspace, "file"))).isSymbolicLink()).toBe(true);
  });

  test("a circle of links ends in a refusal", async () => {
    const { workspace } = await scene();
    await symlink("b", join(workspace, "a"));
    await symlink("a", join(workspace, "b"));
    await expect(read(workspace, "a")).rejects.toEqual(outsideError);
  });

  test("a file with a second name is readable and not writable (FILES-5)", async () => {
    const { workspace, out } = await scene();
    await link(join(out, "secret"), join(workspace, "hard"));
    await expect(write(workspace, "hard")).rejects.toThrow(/hard links/);
    expect(await readFile(join(out, "secret"), "utf8")).toBe(SECRET);
  });

  test("a pipe is refused and does not hold anybody up (FILES-4)", async () => {
    const { workspace } = await scene();
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    await expect(read(workspace, "pipe")).rejects.toThrow(/device, pipe or socket/);
    await expect(write(workspace, "pipe")).rejects.toThrow(/device, pipe or socket/);
  });

  test("a write keeps the mode, makes directories, and leaves no temporary file", async () => {
    const { workspace } = await scene();
    await writeFile(join(workspace, "run.sh"), "old", { mode: 0o750 });
    await write(workspace, "run.sh");
    await write(workspace, "x/y/z");
    expect((await stat(join(workspace, "run.sh"))).mode & 0o777).toBe(0o750);
    expect(await readFile(join(workspace, "x/y/z"), "utf8")).toBe("new");
    expect((await readdir(workspace)).sort()).toEqual(["run.sh", "x"]);
    expect(await readdir(join(workspace, "x/y"))).toEqual(["z"]);
  });

  test("what is not there is NOT_FOUND", async () => {
    const { workspace } = await scene();
    await expect(read(workspace, "no/such")).rejects.toEqual(expect.objectContaining({ code: "NOT_FOUND" }));
    await expect(read(workspace, "nothing")).rejects.toEqual(expect.objectContaining({ code: "NOT_FOUND" }));
  });
});

test("no descriptor stays open, whatever the outcome", async () => {
  const { workspace, out } = await scene();
  await mkdir(join(workspace, "a/b"), { recursive: true });
  await symlink(out, join(workspace, "a/b/link"));
  const count = async () => (await readdir("/proc/self/fd")).length;
  const before = await count();
  for (let i = 0; i < 50; i++) {
    for (const path of ["a/b/link/x", "a/b/../../../x", "a/b/c", "a", "no/such"]) {
      await withInside({ root: workspace, path }, async (inside) => inside.readFile(10)).catch(() => undefined);
    }
  }
  expect(await count()).toBeLessThanOrEqual(before + 2);
});
