import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../core/domain/index.ts";
import { never, scene } from "../testing.ts";
import { createEdit } from "./edit.ts";

async function file(content: string) {
  const place = await scene();
  const path = join(place.workspace, "f");
  await writeFile(path, content);
  const tool = createEdit();
  return {
    place,
    path,
    tool,
    now: () => readFile(path, "utf8"),
    edit: (input: JsonObject) => tool.run({ path: "f", ...input }, place, "k", never),
    plan: (input: JsonObject) => tool.plan({ path: "f", ...input }, place),
    probe: (input: JsonObject) => tool.probe!({ path: "f", ...input }, place, "k", { sameBoot: true, signal: never }),
  };
}

test("text that occurs once is replaced, dollar signs and all", async () => {
  const { edit, now } = await file("a\nb $x\nc\n");
  expect((await edit({ old: "b $x", new: "$& $1 $$" })).text).toBe("edited f, 1 replacement at line 2.");
  expect(await now()).toBe("a\n$& $1 $$\nc\n");
});

test("text that occurs twice is refused with count and lines, and nothing changes", async () => {
  const { edit, now, plan } = await file("x\ny\nx\n");
  await expect(edit({ old: "x", new: "z" })).rejects.toThrow(/occurs 2 times in f \(lines 1, 3\); nothing was changed/);
  await expect(plan({ old: "x", new: "z" })).rejects.toThrow(/2 times/);
  expect(await now()).toBe("x\ny\nx\n");
});

test("with all, every occurrence is replaced", async () => {
  const { edit, now } = await file("x\ny\nx\n");
  expect((await edit({ old: "x", new: "xx", all: true })).text).toMatch(/2 replacements at lines 1, 3/);
  expect(await now()).toBe("xx\ny\nxx\n");
});

test("text that does not occur is refused with the nearest lines", async () => {
  const { edit, now } = await file("function one() {\n  return calculate(a, b);\n}\n");
  await expect(edit({ old: "  return calculat(a, c);", new: "z" })).rejects.toThrow(
    /occurs 0 times in f.*nearest lines are:\n2: {3}return calculate\(a, b\);/s,
  );
  expect(await now()).toContain("calculate(a, b)");
});

test("trailing blanks and line ends are forgiven on whole lines, with a report", async () => {
  const { edit, now } = await file("one  \r\ntwo\t\r\nthree\r\n");
  const { text } = await edit({ old: "one\ntwo\n", new: "1\n2\n" });
  expect(text).toMatch(/only without regard to line ends and trailing blanks/);
  expect(await now()).toBe("1\r\n2\r\nthree\r\n");
});

test("a match that only forgiving makes ambiguous is refused with its count", async () => {
  const { edit, now } = await file("a \nb\na\t\nb\n");
  await expect(edit({ old: "a\nb\n", new: "c\n" })).rejects.toThrow(/occurs 2 times in f \(lines 1, 3\)/);
  expect(await now()).toBe("a \nb\na\t\nb\n");
});

test("new lines in a CRLF file get CRLF", async () => {
  const { edit, now } = await file("a\r\nb\r\n");
  await edit({ old: "b", new: "b\nc" });
  expect(await now()).toBe("a\r\nb\r\nc\r\n");
});

test("deleting whole lines by a forgiven match leaves no empty line", async () => {
  const { edit, now } = await file("a\nb \nc\n");
  await edit({ old: "b\n", new: "" });
  expect(await now()).toBe("a\nc\n");
});

test("an empty old text, no change, and a file that is no text are refused", async () => {
  const { edit, path } = await file("a");
  await expect(edit({ old: "", new: "x" })).rejects.toThrow(/"old" is empty/);
  await expect(edit({ old: "a", new: "a" })).rejects.toThrow(/nothing would change/);
  await writeFile(path, Buffer.from([0x61, 0xff, 0xfe]));
  await expect(edit({ old: "a", new: "b" })).rejects.toThrow(/not UTF-8/);
});

test("the plan shows old and new in full and is bound to the file before and after", async () => {
  const { plan, path } = await file("a\nb\n");
  const first = await plan({ old: "b", new: "c\u200b" });
  expect(first.shown).toContain("- b\n+ c\\u{200b}");
  await writeFile(path, "a\nb\nz\n");
  expect((await plan({ old: "b", new: "c\u200b" })).binding).not.toEqual(first.binding);
});

test("the probe tells a done edit from one that did not happen", async () => {
  const { probe, edit, place } = await file("a\nb\n");
  expect(await probe({ old: "b", new: "c" })).toEqual({ never: true });
  await edit({ old: "b", new: "c" });
  const done = await probe({ old: "b", new: "c" });
  expect(done).toEqual({ ok: { text: expect.stringMatching(/in place/), meta: { path: "f", probed: true } } });
  expect(await readdir(place.workspace)).toEqual(["f"]);
});

test("the probe is right when the new text contains the old one", async () => {
  const { probe, edit } = await file("call(a)\n");
  const input = { old: "call(a)", new: "call(a)\ncall(b)" };
  expect(await probe(input)).toEqual({ never: true });
  await edit(input);
  expect(await probe(input)).toMatchObject({ ok: { text: expect.stringMatching(/in place/) } });
});

test("the probe stays silent when the file could be either", async () => {
  const { probe } = await file("b\nc\n");
  expect(await probe({ old: "b", new: "c" })).toBeUndefined();
});
