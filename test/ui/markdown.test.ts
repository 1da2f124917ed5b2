/** What the page makes of a model's text, without a browser: which nodes, and never markup that the text brought along. */
import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";

interface Page {
  toBlocks(): (text: string) => readonly unknown[];
  toNodes(block: unknown, kind: "chat" | "file", document: unknown): { outerHTML: string };
}
// By address: the compiler reads the page's sources with other settings than these.
const source = new URL("../../ui/src/lib/markdown.ts", import.meta.url).href;
const { toBlocks, toNodes } = (await import(source)) as Page;
const { document } = parseHTML("<html></html>");

const shown = (text: string, kind: "chat" | "file" = "chat"): string =>
  toBlocks()(text)
    .map((block) => toNodes(block, kind, document).outerHTML)
    .join("\n");

describe("a model's text on the page", () => {
  test.each([
    ["a heading", "## Two", "<h2>Two</h2>"],
    ["marks", "**a** *b* ~~c~~ `d`", "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d</code></p>"],
    ["marks in marks", "***a***", "<p><strong><em>a</em></strong></p>"],
    ["code with its language", "```ts\na < b\n```", '<pre><code class="language-ts">a &lt; b</code></pre>'],
    ["a list in a list", "- a\n  1. b", "<ul><li>a<ol><li>b</li></ol></li></ul>"],
    ["a list that starts later", "3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
    ["tasks", "- [x] a\n- [ ] b", '<ul><li class="task">☑ a</li><li class="task">☐ b</li></ul>'],
    ["a quote in a quote", "> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"],
    ["a rule", "a\n\n---\n\nb", "<p>a</p>\n<hr>\n<p>b</p>"],
    [
      "a table",
      "| a | b |\n|---|--:|\n| 1 | 2 |",
      '<div class="scroll"><table><thead><tr><th>a</th><th class="right">b</th></tr></thead><tbody><tr><td>1</td><td class="right">2</td></tr></tbody></table></div>',
    ],
    [
      "a link",
      "[a](https://example.com/b)",
      '<p><a rel="noopener noreferrer nofollow" target="_blank" href="https://example.com/b">a</a></p>',
    ],
  ])("%s", (_what, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test("a line end is a line end in a chat, and a space in a file", () => {
    expect(shown("a\nb")).toBe("<p>a<br>b</p>");
    expect(shown("a\nb", "file")).toBe("<p>a b</p>");
  });

  test("HTML stays text, and only http, https and mailto can be followed", () => {
    const html = shown(
      "<img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](data:text/html,x) [c](/logout) ![d](https://e.example/p.png)",
    );
    expect(html).not.toMatch(/<(?!\/?(p|a)\b)/);
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual(["https://e.example/p.png"]);
  });

  test("the words of a text with too many marks are shown without them (UI-5)", () => {
    expect(shown("*a* ".repeat(10_000))).toBe(`<p>${"a ".repeat(10_000).trim()}</p>`);
    expect(shown("a\n".repeat(60_000))).toMatch(/^<pre>/);
    expect(shown(`so: ${"[a](".repeat(1_000)}`)).toMatch(/^<pre>/);
  });
});
