import { chmod, mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test as base, describe, expect } from "vitest";
import { expectLinear } from "../../../../test/support/growth.ts";
import { needs } from "../../../../test/support/index.ts";

import type { JsonObject } from "../../../core/domain/index.ts";
import { withInside } from "../paths/index.ts";
import { never, type Scene, SECRET, scene } from "../testing.ts";
import { globMatcher } from "./glob.ts";
import { findRipgrep, TRUSTED_DIRS } from "./ripgrep.ts";
import { scan } from "./scan.ts";
import { createSearch } from "./search.ts";

async function tree() {
  const place = await scene();
  await mkdir(join(place.workspace, "src/deep"), { recursive: true });
  await mkdir(join(place.workspace, ".git"));
  await writeFile(join(place.workspace, "src/a.ts"), "const one = 1;\r\nconst two = 2;\r\n");
  await writeFile(join(place.workspace, "src/deep/b.ts"), "const three = 3;\n// TWO\n");
  await writeFile(join(place.workspace, "src/c.md"), "const no = 0;\n");
  await writeFile(join(place.workspace, ".git/x"), "const hidden = 1;\n");
  await writeFile(join(place.workspace, "bin"), Buffer.from("const\0 binary"));
  await symlink(place.out, join(place.workspace, "link"));
  return place;
}

// LARES_TEST_RG_DIR lets this suite prove the ripgrep way on a machine where no system directory has it.
const rgDirs = process.env.LARES_TEST_RG_DIR ? [process.env.LARES_TEST_RG_DIR] : TRUSTED_DIRS;
const hasRipgrep = (await findRipgrep(rgDirs)) !== undefined;

describe.each<[string, readonly string[]]>([
  ["our own scan", []],
  ["ripgrep", rgDirs],
])("by %s", (name, ripgrepDirs) => {
  const test = name.startsWith("ripgrep") && !needs("rg", "search by ripgrep", hasRipgrep) ? base.skip : base;
  const search = (place: Scene, input: JsonObject) => createSearch({ ripgrepDirs }).run(input, place, "k", never);

  test("lines are found with path and number, binaries and .git left out", async () => {
    const { text } = await search(await tree(), { pattern: "const \\w+" });
    expect(text.split("\n")).toEqual([
      "src/a.ts:1: const one = 1;",
      "src/a.ts:2: const two = 2;",
      "src/c.md:1: const no = 0;",
      "src/deep/b.ts:1: const three = 3;",
    ]);
  });

  test("path, glob and inline flags narrow it", async () => {
    const place = await tree();
    const { text } = await search(place, { pattern: "(?i)two", path: "src", glob: "*.ts" });
    expect(text).toBe("src/a.ts:2: const two = 2;\nsrc/deep/b.ts:2: // TWO");
    expect((await search(place, { pattern: "one", path: "src/a.ts" })).text).toBe("src/a.ts:1: const one = 1;");
  });

  test("max cuts and says so; nothing found is said", async () => {
    const place = await tree();
    const { text } = await search(place, { pattern: "const", max: 2 });
    expect(text.split("\n")).toHaveLength(3);
    expect(text).toMatch(/\[cut at 2 hits; narrow it/);
  });

  test("nothing found says how many files were looked at, what was not, and what to try", async () => {
    const place = await tree();
    expect((await search(place, { pattern: "nowhere to be found" })).text).toBe(
      "[No line matches in 4 files, even ignoring case. Not searched: .git and node_modules (name one as path to search it), binary files and files over 2 MB. Try a shorter or simpler pattern.]",
    );
    const { text } = await search(place, { pattern: "CONST TWO" });
    expect(text).toBe("[No line matches in 4 files; with ignore_case: true 1 would, the first at src/a.ts:2.]");
    // What it says works.
    expect((await search(place, { pattern: "CONST TWO", ignore_case: true })).text).toBe("src/a.ts:2: const two = 2;");
    expect((await search(place, { pattern: "hidden", path: ".git" })).text).toBe(".git/x:1: const hidden = 1;");
    expect((await search(place, { pattern: "const", glob: "*.py" })).text).toMatch(/No file matches the glob \*\.py/);
  });

  test("lines around a hit are shown once each, marked as such", async () => {
    const place = await scene();
    await writeFile(join(place.workspace, "f"), "1\n2\nhit 3\n4\nhit 5\n6\n7\n");
    const { text, meta } = await search(place, { pattern: "hit", context: 1 });
    expect(text).toBe("f-2- 2\nf:3: hit 3\nf-4- 4\nf:5: hit 5\nf-6- 6");
    expect(meta).toMatchObject({ hits: 2 });
  });

  test("the answer is bounded, however many lines are asked for", async () => {
    const place = await scene();
    await writeFile(join(place.workspace, "f"), `${"x".repeat(290)}\n`.repeat(2000));
    const { text } = await search(place, { pattern: "x", max: 1000, context: 10 });
    expect(text.length).toBeLessThan(70_000);
    expect(text).toMatch(/\[cut after \d+ lines; narrow it/);
  });

  test("what is found outside the workspace is shown with a path that the next call can use", async () => {
    const place = { ...(await scene()), roots: [] as string[] };
    const { out } = place;
    const project = join(out, "project");
    await mkdir(join(project, "src"), { recursive: true });
    await writeFile(join(project, "src/a.ts"), "const one = 1;\n");
    for (const roots of [[], [project]]) {
      const at = { ...place, roots };
      expect((await search(at, { pattern: "one", path: project })).text).toBe(`${project}/src/a.ts:1: const one = 1;`);
      const file = `${project}/src/a.ts`;
      expect((await search(at, { pattern: "one", path: file })).text).toBe(`${file}:1: const one = 1;`);
      const byName = await createSearch({ ripgrepDirs }).run({ glob: "*.ts", path: project }, at, "k", never);
      expect(byName.text).toBe(file);
    }
    // In the folder that a conversation is about, paths start there.
    const about = { ...place, roots: [project], folder: project };
    expect((await search(about, { pattern: "one" })).text).toBe("src/a.ts:1: const one = 1;");
    expect((await search({ ...about, folder: join(project, "src") }, { pattern: "one" })).text).toContain(
      `${project}/src`,
    );
  });

  test("links are not followed and a path outside is refused", async () => {
    const place = await tree();
    expect((await search(place, { pattern: "canary" })).text).not.toContain(SECRET);
    await expect(search(place, { pattern: "canary", path: "link" })).rejects.toThrow(/leads out/);
  });

  test("a broken pattern is TOOL_INPUT", async () => {
    await expect(search(await tree(), { pattern: "(" })).rejects.toEqual(
      expect.objectContaining({ code: "TOOL_INPUT" }),
    );
  });
});

base("a pattern that backtracks for ever is stopped in time and the loop stays free", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, "f"), `${"a".repeat(40)}!\n`);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  const found = await withInside({ root: place.workspace, path: "." }, (inside) =>
    scan(inside, { pattern: "(a+)+$", max: 10 }, never, 500),
  );
  clearInterval(timer);
  expect(found.notes.join()).toMatch(/stopped after 0\.5 s at f/);
  expect(ticks).toBeGreaterThan(10);
});

base("a file above the size bound is passed over and counted", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, "big"), `needle\n${"x".repeat(3_000_000)}`);
  const { text } = await createSearch({ ripgrepDirs: [] }).run({ pattern: "needle" }, place, "k", never);
  expect(text).toMatch(/^\[No line matches in 0 files\. .*\n\[1 files over 2.0 MB were skipped\]$/);
});

base(
  "a glob without a pattern finds files by name, the newest first, and says what would fit when none does",
  async () => {
    const place = await tree();
    const search = async (input: JsonObject) => (await createSearch().run(input, place, "k", never)).text;
    await utimes(join(place.workspace, "src/deep/b.ts"), 2_000_000_000, 2_000_000_000);
    expect(await search({ glob: "*.ts" })).toBe("src/deep/b.ts\nsrc/a.ts");
    expect(await search({ glob: "*.ts", path: "src/deep" })).toBe("src/deep/b.ts");
    expect(await search({ glob: "*.ts", max: 1 })).toBe("src/deep/b.ts\n[cut at 1 files; narrow it with path or glob]");
    expect(await search({ glob: "C.MD" })).toMatch(
      /^\[no file name matches among \d+ names; with ignore_case: true there is src\/c\.md/,
    );
    expect(await search({ glob: "C.MD", ignore_case: true })).toBe("src/c.md");
    expect(await search({ glob: "nothing" })).toMatch(
      /a part of a name needs stars around it: \*nothing\*; skipped: \.git/,
    );
    await expect(search({})).rejects.toThrow(/Give "pattern" to find lines, "glob" to find files by name/);
  },
);

base("EX-29: a program named rg in the workspace is not run", async () => {
  const place = await tree();
  await writeFile(join(place.workspace, "rg"), "#!/bin/sh\ntouch pwned\n");
  await chmod(join(place.workspace, "rg"), 0o755);
  const { meta } = await createSearch().run({ pattern: "const", path: "src" }, place, "k", never);
  expect(["scan", ...TRUSTED_DIRS.map((dir) => `${dir}/rg`)]).toContain(meta?.by);
});

base.each([
  ["*.ts", "a/b.ts", true],
  ["*.ts", "b.tsx", false],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/x/a.ts", false],
  ["src/**/*.ts", "src/x/y/a.ts", true],
  ["src/**/*.ts", "src/a.ts", true],
  ["**/x/*", "a/x/b", true],
  ["*.{ts,md}", "a.md", true],
  ["!*.md", "a.md", false],
  ["!*.md", "a.ts", true],
  ["[a-c]?.[!t]s", "bz.js", true],
  ["[a-c]?.[!t]s", "bz.ts", false],
  ["a*b*c", "aXbXbYc", true],
])("glob %s on %s is %s", (glob, path, expected) => {
  expect(globMatcher(glob)(path)).toBe(expected);
});

base("a glob full of stars takes no time", () => {
  const matches = globMatcher(`${"*a".repeat(60)}b`);
  expectLinear((size) => expect(matches("a".repeat(size))).toBe(false), 32_000);
});

base("an aborted search ends at once, even within a pattern that backtracks for ever", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, "f"), `${"a".repeat(40)}!\n`);
  const stop = new AbortController();
  const running = createSearch({ ripgrepDirs: [] }).run({ pattern: "(a+)+$" }, place, "k", stop.signal);
  setTimeout(() => stop.abort(), 300);
  // The pattern alone takes longer than the test may.
  await expect(running).rejects.toThrow(/abort/i);
});
