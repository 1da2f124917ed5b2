import fc from "fast-check";
import { expect, test } from "vitest";
import { growingText } from "./growing.ts";

const ANSWER = `# Title

One line
and another, with a \`word\`.

- a
  - b
    1. c
- [x] done

> quoted
> > deeper

| a | b |
|---|--:|
| 1 | 2 |

\`\`\`ts
const a = 1;

const b = 2;
\`\`\`
---
The [end](https://example.com).
`;

const PIECES = [
  "a",
  " ",
  "\n",
  "\n\n",
  "- ",
  "-",
  "> ",
  "#",
  "# ",
  "```",
  "|",
  "---",
  "\n---|---\n",
  "1. ",
  "  ",
  "*",
  "=",
  "\r\n",
  "\\",
];

test("text that grows by any pieces shows the same blocks as the whole text at once", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }), (pieces) => {
      const grow = growingText();
      let text = "";
      for (const piece of pieces) {
        text += piece;
        expect(grow(text)).toEqual(growingText()(text));
      }
    }),
  );
});

test("letter by letter, a finished block stays the same object (UI-4)", () => {
  const grow = growingText();
  let before = grow("");
  const made = new Set(before);
  for (let end = 1; end <= ANSWER.length; end++) {
    const blocks = grow(ANSWER.slice(0, end));
    for (const block of blocks) made.add(block);
    // At most the last two are made new for one letter: the last, and the one it may still belong to.
    expect(blocks.filter((block) => !before.includes(block)).length).toBeLessThanOrEqual(3);
    before = blocks;
  }
  expect(before).toEqual(growingText()(ANSWER));
  expect(before.map(({ kind }) => kind)).toEqual([
    "heading",
    "paragraph",
    "list",
    "quote",
    "table",
    "fence",
    "rule",
    "paragraph",
  ]);
});

test("another text in its place starts over", () => {
  const grow = growingText();
  grow("# one\n\ntwo\n\nthree\n\n");
  expect(grow("other")).toEqual(growingText()("other"));
});

test("a link that cannot be followed safely is words", () => {
  const [block] = growingText()("[go](javascript:alert(1)) [bank.example](https://evil.example) [in](/logout)");
  expect(JSON.stringify(block)).not.toContain("javascript");
  const links = block?.kind === "paragraph" ? block.inlines.filter(({ kind }) => kind === "link") : [];
  expect(links).toEqual([
    {
      kind: "link",
      url: "https://evil.example",
      label: [expect.objectContaining({ text: "https://evil.example" })],
      marks: 0,
    },
  ]);
});
