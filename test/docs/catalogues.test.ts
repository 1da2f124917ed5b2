/** Every sentence of a face stands in its catalogue: the command line's in `src/faces/cli/words`, the page's in its `words.ts` files. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseComponent } from "../architecture/component.ts";
import { isSentence, sentencesIn, sentencesOf } from "../architecture/sentences.ts";
import { ROOT, repositoryText } from "../support/repository.ts";

/** Two words in a row that nobody reads, each with what it is. The list may only become shorter. */
const NOT_SHOWN: Readonly<Record<string, readonly [text: string, what: string][]>> = {
  "src/faces/cli/commands/context.ts": [["going on", "a state of the protocol"]],
  "src/faces/cli/commands/import.ts": [
    ["there already", "a state of the protocol"],
    ["left out", "a state of the protocol"],
  ],
  "ui/src/lib/chat.svelte.ts": [
    ["lares.draft …", "a key of the browser's storage"],
    ["note …", "the key of a row"],
  ],
  "ui/src/lib/entries.ts": [
    ["replaced …", "the key of a row"],
    ["fold …", "the key of a row"],
    ["end …", "the key of a row"],
  ],
  "ui/src/lib/keys.ts": [["input, textarea, select, [contenteditable]", "a selector"]],
  "ui/src/lib/markdown.ts": [["noopener noreferrer nofollow", "the value of an attribute"]],
  "ui/src/lib/theme.svelte.ts": [["(prefers-color-scheme: dark)", "a media query"]],
  "ui/src/lib/when.ts": [["every day", "what a person may type"]],
  "ui/src/parts/ApprovalCard.svelte": [["input, textarea", "a selector"]],
  "ui/src/parts/Composer.svelte": [["(pointer: fine)", "a media query"]],
  "ui/src/parts/ContextPanel.svelte": [["in force", "a state of the protocol"]],
};

const isCatalogue = (file: string) => /^src\/faces\/cli\/words\/|words\.ts$/.test(file);
const isTest = (file: string) => /\.test\.ts$|(^|\/)testing\.ts$/.test(file);

const files = ["src/faces/cli", "ui/src"].flatMap((folder) =>
  (readdirSync(`${ROOT}${folder}`, { recursive: true }) as string[])
    .map((file) => `${folder}/${file}`)
    .filter((file) => /\.(ts|svelte)$/.test(file) && !isTest(file) && !isCatalogue(file)),
);

function shownIn(file: string): string[] {
  const source = repositoryText(file);
  const found = file.endsWith(".svelte") ? sentencesOf(parseComponent(source), source) : sentencesIn(source);
  return found.map(({ text }) => text);
}

describe("sentences outside the catalogues", () => {
  test("both faces are looked through", () => {
    expect(files).toContain("src/faces/cli/commands/status.ts");
    expect(files).toContain("ui/src/pages/Chat.svelte");
  });

  test.each(files)("%s has none", (file) => {
    const known = new Set((NOT_SHOWN[file] ?? []).map(([text]) => text));
    expect(shownIn(file).filter((text) => !known.has(text))).toEqual([]);
  });

  test("every exception is still there", () => {
    const gone = Object.entries(NOT_SHOWN).flatMap(([file, known]) => {
      const shown = files.includes(file) ? shownIn(file) : [];
      return known.filter(([text]) => !shown.includes(text)).map(([text]) => `${file}: ${text}`);
    });
    expect(gone).toEqual([]);
  });

  test.each([
    ["a sentence", '"Nothing is waiting for you."', true],
    ["a phrase", '"never used"', true],
    ["a word and a value", "`used ${ago}`", true],
    ["a word that is a sentence", '"Stopped."', true],
    ["a command", "hint`lares turns get ${turn}`", true],
    ["one word", '"model"', false],
    ["flags", '"-h, --help"', false],
    ["a figure and its unit", "`${n} min`", false],
    ["a value and a value", "`${glyph} ${word}`", false],
    ["a path", "`${home}/agents/${agent}`", false],
    ["the path of an import", 'import("./a b/c d.ts")', false],
    ["what a bug throws", 'new Error("this cannot be")', false],
  ])("%s", (_what, code, is) => {
    expect(sentencesIn(`f(${code});`).length > 0).toBe(is);
  });

  test("a sentence in a component is found in its script and in its markup", () => {
    const source = '<script>const a = "Say it again";</script><p>{b ? "Try it once" : "x"}</p>';
    expect(sentencesOf(parseComponent(source), source).map(({ text }) => text)).toEqual([
      "Say it again",
      "Try it once",
    ]);
    expect(isSentence("plain")).toBe(false);
  });
});
