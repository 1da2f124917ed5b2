import { linkSync, writeFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failed } from "../../../core/contracts/index.ts";
import type { AppError } from "../../../core/domain/index.ts";
import { createTools } from "../index.ts";
import { never, scene } from "../testing.ts";
import { nearNames } from "./near.ts";

async function workspace(...files: string[]) {
  const place = await scene();
  for (const file of files) {
    const at = join(place.workspace, file);
    await mkdir(join(at, ".."), { recursive: true });
    await writeFile(at, "text\n");
  }
  return place;
}

test("a mistyped name, another ending, other case and another folder are found, the nearest first", async () => {
  const place = await workspace(
    "docs/report.md",
    "docs/Reports 2026.md",
    "a/b/notes.txt",
    "README.md",
    "docs/zebra.md",
  );
  expect(await nearNames(place, "docs/reprot.md")).toEqual(["docs/report.md"]);
  expect(await nearNames(place, "docs/report.txt")).toEqual(["docs/report.md"]);
  expect(await nearNames(place, "docs/reports_2026.md")).toEqual(["docs/Reports 2026.md"]);
  expect(await nearNames(place, "readme.md")).toEqual(["README.md"]);
  expect(await nearNames(place, "notes.txt")).toEqual(["a/b/notes.txt"]);
  expect(await nearNames(place, "src/report.md")).toEqual(["docs/report.md"]);
  expect(await nearNames(place, "something-else.md")).toEqual([]);
});

test.each([
  ["reprot.dm", "report.md", "two pairs of letters swapped"],
  ["repotr.mdd", "report.md", "a pair swapped and a letter too many"],
  ["REPROT.MD", "report.md", "other case and a fault"],
  ["rpeort.txt", "report.md", "another ending and a fault"],
  ["anual-plna.md", "deep/er/annual-plan.md", "two faults, in a subfolder"],
  ["deeper/annual_plan.txt", "deep/er/annual-plan.md", "another ending, in another folder"],
  ["dosc/quaterly.csv", "docs/quarterly.csv", "a fault in the folder and one in the name"],
])("%s → %s: %s", async (wanted, meant) => {
  const place = await workspace("report.md", "deep/er/annual-plan.md", "docs/quarterly.csv", "zebra.md");
  expect(await nearNames(place, wanted)).toEqual([meant]);
});

test("at most three, and none from outside the agent's folders, also not through a link", async () => {
  const place = await workspace("x/file1.txt", "x/file2.txt", "x/file3.txt", "x/file4.txt");
  expect(await nearNames(place, "x/file5.txt")).toHaveLength(3);
  expect(await nearNames(place, join(place.out, "secert"))).toEqual([]);
  expect(await nearNames(place, "../out/secert")).toEqual([]);
  await symlink(place.out, join(place.workspace, "link"));
  expect(await nearNames(place, "link/secert")).toEqual([]);
  expect(await nearNames(place, "secret")).toEqual([]);
});

test("in a folder of 50,000 files a name is still found", { timeout: 60_000 }, async () => {
  const place = await workspace();
  const many = join(place.workspace, "many");
  await mkdir(many);
  // Links to one file: names are what counts, and they are made in a second.
  writeFileSync(join(many, "report.md"), "");
  for (let i = 1; i < 50_000; i++) linkSync(join(many, "report.md"), join(many, `${"n".repeat(50)}${i}`));
  expect(await nearNames(place, `many/${"n".repeat(50)}x`)).toHaveLength(3);
  expect(await nearNames(place, "many/reprot.dm")).toEqual(["many/report.md"]);
});

test.each([
  ["read", { path: "docs/reprot.md" }],
  ["edit", { path: "docs/reprot.md", old: "a", new: "b" }],
  ["list", { path: "dosc" }],
  ["search", { pattern: "x", path: "docs/reprot.md" }],
  ["apply_patch", { patch: "*** Begin Patch\n*** Update File: docs/reprot.md\n@@\n-a\n+b\n*** End Patch" }],
  ["exec", { command: "true", cwd: "dosc" }],
])("%s says which file may be meant, as text from outside, and the name works", async (name, input) => {
  const place = await workspace("docs/report.md");
  const tool = createTools().get(name);
  const error = await tool
    .plan(input, place)
    .then(() => tool.run(input, place, "k", never))
    .then(
      () => undefined,
      (reason: AppError) => reason,
    );
  const said = failed(error!);
  const meant = /Did you mean "([^"]+)"\?/.exec(said.text)?.[1];
  expect(meant, said.text).toBe(JSON.stringify(input).includes("dosc") ? "docs" : "docs/report.md");
  expect(said.origin).toBeUndefined();
});
