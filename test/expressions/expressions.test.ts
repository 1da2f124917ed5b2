/**
 * No regular expression of the program or the page takes more than linear time (I13): one that does is a way to stop Lares
 * for whoever writes the text. Write a scanner instead, or an expression in which no two neighbours can take the same text.
 */
import { expect, test } from "vitest";
import { expressionsIn, expressionsOf } from "./find.ts";
import { judge } from "./judge.ts";

/** `file: expression` with the reason why no stranger's text reaches it, or only a short one. */
const ALLOWED: Readonly<Record<string, string>> = {};

test("every regular expression in src and ui takes linear time", { timeout: 240_000 }, () => {
  const verdicts = new Map<string, string | undefined>();
  const found = expressionsOf(["src", "ui/src"]);
  expect(found.length).toBeGreaterThan(900);
  const slow: string[] = [];
  const used = new Set<string>();
  for (const { file, line, source, flags } of found) {
    const text = `/${source}/${flags}`;
    if (!verdicts.has(text)) verdicts.set(text, judge(source, flags));
    const why = verdicts.get(text);
    if (!why) continue;
    const key = `${file}: ${text}`;
    if (key in ALLOWED) used.add(key);
    else slow.push(`${file}:${line} is ${why}: ${text}`);
  }
  expect(slow).toEqual([]);
  expect(Object.keys(ALLOWED).filter((key) => !used.has(key))).toEqual([]);
});

test.each([
  ["two neighbours take the same letters", String.raw`^ {0,3}(~{3,})[ \t]*([^\s]*)[^x]*$`, ""],
  ["a repetition in a repetition", String.raw`^\s*(?:<!--[\s\S]*?-->\s*)*<html`, "i"],
  ["an opening that is looked for from every place", String.raw`<!\[CDATA\[[\s\S]*?\]\]>`, ""],
  ["a trim that looks harmless", String.raw`\/+$`, ""],
  ["a comment nobody closes", String.raw`\/\*[\s\S]*?\*\/`, "g"],
  ["words in a row", String.raw`\bwhat\b.*\bis\b.*\bup to\b`, "i"],
  ["a greedy pair", String.raw`^diff --git (.+) (.+)$`, ""],
])("the check sees %s", (_why, source, flags) => {
  expect(judge(source, flags)).toContain("linear");
});

test.each([
  ["a bounded repetition", String.raw`^\d{1,3}[a-z]{0,4}$`, ""],
  ["one repetition behind an anchor", String.raw`^[a-z]+:$`, ""],
  ["what stops where the next one starts", String.raw`<[^<>]*>`, "g"],
  ["a word", String.raw`\bsk-[A-Za-z0-9_-]{8,}`, "g"],
])("the check leaves %s alone", (_why, source, flags) => {
  expect(judge(source, flags)).toBeUndefined();
});

test("literals are found in TypeScript and Svelte, and constant RegExp calls too", () => {
  const script = 'const a = /a+b/g;\nconst b = new RegExp("c+d", "i");';
  const wanted = [
    { line: 1, source: "a+b", flags: "g" },
    { line: 2, source: "c+d", flags: "i" },
  ];
  expect(expressionsIn("src/x.ts", script)).toEqual(wanted.map((one) => ({ file: "src/x.ts", ...one })));
  const page = `<script lang="ts">${script}</script>\n<p>{x.match(/e+f/)}</p>`;
  expect(
    expressionsIn("ui/x.svelte", page)
      .map(({ source }) => source)
      .sort(),
  ).toEqual(["a+b", "c+d", "e+f"]);
});
