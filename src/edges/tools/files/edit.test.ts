import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failed } from "../../../core/contracts/index.ts";
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
  expect((await edit({ old: "b $x", new: "$& $1 $$" })).text).toBe("edited f, 1 replacement at line 2.\n2: $& $1 $$");
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
  expect(text).toMatch(/only when line endings and trailing spaces were ignored/);
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

test("a failure names the nearest lines, then what differs, then what to do, each on a line of its own", async () => {
  const { edit } = await file("a\nif (x) {\n\treturn calculate(a, b);\n}\n");
  const said = await edit({ old: "    return calculate(a, b);\n    done", new: "z" }).catch(
    (error) => failed(error).text,
  );
  expect(said).toBe(
    "The old text occurs 0 times in f; nothing was changed. The nearest lines are:\n3: →return calculate(a, b);\n4: }\n(→ stands for a tab.)\n" +
      'What differs: the indentation of line 3: 1 tab in the file, 4 spaces in your text; line 4 from column 1: "}" in the file, "    done" in your text.\n' +
      'Copy the text exactly as it stands in the file. To see more of it: read {"path":"f","offset":1,"limit":40}',
  );
});

test.each([
  ["quotation marks", "say(“hello world”)\n", 'say("hello world")', /the quotation marks or dashes of line 1/],
  ["letter case", "Say(hello world)\n", "say(Hello world)", /upper and lower case in line 1/],
  ["line numbers", "say(hello world)\n", "1: say(hello world)", /your text has line numbers/],
  [
    "another letter",
    "say(hello world)\n",
    "say(hallo world)",
    /line 1 from column 6: "ello world\)" in the file, "allo world\)"/,
  ],
  ["the end of the file", "say(hello world)", "say(hello world)\nand more", /the file ends after line 1/],
])("says that what differs is %s", async (_what, content, old, expected) => {
  const { edit, now } = await file(content);
  await expect(edit({ old, new: "z" })).rejects.toThrow(expected);
  expect(await now()).toBe(content);
});

test("a single place that differs in indentation only is edited in the file's own indentation, and says so", async () => {
  const { edit, now } = await file("class A {\n\tone() {\n\t\treturn  1;\n\t}\n}\n");
  const { text, origin } = await edit({
    old: "    one() {\n        return 1;\n    }",
    new: "    one() {\n        if (x) {\n            return 2;\n        }\n        return 1;\n    }",
  });
  expect(await now()).toBe("class A {\n\tone() {\n\t\tif (x) {\n\t\t\treturn 2;\n\t\t}\n\t\treturn  1;\n\t}\n}\n");
  expect(text).toMatch(/^edited f, 1 replacement at line 2\. The old text differed from the file in white space only/);
  expect(text).toContain("\n3: →→if (x) {\n4: →→→return 2;");
  // A line of the file is quoted.
  expect(origin).toBeUndefined();
});

test("a whole piece that stands further in keeps its place", async () => {
  const { edit, now } = await file("def f():\n    if x:\n        a()\n    return\n");
  await edit({ old: "if x:\n    a()\n", new: "if x:\n    a()\n    b()\nelse:\n    c()\n" });
  expect(await now()).toBe("def f():\n    if x:\n        a()\n        b()\n    else:\n        c()\n    return\n");
});

test("white space that fits in two places, or leaves the indentation open, changes nothing", async () => {
  const { edit, now, path } = await file("\ta()\n  a()\n");
  await expect(edit({ old: "    a()", new: "b()" })).rejects.toThrow(
    /apart from white space it would match at lines 1, 2/,
  );
  expect(await now()).toBe("\ta()\n  a()\n");
  await writeFile(path, "if x:\n  a(1)\n\tb(2)\n");
  await expect(edit({ old: "    a(1)\n    b(2)", new: "    c(3)" })).rejects.toThrow(/indentation of line 2/);
  expect(await now()).toBe("if x:\n  a(1)\n\tb(2)\n");
});

test("the probe knows an edit in other white space that did not happen, and one that did", async () => {
  const { probe, edit } = await file("{\n\tone();\n}\n");
  const input = { old: "  one();", new: "  two();" };
  expect(await probe(input)).toEqual({ never: true });
  await edit(input);
  expect(await probe(input)).toBeUndefined();
});

test("several new lines are shown as they stand now, twelve at most", async () => {
  const { edit } = await file("a\nb\n");
  const fresh = Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n");
  const { text, origin } = await edit({ old: "b", new: fresh });
  expect(text).toBe(
    `edited f, 1 replacement at line 2.\n${fresh
      .split("\n")
      .slice(0, 12)
      .map((line, i) => `${i + 2}: ${line}`)
      .join("\n")}\n…`,
  );
  expect(origin).toBe("own");
});
