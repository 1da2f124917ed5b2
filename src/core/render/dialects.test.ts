/** What each dialect writes, by example; and how awkward Markdown is read. */

import { describe, expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { chunks, type DialectName, ircRoom, parse, render } from "./index.ts";

const sent = (text: string, name: DialectName) => {
  const [part] = render(parse(text), name);
  return part!.html ?? part!.text;
};
const TASKS = "- [x] done\n- [ ] open\n  1. *first*";
const TABLE = "| name | n |\n|---|--:|\n| a | 1 |\n| long | 22 |";

test.each<[DialectName, string]>([
  ["plain", "☑ done\n☐ open\n  1. first"],
  ["telegram", "☑ done\n☐ open\n  1. <i>first</i>"],
  ["slack", "☑ done\n☐ open\n  1. _first_"],
  ["discord", "- ☑ done\n- ☐ open\n  1. *first*"],
  ["whatsapp", "☑ done\n☐ open\n  1. _first_"],
  ["mattermost", "- [x] done\n- [ ] open\n  1. *first*"],
  ["matrix", "<ul><li>☑ done</li><li>☐ open<ol><li><em>first</em></li></ol></li></ul>"],
  ["xmpp", "☑ done\n☐ open\n  1. _first_"],
])("%s: task lists", (name, expected) => expect(sent(TASKS, name)).toBe(expected));

const ALIGNED = "name   n\n────  ──\na      1\nlong  22";
test.each<[DialectName, string]>([
  ["plain", "• name: a\n  n: 1\n• name: long\n  n: 22"],
  ["telegram", `<pre>${ALIGNED}</pre>`],
  ["slack", `\`\`\`\n${ALIGNED}\n\`\`\``],
  ["whatsapp", `\`\`\`${ALIGNED}\`\`\``],
  ["commonmark", "| name | n |\n| --- | --: |\n| a | 1 |\n| long | 22 |"],
  [
    "email",
    '<table><thead><tr><th>name</th><th align="right">n</th></tr></thead><tbody><tr><td>a</td><td align="right">1</td></tr><tr><td>long</td><td align="right">22</td></tr></tbody></table>',
  ],
])("%s: tables", (name, expected) => expect(sent(TABLE, name)).toBe(expected));

test("a table too wide for a phone is a list of names and values", () => {
  const wide = "| setting | meaning |\n|---|---|\n| limit | the longest text of one message, in signs |";
  expect(sent(wide, "telegram")).toBe(
    "• <b>setting</b>: limit\n  <b>meaning</b>: the longest text of one message, in signs",
  );
});

test.each<[DialectName, string]>([
  ["telegram", '<pre><code class="language-ts">a &lt; b</code></pre>'],
  ["slack", "```\na &lt; b\n```"],
  ["discord", "```ts\na < b\n```"],
  ["whatsapp", "```a < b```"],
  ["irc", "\x11a < b\x11"],
  ["matrix", '<pre><code class="language-ts">a &lt; b</code></pre>'],
])("%s: code", (name, expected) => expect(sent("```ts\na < b\n```", name)).toBe(expected));

test.each<[DialectName, string]>([
  ["telegram", "<b>bold <i>both</i></b> <i>it</i>"],
  ["slack", "*bold _both_* _it_"],
  ["irc", "\x02bold \x1dboth\x1d\x02 \x1dit\x1d"],
])("%s: marks that overlap are nested", (name, expected) => {
  const tree = {
    blocks: [
      {
        kind: "paragraph" as const,
        inlines: [
          { kind: "text" as const, text: "bold ", marks: 1 },
          { kind: "text" as const, text: "both", marks: 3 },
          { kind: "text" as const, text: " it", marks: 2 },
        ],
      },
    ],
  };
  const [part] = render(tree, name);
  expect(part!.html ?? part!.text).toBe(expected);
});

test("signal: styles are ranges in UTF-16 units", () => {
  expect(render(parse("😀 **bold `x`**"), "signal")).toEqual([
    {
      text: "😀 bold x",
      styles: [
        { style: "MONOSPACE", start: 8, length: 1 },
        { style: "BOLD", start: 3, length: 6 },
      ],
    },
  ]);
});

test("telegram and mail carry the same words without tags beside them", () => {
  expect(render(parse("**a** <b> [c](https://d.example)"), "telegram")[0]).toEqual({
    text: "a <b> c",
    html: '<b>a</b> &lt;b&gt; <a href="https://d.example">c</a>',
  });
  expect(render(parse("**a** [c](https://d.example)"), "email")[0]!.text).toBe("a c (https://d.example)");
});

test("telegram: at most a hundred entities a message", () => {
  const parts = chunks("**a** `b` ".repeat(120), "telegram");
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) expect(part.html!.match(/<\w/g)!.length).toBeLessThanOrEqual(100);
});

test("whatsapp and slack leave out a mark that would show as a sign", () => {
  expect(sent("un**believ**able", "whatsapp")).toBe("unbelievable");
  expect(sent("my_file_name.ts", "whatsapp")).toBe("my_file_name.ts");
  expect(sent("un**believ**able", "discord")).toBe("un**believ**able");
});

test("irc: the room is what the server's prefix leaves of 512 bytes", () => {
  expect(ircRoom({ nick: "lares", user: "~lares", host: "example.org", target: "#home" })).toBe(
    512 - Buffer.byteLength(":lares!~lares@example.org PRIVMSG #home :\r\n"),
  );
});

describe("reading", () => {
  test.each<[string, string]>([
    ["**open", "**open"],
    ["a `b", "a `b"],
    ["[x](https://a", "[x](https://a"],
    ["```ts\nlet a", "let a"],
    ["- a\n\n- b", "• a\n• b"],
    ["1. a\n  - b\n2. c", "1. a\n  • b\n2. c"],
    ["text\n- item", "text\n\n• item"],
    ["# Title #", "Title"],
    ["snake_case_name and 2*3*4", "snake_case_name and 234"],
    ["a\\\nb<br>c", "a\nb\nc"],
    ["Title\n===", "Title"],
    ["***", "———"],
    ["`` a`b ``", "a`b"],
    ["see https://a.example/x_(y), ok", "see https://a.example/x_(y), ok"],
    ["<https://a.example>", "https://a.example"],
    ["[![alt](https://i.example/p.png)](https://a.example)", "alt (https://a.example)"],
    ["| a |\n|---|", "a"],
    ["", ""],
  ])("%j", (text, expected) => {
    expect(render(parse(text), "plain")[0]?.text ?? "").toBe(expected);
  });

  test("what commonmark writes is read again as the same", () => {
    const words = fc.constantFrom(
      "a",
      "*",
      "_",
      "**",
      "`",
      "[",
      "]",
      "(",
      "<",
      ">",
      "&amp;",
      "\\",
      "#",
      "-",
      "1.",
      "~~",
      "|",
      "b c",
      "**x**",
      "*y*",
      "`z`",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 12 }), (list) => {
        const tree = parse(list.join(""));
        const written = render(tree, "commonmark")[0]?.text ?? "";
        const unseen = (text: string) => text.replaceAll("\u200b", "");
        expect(unseen(render(parse(written), "plain")[0]?.text ?? "")).toBe(
          unseen(render(tree, "plain")[0]?.text ?? ""),
        );
      }),
      { numRuns: 1000 },
    );
  });
});
