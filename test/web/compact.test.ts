import { expect, test } from "vitest";
import { compact } from "../../src/edges/tools/browser/compact.ts";

// As playwright-core 1.65 writes it.
const snapshot = String.raw`- generic [active] [ref=e1]:
  - navigation [ref=e2]:
    - list [ref=e3]:
      - listitem [ref=e4]:
        - link "One" [ref=e5] [cursor=pointer]:
          - /url: /x?a=1
      - listitem [ref=e6]:
        - 'link "Two: \"quoted\" and it''s" [ref=e7] [cursor=pointer]':
          - /url: /y
  - heading "Hi" [level=2] [ref=e8]
  - heading "Linked" [level=3] [ref=e9]:
    - link "Linked" [ref=e10] [cursor=pointer]:
      - /url: /z
  - paragraph [ref=e11]:
    - text: "Some: text"
    - link "here" [ref=e12] [cursor=pointer]
    - text: and there
  - generic [ref=e13]:
    - text: Name
    - textbox "Name" [ref=e14]: Ada
    - textbox "Secret" [ref=e15]: hunter2
  - combobox [ref=e16]:
    - option "a"
    - option "b" [selected]
  - checkbox "Stay" [checked] [ref=e17]
  - button "Go" [disabled] [ref=e18]
  - generic [ref=e19] [cursor=pointer]: clicky
  - table [ref=e20]:
    - rowgroup [ref=e21]:
      - row "1 2" [ref=e22]:
        - cell "1" [ref=e23]
        - cell [ref=e24]:
          - button "Edit" [ref=e25] [cursor=pointer]
  - img [ref=e26]
  - img "A lamp" [ref=e27]
  - iframe [ref=e28]:
    - button "Inner" [ref=f1e2]`;

test("a page in few words: text, and what can be acted on with its ref", () => {
  const { text, refs } = compact(snapshot, new Set(["hunter2"]));
  expect(text.split("\n")).toEqual([
    "navigation:",
    ' - link "One" [e5]',
    ' - link "Two: "quoted" and it\'s" [e7]',
    "## Hi",
    '### link "Linked" [e10]',
    'Some: text link "here" [e12] and there',
    "Name",
    'textbox "Name" [e14]: Ada',
    'textbox "Secret" [e15]: ••••',
    "combobox [e16]: a | b (selected)",
    'checkbox "Stay" [checked] [e17]',
    'button "Go" [disabled] [e18]',
    'clickable "clicky" [e19]',
    '1 | button "Edit" [e25]',
    'img "A lamp"',
    "iframe [e28]:",
    ' button "Inner" [f1e2]',
  ]);
  expect(refs.get("e18")).toBe('button "Go"');
  expect(refs.has("e23")).toBe(false);
});

test("every ref of something that acts is in the text", () => {
  const { text, refs } = compact(snapshot);
  for (const ref of refs.keys()) expect(text).toContain(`[${ref}]`);
  expect(refs.size).toBe(12);
});

test("a line that is not understood is kept as text", () => {
  expect(compact("- generic [ref=e1]:\n  - ??? odd {line}").text).toBe("??? odd {line}");
});
