import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { AppError } from "../../../core/domain/index.ts";
import { Inside } from "../paths/index.ts";
import { never, SECRET, scene } from "../testing.ts";
import { createApplyPatch } from "./apply-patch.ts";

async function files(contents: Record<string, string>) {
  const place = await scene();
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(join(place.workspace, path, ".."), { recursive: true });
    await writeFile(join(place.workspace, path), text);
  }
  const tool = createApplyPatch();
  return {
    place,
    at: (path: string) => join(place.workspace, path),
    now: (path: string) => readFile(join(place.workspace, path), "utf8"),
    names: async () => (await readdir(place.workspace, { recursive: true })).sort(),
    apply: (patch: string) => tool.run({ patch }, place, "k", never),
    plan: (patch: string) => tool.plan({ patch }, place),
    probe: (patch: string) => tool.probe!({ patch }, place, "k", { sameBoot: true, signal: never }),
  };
}

const UNIFIED = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/dir/new.txt b/dir/new.txt
new file mode 100644
--- /dev/null
+++ b/dir/new.txt
@@ -0,0 +1,2 @@
+fresh
+lines
diff --git a/from.txt b/to.txt
rename from from.txt
rename to to.txt
--- a/from.txt
+++ b/to.txt
@@ -1,2 +1,2 @@
 keep
-old
+new
`;
const MARKED = `*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+TWO
 three
*** Delete File: gone.txt
*** Add File: dir/new.txt
+fresh
+lines
*** Update File: from.txt
*** Move to: to.txt
@@
 keep
-old
+new
*** End Patch`;
const BEFORE = { "a.txt": "one\ntwo\nthree\n", "gone.txt": "bye\n", "from.txt": "keep\nold\n" };

describe.each([
  ["a unified diff", UNIFIED],
  ["*** Begin Patch", MARKED],
  ["a patch in a code fence", `\`\`\`diff\n${UNIFIED}\`\`\``],
  ["a patch with Windows line ends", UNIFIED.replaceAll("\n", "\r\n")],
])("%s", (_name, patch) => {
  test("adds, updates, deletes and renames in one go", async () => {
    const { apply, now, names } = await files(BEFORE);
    const { text } = await apply(patch);
    expect(text).toMatch(
      /updated a\.txt \(\+1 −1\)[\s\S]*deleted gone\.txt[\s\S]*created dir\/new\.txt[\s\S]*moved from\.txt to to\.txt/,
    );
    expect(await names()).toEqual(["a.txt", "dir", "dir/new.txt", "to.txt"]);
    expect([await now("a.txt"), await now("dir/new.txt"), await now("to.txt")]).toEqual([
      "one\nTWO\nthree\n",
      "fresh\nlines\n",
      "keep\nnew\n",
    ]);
  });

  test("is planned with every path, the diff that will be applied and the hashes on both sides", async () => {
    const { plan, at, names } = await files(BEFORE);
    const { targets, shown, binding, leaves, risk } = await plan(patch);
    expect(risk).toBe("write");
    expect([...targets].sort()).toEqual(["a.txt", "dir/new.txt", "from.txt", "gone.txt", "to.txt"].map(at));
    for (const part of ["-two\n+TWO", "delete gone.txt", "new file dir/new.txt\n+fresh", "move from.txt to to.txt"]) {
      expect(shown).toContain(part);
    }
    expect(leaves!.find((one) => one.path === at("gone.txt"))!.sha256).toBeNull();
    expect(leaves).toHaveLength(5);
    const before = JSON.stringify(binding);
    await writeFile(at("a.txt"), "zero\none\ntwo\nthree\n");
    expect(JSON.stringify((await plan(patch)).binding)).not.toBe(before);
    expect(await names()).toEqual(["a.txt", "from.txt", "gone.txt"]);
  });
});

describe("all or nothing", () => {
  test("one hunk that does not fit leaves every file as it was, and is named with the nearest lines", async () => {
    const { apply, now, names, plan } = await files({ "a.txt": "one\ntwo\n", "b.txt": "alpha beta\ngamma delta\n" });
    const patch = `--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- a/b.txt\n+++ b/b.txt\n@@ -1,1 +1,1 @@\n-alpha beta\n+x\n@@ -2,1 +2,1 @@\n-gamma delto\n+y\n`;
    await expect(apply(patch)).rejects.toThrow(
      /Hunk 2 of 2 in b\.txt \("@@ -2,1 \+2,1 @@"\) does not fit: .*"gamma delto".*nothing was changed\. The nearest lines are:\n2: gamma delta/s,
    );
    await expect(plan(patch)).rejects.toThrow(/Hunk 2 of 2/);
    expect([await now("a.txt"), await now("b.txt")]).toEqual(["one\ntwo\n", "alpha beta\ngamma delta\n"]);
    expect(await names()).toEqual(["a.txt", "b.txt"]);
  });

  test("a write that fails in the middle is taken back with the ones before it", async () => {
    const { apply, now, names } = await files({ "a.txt": "one\n", "b.txt": "two\n", "c.txt": "three\n" });
    const real = Inside.prototype.writeAtomic;
    let full = true;
    const spy = vi.spyOn(Inside.prototype, "writeAtomic").mockImplementation(async function (this: Inside, ...args) {
      if (this.path === "b.txt" && full) {
        full = false;
        throw new AppError("STORAGE_FULL", { message: "The disk is full." });
      }
      return real.apply(this, args);
    });
    onTestFinished(() => spy.mockRestore());
    const part = (name: string, from: string, to: string) =>
      `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
    const patch = part("a.txt", "one", "1") + part("b.txt", "two", "2") + part("c.txt", "three", "3");
    await expect(apply(patch)).rejects.toThrow("The disk is full.");
    expect([await now("a.txt"), await now("b.txt"), await now("c.txt")]).toEqual(["one\n", "two\n", "three\n"]);
    expect(await names()).toEqual(["a.txt", "b.txt", "c.txt"]);
    await apply(patch);
    expect(await now("c.txt")).toBe("3\n");
  });

  test("a new file that already exists is refused, so is one that is not there", async () => {
    const { apply, now } = await files({ "a.txt": "one\n" });
    await expect(apply("*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch")).rejects.toThrow(/already exists/);
    await expect(apply("*** Begin Patch\n*** Delete File: b.txt\n*** End Patch")).rejects.toThrow(/no "b.txt"/);
    expect(await now("a.txt")).toBe("one\n");
  });
});

describe("fuzzy context", () => {
  const body = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join("\n");

  test("a hunk is found at another line than it says, and that is told", async () => {
    const { apply, now } = await files({ f: `${body}\n` });
    const { text } = await apply("--- a/f\n+++ b/f\n@@ -5,3 +5,3 @@\n line 29\n-line 30\n+thirty\n line 31\n");
    expect(text).toMatch(/Hunk 1 of 1 in f was placed at line 29/);
    expect((await now("f")).split("\n")[29]).toBe("thirty");
  });

  test("indentation and trailing blanks of the context are forgiven; the file keeps its own", async () => {
    const { apply, now } = await files({ f: "if (x) {\n\treturn 1;  \n}\n" });
    await apply("*** Begin Patch\n*** Update File: f\n@@\n if (x) {\n   return 1;\n-}\n+} // end\n*** End Patch");
    expect(await now("f")).toBe("if (x) {\n\treturn 1;  \n} // end\n");
  });

  test("outer context that changed is passed over when the line number says where", async () => {
    const { apply, now } = await files({ f: "A changed\nb\nc\nd changed\n" });
    await apply("--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n A\n b\n-c\n+C\n d\n");
    expect(await now("f")).toBe("A changed\nb\nC\nd changed\n");
  });

  test("a hunk that fits in several places is refused without a number and goes to the nearest with one", async () => {
    const { apply, now } = await files({ f: "x\ny\nx\ny\nx\ny\n" });
    await expect(apply("*** Begin Patch\n*** Update File: f\n@@\n-x\n+z\n*** End Patch")).rejects.toThrow(
      /fits in 3 places \(lines 1, 3, 5\)/,
    );
    await apply("--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n-x\n+z\n y\n");
    expect(await now("f")).toBe("x\ny\nz\ny\nx\ny\n");
  });

  test("the line named behind @@ says where to look", async () => {
    const { apply, now } = await files({ f: "def a():\n  pass\ndef b():\n  pass\n" });
    await apply("*** Begin Patch\n*** Update File: f\n@@ def b():\n-  pass\n+  return\n*** End Patch");
    expect(await now("f")).toBe("def a():\n  pass\ndef b():\n  return\n");
  });

  test("wrong counts, empty context lines and removed lines that look like headers are read as meant", async () => {
    const { apply, now } = await files({ f: "a\n\n-- old\nb\n" });
    await apply("--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n a\n\n--- old\n+++ new\n b\n");
    expect(await now("f")).toBe("a\n\n++ new\nb\n");
  });

  test("CRLF files stay CRLF; a missing end of line is kept, added and taken as the patch says", async () => {
    const { apply, now } = await files({ crlf: "a\r\nb\r\n", open: "a\nb", closed: "a\nb\n" });
    await apply("--- a/crlf\n+++ b/crlf\n@@ -1,2 +1,3 @@\n a\n+mid\n b\n");
    expect(await now("crlf")).toBe("a\r\nmid\r\nb\r\n");
    await apply("--- a/open\n+++ b/open\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n");
    expect(await now("open")).toBe("a\nB\n");
    await apply("--- a/closed\n+++ b/closed\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n");
    expect(await now("closed")).toBe("a\nB");
  });
});

describe("paths and modes", () => {
  test.each(["../out/secret", "/etc/passwd", "~/x", "link/secret"])(
    "%s is planned as outside and never written",
    async (path) => {
      const { place, plan, apply, at } = await files({});
      await symlink(place.out, at("link"));
      const patch = `*** Begin Patch\n*** Update File: ${path}\n@@\n-${SECRET}\n+pwned\n*** End Patch`;
      expect((await plan(patch)).outside).toBeTruthy();
      await expect(apply(patch)).rejects.toMatchObject({ code: "PATH_OUTSIDE" });
      expect(await readFile(join(place.out, "secret"), "utf8")).toBe(SECRET);
    },
  );

  test("a renamed script is still a program, and hidden signs of the patch are shown", async () => {
    const { apply, plan, at } = await files({ run: "echo\n" });
    await chmod(at("run"), 0o755);
    const patch =
      "*** Begin Patch\n*** Update File: run\n*** Move to: bin/run\n@@\n-echo\n+echo \u202ehi\n*** End Patch";
    expect((await plan(patch)).shown).toContain("+echo \\u{202e}hi");
    await apply(patch);
    expect((await stat(at("bin/run"))).mode & 0o777).toBe(0o755);
  });

  test("modes, copies and binary patches are refused, not half applied", async () => {
    const { apply } = await files({ f: "a\n" });
    await expect(apply("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n")).rejects.toThrow(/only contents/);
    await expect(apply("diff --git a/f b/f\nBinary files a/f and b/f differ\n")).rejects.toThrow(/only contents/);
    await expect(apply("just words")).rejects.toThrow(/changes no file/);
  });
});

describe("after a crash the probe", () => {
  test("says done when everything is there, and that nothing happened when nothing is", async () => {
    const { apply, probe, names } = await files(BEFORE);
    expect(await probe(UNIFIED)).toEqual({ never: true });
    expect(await names()).toEqual(["a.txt", "from.txt", "gone.txt"]);
    await apply(UNIFIED);
    const done = await probe(UNIFIED);
    expect(done).toEqual({ ok: { text: expect.stringMatching(/was applied/), meta: { probed: true } } });
  });

  test("finishes what was begun", async () => {
    const { probe, now, names, at } = await files(BEFORE);
    await writeFile(at("a.txt"), "one\nTWO\nthree\n");
    await rm(at("gone.txt"));
    // The move was written, and its old file not yet taken away.
    await writeFile(at("to.txt"), "keep\nnew\n");
    const done = await probe(UNIFIED);
    const text = expect.stringMatching(/interrupted; done before that: .*a\.txt.*The rest is done now/s);
    expect(done).toMatchObject({ ok: { text } });
    expect(await names()).toEqual(["a.txt", "dir", "dir/new.txt", "to.txt"]);
    expect(await now("dir/new.txt")).toBe("fresh\nlines\n");
  });

  test("says which files are which when it cannot tell, and touches none", async () => {
    const { probe, now, at } = await files(BEFORE);
    await writeFile(at("a.txt"), "something else\n");
    await rm(at("gone.txt"));
    const told = await probe(UNIFIED);
    const text = expect.stringMatching(/changed: gone\.txt.*not clear: a\.txt/s);
    expect(told).toMatchObject({ ok: { isError: true, text } });
    expect(await now("from.txt")).toBe("keep\nold\n");
  });
});
