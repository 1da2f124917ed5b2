/** Files that somebody else put there: read within bounds, or not at all. */
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, open, readdir, readFile, readlink, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { notRun } from "../../../test/support/index.ts";
import { SECRET, scene } from "../../edges/tools/testing.ts";
import { copyBelow, copyTree, filesBelow, kindBelow, listBelow, readBelow, textBelow, writeBelow } from "./below.ts";
import { withInside } from "./inside.ts";

const KB = 1024;

describe("what is not a plain file of a usual size is refused at once", () => {
  test.each<[what: string, make: (path: string) => unknown]>([
    ["a pipe nobody writes to", (path) => execFileSync("mkfifo", [path])],
    ["a link to a device", (path) => symlink("/dev/zero", path)],
    ["a link to a file outside", (path) => symlink(join(path, "../../out/secret"), path)],
    ["a folder", (path) => mkdir(path)],
    ["a socket", (path) => socketAt(path)],
    ["a file of 100 GB", (path) => writeFile(path, "").then(() => truncate(path, 100 * 2 ** 30))],
  ])("%s", async (_what, make) => {
    const { workspace, agentDir } = await scene();
    await make(join(workspace, "x"));
    const at = { root: workspace, path: "x" };
    expect(await readBelow({ ...at, most: KB })).toMatchObject({ state: "refused" });
    expect(await textBelow({ ...at, most: KB })).toBeUndefined();
    await expect(copyBelow({ ...at, to: join(agentDir, "copy"), most: KB })).rejects.toThrow();
  });

  test("what lies behind a linked folder", async () => {
    const { workspace, out } = await scene();
    await symlink(out, join(workspace, "memory"));
    expect(await textBelow({ root: workspace, path: "memory/secret", most: KB })).toBeUndefined();
    expect(await kindBelow({ root: workspace, path: "memory/secret" })).toBe("missing");
    expect(await listBelow({ root: workspace, path: "memory", most: 10 })).toEqual({ entries: [], more: false });
    await expect(writeBelow({ root: workspace, path: "memory/new", content: "x", tag: "t" })).rejects.toMatchObject({
      code: "PATH_OUTSIDE",
    });
    expect(await readdir(out)).toEqual(["secret"]);
  });

  test("a link that stays inside, where links are refused", async () => {
    const { workspace } = await scene();
    await mkdir(join(workspace, "real"));
    await writeFile(join(workspace, "real", "a"), "here");
    await symlink("real", join(workspace, "linked"));
    const at = { root: workspace, path: "linked/a", most: KB };
    expect(await textBelow(at)).toBe("here");
    expect(await textBelow({ ...at, links: "refuse" })).toBeUndefined();
  });
});

test("a file that grows while it is read gives no more than was asked for (FILES-6)", async () => {
  const { workspace } = await scene();
  const path = join(workspace, "log");
  await writeFile(path, "a".repeat(KB));
  let over = false;
  const growing = (async () => {
    while (!over) await appendFile(path, "b".repeat(64 * KB));
  })();
  try {
    for (let i = 0; i < 50; i++) {
      const { bytes } = await withInside({ root: workspace, path: "log" }, (inside) => inside.readStart(2 * KB));
      expect(bytes.length).toBeLessThanOrEqual(2 * KB);
    }
    expect((await readBelow({ root: workspace, path: "log", most: 2 * KB })).state).toBe("refused");
  } finally {
    over = true;
    await growing;
  }
});

const isLinux = process.platform === "linux";
if (!isLinux) notRun("files of /proc", "Run it on Linux.");
test.skipIf(!isLinux)("a file that says it is empty and is not is read to its end", async () => {
  expect(await textBelow({ root: "/proc/self", path: "status", most: 64 * KB })).toMatch(/^Name:/);
  expect(await readBelow({ root: "/proc/self", path: "status", most: 10 })).toMatchObject({ state: "refused" });
});

test("a copied tree has the plain files, their modes, and nothing else", async () => {
  const { workspace, out, agentDir } = await scene();
  await mkdir(join(workspace, "skill/scripts"), { recursive: true });
  await writeFile(join(workspace, "skill/SKILL.md"), "words");
  await writeFile(join(workspace, "skill/scripts/run.sh"), "echo", { mode: 0o755 });
  await symlink(out, join(workspace, "skill/private"));
  await symlink(join(out, "secret"), join(workspace, "skill/secret"));
  execFileSync("mkfifo", [join(workspace, "skill/pipe")]);
  const how = { most: KB, depth: 8, closed: new Set<string>() };
  await copyTree(join(workspace, "skill"), { root: agentDir, path: "copies/skill" }, how);
  const copied = join(agentDir, "copies/skill");
  expect((await readdir(copied, { recursive: true })).sort()).toEqual(["SKILL.md", "scripts", "scripts/run.sh"]);
  const file = await open(join(copied, "scripts/run.sh"));
  expect((await file.stat()).mode & 0o777).toBe(0o700);
  await file.close();
  await expect(
    copyTree(join(workspace, "skill"), { root: agentDir, path: "small" }, { ...how, most: 3 }),
  ).rejects.toThrow(/more than/);
  expect(await readFile(join(out, "secret"), "utf8")).toBe(SECRET);
});

test.skipIf(!isLinux)("a copy that is refused leaves no file open", async () => {
  const { workspace, agentDir } = await scene();
  await mkdir(join(workspace, "skill"));
  await writeFile(join(workspace, "skill/large"), "a".repeat(KB));
  const how = { most: 3, depth: 8, closed: new Set<string>() };
  await expect(copyTree(join(workspace, "skill"), { root: agentDir, path: "small" }, how)).rejects.toThrow(/more than/);
  const to = join(agentDir, "copy");
  await expect(copyBelow({ root: workspace, path: "skill/large", to, most: 3 })).rejects.toThrow(/more than/);
  const open = await Promise.all(
    (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
  );
  expect(open.filter((path) => path.startsWith(agentDir) || path.startsWith(workspace))).toEqual([]);
});

test("a walk counts plain files and says when there are more", async () => {
  const { workspace, out } = await scene();
  for (const name of ["a", "b", "c"]) await writeFile(join(workspace, name), name);
  await symlink(out, join(workspace, "d"));
  const how = { depth: 4, closed: new Set<string>() };
  const all = await filesBelow(workspace, { ...how, most: 10 });
  expect(all.files.map(({ path, size }) => [path, size])).toEqual([
    ["a", 1],
    ["b", 1],
    ["c", 1],
  ]);
  expect(all.more).toBe(false);
  expect((await filesBelow(workspace, { ...how, most: 2 })).more).toBe(true);
});

function socketAt(path: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return new Promise((resolve) => server.listen(path, resolve));
}
