/**
 * Words people see. The page's strings live in its catalogues, so that they can be read through in one go, and neither they
 * nor the documents fall back into phrases that no native writer would use.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "svelte/compiler";
import { describe, expect, test } from "vitest";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const filesIn = (folder: string, ending: string): string[] =>
  (readdirSync(join(ROOT, folder), { recursive: true }) as string[])
    .filter((file) => file.endsWith(ending) && !file.endsWith(".test.ts"))
    .map((file) => `${folder}/${file}`);

/** Attributes that a person reads or hears. */
const READ_ALOUD = new Set([
  "title",
  "placeholder",
  "alt",
  "label",
  "aria-label",
  "aria-description",
  "aria-roledescription",
]);
/** Not prose: a command to copy, and an example of one. */
const COMMANDS = /^(?:lares |df )/;

type Node = { type?: string; [key: string]: unknown };

/** Words that stand in the markup of a Svelte component. */
function wordsIn(source: string): string[] {
  const found: string[] = [];
  const walk = (node: unknown, isShown: boolean): void => {
    if (Array.isArray(node)) {
      for (const one of node) walk(one, isShown);
      return;
    }
    if (node === null || typeof node !== "object") return;
    const { type, ...rest } = node as Node;
    if (type === "Text" && isShown) {
      const text = String(rest.data).trim();
      if (/\p{L}{2,}/u.test(text) && !COMMANDS.test(text)) found.push(text);
    }
    if (type === "Attribute") {
      walk(rest.value, READ_ALOUD.has(String(rest.name)));
      return;
    }
    for (const value of Object.values(rest)) walk(value, isShown);
  };
  walk(parse(source, { modern: true }).fragment, true);
  return found;
}

describe("the page", () => {
  test.each(filesIn("ui/src", ".svelte"))("%s takes its words from a catalogue", (file) => {
    expect(wordsIn(read(file))).toEqual([]);
  });

  test("the finder sees text and attributes that are read, and nothing else", () => {
    const planted = '<p class="wide card" title="Say it">Hello {name}</p><button aria-label="Close">{w.close}</button>';
    expect(wordsIn(planted)).toEqual(["Say it", "Hello", "Close"]);
  });
});

/** What to write instead is in the pairs; the left column must not come back. */
const HABITS: readonly [habit: RegExp, instead: string][] = [
  [/\banew\b/i, "again"],
  [/\bafresh\b/i, "again, or clear the context"],
  [/\bwhoever\b/i, "anyone, programs that"],
  [/\bput (?:it |this list |them )?away\b/i, "hide"],
  [/\bhas not the right\b/i, "isn't allowed to"],
  [/\b(?:somebody|nobody|person|owner|session|failure) is told\b/i, "is shown, is sent, is reported"],
  [/\b(?:last|\d+) signs\b/i, "characters"],
  [/\bfor your word\b/i, "to confirm"],
  [/\bword for word\b/i, "in full"],
  [/\bfrom now on answers\b|\banswers from now on\b/i, "now using"],
  [/\bwhat (?:becomes|became) of it\b/i, "the result"],
  [/\btake (?:it|that|one) back\b/i, "undo, revoke"],
  [/\bmeans no[,.]/i, "is denied"],
  [/\bhears nothing\b/i, "not receiving"],
  [/\bnot there any more\b/i, "no longer exists"],
  [/\bin the clear\b/i, "unencrypted"],
];

/** What has been read through. A document joins the list once it is clean. */
const READ = [
  "ui/src/lib/words.ts",
  "ui/src/parts/schedule/words.ts",
  "ui/src/parts/context-words.ts",
  "src/flow/approvals/words.ts",
  "src/flow/commands/commands.ts",
  "docs/CLI.md",
  "README.md",
  "CONTRIBUTING.md",
  ...["ARCHITECTURE", "CONFIG", "GLOSSARY", "MEMORY", "PROTOCOL", "TOKENS"].map((page) => `docs/${page}.md`),
  ...filesIn("src/faces/cli", ".ts"),
];

describe("habits of speech that no native writer has", () => {
  test.each(READ)("%s is free of them", (file) => {
    const lines = read(file).split("\n");
    // Comments are for developers and are read elsewhere.
    const said = file.endsWith(".ts") ? lines.filter((line) => !/^\s*(?:\/\*\*|\*|\/\/)/.test(line)) : lines;
    const found = said.flatMap((line) =>
      HABITS.filter(([habit]) => habit.test(line)).map(([, instead]) => `${line.trim()} → ${instead}`),
    );
    expect(found).toEqual([]);
  });
});
