/** The skills' room over real files: what is read when, and what is not looked into. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Skills } from "../../../mind/skills/index.ts";
import { skillFiles } from "./files.ts";

function openSkills(most?: number) {
  const home = mkdtempSync(join(tmpdir(), "lares-skills-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const reads: string[] = [];
  const files = skillFiles();
  const skills = new Skills({
    home,
    platform: "linux",
    agentDir: (agent) => join(home, "agents", agent),
    config: () => ({ disabled: [], allowed: [], trusted: [], promptTokens: 200 }),
    files: {
      ...files,
      entries: (root, given) => files.entries(root, most ?? given),
      read: (root, path, most) => {
        if (path === "SKILL.md") reads.push(root.slice(root.lastIndexOf("/") + 1));
        return files.read(root, path, most);
      },
    },
  });
  const put = (name: string, description = "Does it.") => {
    const dir = join(home, "agents/main/skills", name);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n---\nDo.\n`);
  };
  const names = async () => (await skills.list("main")).map((one) => `${one.name} ${one.state}`);
  return { home, skills, reads, put, names };
}

test("SKILLS-4: each is read once, and again when it changed; those who look at the same time share the look", async () => {
  const { home, skills, reads, put } = openSkills();
  expect(await skills.section("main")).toBe("");
  put("one");
  put("two");
  await Promise.all([skills.section("main"), skills.search("main", "one"), skills.list("main")]);
  expect(reads.sort()).toEqual(["one", "two"]);
  put("two", "Does it better.");
  expect(await skills.section("main")).toContain("- two: Does it better.");
  expect(reads).toEqual(["one", "two", "two"]);
  // Where it came from is told by a file beside it.
  writeFileSync(join(home, "agents/main/skills/one/.origin.json"), '{"from":"hermes"}');
  expect(await skills.find("main", "one")).toMatchObject({ own: false, imported: "hermes" });
  rmSync(join(home, "agents/main/skills/two"), { recursive: true });
  expect((await skills.list("main")).map((one) => one.name)).toEqual(["one"]);
});

test("SKILLS-1, SKILLS-5: a skills folder that is a link is not looked into, and says so", async () => {
  const { home, names, put } = openSkills();
  put("one");
  renameSync(join(home, "agents/main/skills"), join(home, "elsewhere"));
  symlinkSync(join(home, "elsewhere"), join(home, "agents/main/skills"));
  expect(await names()).toEqual(["skills unusable"]);
});

test("more folders than are looked at are left out, and that is said; hidden ones and files are no skills", async () => {
  const { home, names, put } = openSkills(4);
  const dir = join(home, "agents/main/skills");
  mkdirSync(join(dir, ".draft.importing"), { recursive: true });
  writeFileSync(join(dir, "README.md"), "x");
  expect(await names()).toEqual([]);
  for (const name of ["one", "two", "three"]) put(name);
  const all = await names();
  expect(all).toContain("skills unusable");
  expect(all.length).toBeLessThanOrEqual(4);
});
