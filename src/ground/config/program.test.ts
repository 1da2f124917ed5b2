import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { programNames } from "./program.ts";

async function clone(name = "clone") {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "lares-program-")));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const script = join(dir, name, "bin/lares.js");
  await mkdir(join(dir, name, "bin"), { recursive: true });
  await mkdir(join(dir, "path"));
  await writeFile(script, "");
  await chmod(script, 0o755);
  return { dir, script, started: { script, node: "/usr/bin/node", cwd: join(dir, name), path: join(dir, "path") } };
}
const noName = { named: undefined };

test("from a clone it is node with the script, relative where that works and absolute elsewhere", async () => {
  const { dir, script, started } = await clone();
  expect(programNames({ ...started, ...noName })).toEqual({
    here: "node bin/lares.js",
    anywhere: `/usr/bin/node ${script}`,
    told: "node bin/lares.js",
  });
  expect(programNames({ ...started, ...noName, cwd: dir }).here).toBe("node clone/bin/lares.js");
  expect(programNames({ ...started, ...noName, cwd: join(dir, "path") }).here).toBe(`node ${script}`);
});

test("a lares on the PATH counts when it is this program", async () => {
  const { dir, script, started } = await clone();
  await symlink(script, join(dir, "path/lares"));
  expect(programNames({ ...started, ...noName })).toMatchObject({ here: "lares", told: "lares" });
});

test("another installation that the shell finds first does not count", async () => {
  const { dir, script, started } = await clone();
  await mkdir(join(dir, "other"));
  await writeFile(join(dir, "other/lares"), "");
  await symlink(script, join(dir, "path/lares"));
  const path = `${join(dir, "other")}:${join(dir, "path")}`;
  expect(programNames({ ...started, ...noName, path }).here).toBe("node bin/lares.js");
});

test("a path with a space is quoted, and a wrapper's own name wins", async () => {
  const { dir, script, started } = await clone("my clone");
  expect(programNames({ ...started, ...noName, cwd: join(dir, "path") }).here).toBe(`node '${script}'`);
  expect(programNames({ ...started, cwd: dir, named: "docker exec lares lares" }).here).toBe("docker exec lares lares");
});
