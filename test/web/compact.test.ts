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
    " - e5 link One",
    ' - e7 link Two: "quoted" and it\'s',
    "## Hi",
    "### e10 link Linked",
    "Some: text (e12 link here) and there",
    "e14 textbox Name: Ada",
    "e15 textbox Secret: ••••",
    "e16 combobox: a | b (selected)",
    "e17 checkbox Stay [checked]",
    "e18 button Go [disabled]",
    "e19 clickable clicky",
    "1 | e25 button Edit",
    'img "A lamp"',
    "e28 iframe:",
    " f1e2 button Inner",
  ]);
  expect(refs.get("e18")).toBe('button "Go"');
  expect(refs.has("e23")).toBe(false);
});

test("every ref of something that acts is in the text", () => {
  const { text, refs } = compact(snapshot);
  for (const ref of refs.keys()) expect(text).toMatch(new RegExp(`\\b${ref} `));
  expect(refs.size).toBe(12);
});

test("a line that is not understood is kept as text", () => {
  expect(compact("- generic [ref=e1]:\n  - ??? odd {line}").text).toBe("??? odd {line}");
});

const SENTENCE = "The household gods were honoured at every meal, and a share was set aside. ";
/** A page with a menu, a form with a complaint, forty cards, and prose with a link in it. */
const large = [
  "- generic [ref=e1]:",
  "  - navigation [ref=e2]:",
  "    - list [ref=e3]:",
  ...["Home", "Help"].flatMap((name, i) => [
    `      - listitem [ref=e${4 + i * 2}]:`,
    `        - link "${name}" [ref=e${5 + i * 2}] [cursor=pointer]`,
  ]),
  "  - form [ref=e10]:",
  "    - textbox [ref=e11]: Ada",
  "    - text: That name is taken.",
  "    - button [ref=e12]: Save",
  "  - main [ref=e20]:",
  ...Array.from({ length: 40 }, (_, i) => i * 10 + 100).flatMap((n, i) => [
    `    - generic [ref=e${n}]:`,
    `      - heading "Lamp ${i + 1}" [level=3] [ref=e${n + 1}]`,
    `      - paragraph [ref=e${n + 2}]: ${i + 1}9.00 €`,
    `      - button "Buy" [ref=e${n + 3}] [cursor=pointer]`,
  ]),
  "  - article [ref=e900]:",
  ...Array.from({ length: 20 }, (_, i) => `    - paragraph [ref=e${901 + i}]: ${SENTENCE.repeat(4)}`),
  "    - paragraph [ref=e950]:",
  "      - text: See",
  '      - link "the source" [ref=e951] [cursor=pointer]',
].join("\n");

test("of a large page: what can be done, what is alike once, how the text begins, and what is missing (BROWSER-1, BROWSER-3, BROWSER-4)", () => {
  const { text, refs } = compact(large);
  expect(text.length).toBeLessThan(900);
  expect(text).toContain("navigation: e5 link Home, e7 link Help");
  expect(text).toContain("That name is taken.");
  expect(text).toContain("e12 button Save");
  expect(text).toContain(" ### Lamp 3\n 39.00 €\n e123 button Buy\n … 37 more like these in e20: Lamp 4, Lamp 5,");
  expect(text).not.toContain("e133");
  expect(text).toMatch(/\n\[\d,\d{3} more characters, 38 elements: snapshot with full, a ref, or text to find\]$/);
  // What is not shown can be acted on all the same, and opened.
  expect(refs.get("e133")).toBe('button "Buy"');
  expect(refs.has("e20")).toBe(true);
});

test("nothing is lost: in full, by the ref of a part, or by words", () => {
  const full = compact(large, new Set(), { full: true }).text;
  expect(full).toContain("e493 button Buy");
  expect(full.split(SENTENCE.trim()).length - 1).toBe(80);
  expect(compact(large, new Set(), { ref: "e20" }).text).toMatch(/^main:[\s\S]*e493 button Buy$/);
  const found = compact(large, new Set(), { find: "lamp 30" }).text;
  expect(found).toContain("### Lamp 30\n 309.00 €\n e393 button Buy");
  expect(found.length).toBeLessThan(200);
  expect(compact(large, new Set(), { find: "no such words" }).text).toMatch(/not on the page/);
  expect(compact(large, new Set(), { also: "the source" }).text).toContain("See (e951 link the source)");
});
