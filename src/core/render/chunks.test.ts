/** RENDER-1 to RENDER-4 for random Markdown in every dialect, with a strict reader of each dialect. The seed is printed by fast-check. */

import { describe, expect, test } from "vitest";
import { expectLinear } from "../../../test/support/growth.ts";
import fc from "../../../test/support/property.ts";
import { dialects } from "./dialects/index.ts";
import { chunks, DIALECTS, type DialectName, length, type Part, parse, render } from "./index.ts";

/** A short round in `npm test`; RENDER_RUNS=500 for a long one. */
const RUNS = Number(process.env.RENDER_RUNS ?? 3);
const FAMILY = "👨‍👩‍👧‍👦";
const words = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      "hello",
      "Grüße",
      "مرحبا",
      "שלום",
      FAMILY,
      "🇩🇪🇫🇷",
      "e\u0301a\u0308",
      "日本語の文。",
      "end.",
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ..."**|*|_|__|~~|`|``|```|\\|[|](|)|<|>|<b>|</pre>|&lt;|&amp;|&|@everyone|@here|<!channel>|<@U123|#|-|1.|>|> |~|]".split(
        "|",
      ),
      "\r\nQUIT x",
      "\u0002\u0003\u000f",
      "\ud83d",
      "<@123456789>",
      "\ufdd0",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "**bold**",
      "*it*",
      "~~no~~",
      "`co de`",
      "***both***",
      "[name](https://e.example/x)",
      "https://e.example/y_z",
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 40, max: 160 }).map((n) => "ab".repeat(n)) },
);
const line = fc.array(words, { minLength: 1, maxLength: 8 }).map((list) => list.join(" "));
const paragraph = fc.array(line, { minLength: 1, maxLength: 3 }).map((list) => list.join("\n"));
const code = fc
  .tuple(
    fc.constantFrom("```", "````", "~~~"),
    fc.constantFrom("ts", "", "c++"),
    fc.array(line, { maxLength: 6 }),
    fc.boolean(),
  )
  .map(([fence, lang, lines, closed]) => `${fence}${lang}\n${lines.join("\n  ")}\n${closed ? fence : ""}`);
const indent = (text: string, by: string) => text.replaceAll("\n", `\n${by}`);
const { block } = fc.letrec<{ block: string }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 3 },
    paragraph,
    code,
    line.map((text) => `## ${text}`),
    fc.array(tie("block"), { minLength: 1, maxLength: 3 }).map((list) => `> ${indent(list.join("\n\n"), "> ")}`),
    fc
      .array(tie("block"), { minLength: 1, maxLength: 4 })
      .map((list) => list.map((b) => `- ${indent(b, "  ")}`).join("\n")),
    fc
      .array(tie("block"), { minLength: 1, maxLength: 4 })
      .map((list) => list.map((b, i) => `${i + 3}. [x] ${indent(b, "   ")}`).join("\n")),
  ),
}));
const markdown = fc.array(block, { minLength: 1, maxLength: 3 }).map((list) => list.join("\n\n"));
const table = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.array(line, { minLength: 4, maxLength: 12 }))
  .map(([columns, cells]) => {
    const row = (at: number) =>
      `| ${Array.from({ length: columns }, (_, i) => cells[(at + i) % cells.length]).join(" | ")} |`;
    return [row(0), `|${"---|".repeat(columns)}`, row(1), row(2)].join("\n");
  });
const unit = fc.constantFrom("utf16" as const, "bytes" as const, "codepoints" as const);

describe.each(DIALECTS)("%s", (name) => {
  test("every part is within the limit and whole by itself (RENDER-1, RENDER-2)", () => {
    const anything = fc.oneof(
      markdown,
      fc.tuple(markdown, table, markdown).map((list) => list.join("\n\n")),
      fc.string({ unit: "binary", maxLength: 600 }),
    );
    fc.assert(
      fc.property(anything, fc.integer({ min: 64, max: 400 }), unit, (text, limit, unit) => {
        for (const part of chunks(text, name, { limit, unit })) {
          expect(size(part, name, unit)).toBeLessThanOrEqual(limit);
          expect(faults(part, name)).toEqual([]);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("nothing is lost, no sign is cut, and the same words give the same parts (RENDER-3, RENDER-4)", () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 300, max: 600 }), (text, limit) => {
        const parts = chunks(text, name, { limit, unit: "utf16" });
        const whole = render(parse(text), name);
        expect(letters(parts, name)).toBe(letters(whole, name));
        const families = (list: Part[]) =>
          list.map((part) => shown(part, name).split(FAMILY).length - 1).reduce((a, b) => a + b, 0);
        expect(families(parts)).toBe(families(whole));
        expect(chunks(text, name, { limit, unit: "utf16" })).toEqual(parts);
      }),
      { numRuns: RUNS },
    );
  });
});

test("a fence that is cut is opened again with its language, at a line's end", () => {
  const lines = Array.from({ length: 40 }, (_, i) => `  call(${i});`);
  const parts = chunks(`Look:\n\n\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n\nDone.`, "discord", { limit: 200 });
  expect(parts.length).toBeGreaterThan(2);
  const fences = parts.filter((part) => part.text.includes("```"));
  expect(fences.every((part) => /```ts\n[\s\S]*\n```/.test(part.text))).toBe(true);
  expect(fences.flatMap((part) => /```ts\n([\s\S]*)\n```/.exec(part.text)![1]!.split("\n"))).toEqual(lines);
});

test("the cut is at a block's end, else a sentence's, else a word's", () => {
  const block = "First sentence is here. Second one follows it. Third.";
  expect(chunks(`${block}\n\n${block}`, "plain", { limit: 80 }).map((part) => part.text)).toEqual([block, block]);
  expect(chunks(`${block} ${block}`, "plain", { limit: 74 })[0]!.text).toBe(block);
  expect(chunks("word ".repeat(40), "plain", { limit: 66 }).every((part) => /^(word ?)+$/.test(part.text))).toBe(true);
});

test("a list that is cut goes on with its number", () => {
  const items = Array.from({ length: 12 }, (_, i) => `${i + 1}. item with some words in it`).join("\n");
  const texts = chunks(items, "telegram", { limit: 100 }).map((part) => part.text);
  expect(texts.join("\n")).toBe(items);
});

test("an IRC part is one line that fits behind the prefix", () => {
  const parts = chunks(`**${"wörd ".repeat(300)}**\r\nQUIT :bye\n\n- a\n- b`, "irc", { limit: 350, unit: "bytes" });
  for (const { text } of parts) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(350);
    expect(text).not.toMatch(/[\r\n\0]/);
  }
});

test("a limit nobody can keep is refused", () => {
  expect(() => chunks("x", "plain", { limit: 10 })).toThrow(/64 is the least/);
});

test("a sign longer than a message is cut between code points, in every dialect", () => {
  const text = `a${"\u0301".repeat(500)} b`;
  for (const name of DIALECTS) {
    const parts = chunks(text, name, { limit: 64, unit: "bytes" });
    expect(letters(parts, name)).toBe(text.replace(" ", ""));
    for (const part of parts) expect(size(part, name, "bytes")).toBeLessThanOrEqual(64);
  }
});

const HOSTILE = 26;

test("the work for hostile text grows with its length, and not faster", { timeout: 60_000 }, () => {
  const hostile = (n: number) => [
    "*".repeat(n),
    "*a ".repeat(n / 3),
    "_a".repeat(n / 2),
    "a*b_c~~".repeat(n / 7),
    "[".repeat(n),
    "[a](".repeat(n / 4),
    "![".repeat(n / 2),
    ">".repeat(n),
    "> ".repeat(n / 2),
    "- ".repeat(n / 2),
    "<".repeat(n),
    "`a``".repeat(n / 4),
    "a.".repeat(n / 2),
    "@a".repeat(n / 2),
    " ".repeat(n),
    `a${" ".repeat(n)}b`,
    "|a".repeat(n / 2),
    "~~a".repeat(n / 3),
    "http://a.b/c)".repeat(n / 13),
    `https://a.example/${")".repeat(n)}`,
    Array.from({ length: Math.sqrt(n) }, (_, i) => `${" ".repeat(i * 2)}- a`).join("\n"),
    "\n".repeat(n),
    "e\u0301".repeat(n / 2),
    `a${"\u0301".repeat(n)}`,
    `${FAMILY}`.repeat(n / 11),
    "a\n---|\n".repeat(n / 7),
  ];
  expect(hostile(8)).toHaveLength(HOSTILE);
  for (let i = 0; i < HOSTILE; i++) expectLinear((size) => chunks(hostile(size)[i]!, "telegram"), 6_000);
});

// ── strict readers ──────────────────────────────────────────────────────────────────────────────────────────────────

function size(part: Part, name: DialectName, unit: "utf16" | "bytes" | "codepoints"): number {
  const { counts } = dialects[name];
  return (counts === "html" ? 0 : length(part.text, unit)) + (counts === "text" ? 0 : length(part.html ?? "", unit));
}

/** The words a person sees; a fence's own line is not one of them. */
function shown(part: Part, name: DialectName): string {
  if (part.html !== undefined)
    return part.html
      .replace(/<[^>]*>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&");
  const fenceLine = /^[\s>\d.\-[\]x•☑☐]*`{3,}[\w+.#-]*$/gm;
  let text = /^(discord|xmpp|commonmark|mattermost)$/.test(name) ? part.text.replace(fenceLine, "") : part.text;
  if (name === "commonmark" || name === "mattermost")
    text = text.replace(/\[x\]/g, "").replace(/\]\(https:[^)]*\)/g, "]");
  if (name === "discord") text = text.replace(/\]\(https:[^)]*\)/g, "]");
  if (name === "slack")
    text = text
      .replace(/<https:[^|>]*\|/g, "<")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");
  return text;
}

function letters(parts: readonly Part[], name: DialectName): string {
  return parts.map((part) => (shown(part, name).match(/\p{L}|\p{M}|\p{Emoji_Presentation}/gu) ?? []).join("")).join("");
}

const TAGS: Partial<Record<DialectName, RegExp>> = {
  telegram: /^(b|i|s|code|pre|a|blockquote)$/,
  matrix: /^(h[1-6]|p|strong|em|del|code|pre|a|blockquote|ul|ol|li|table|thead|tbody|tr|th|td)$/,
  email: /^(h[1-6]|p|strong|em|del|code|pre|a|blockquote|ul|ol|li|table|thead|tbody|tr|th|td)$/,
  teams: /^(h[1-6]|p|strong|em|s|code|pre|a|blockquote|ul|ol|li|table|thead|tbody|tr|th|td)$/,
};

function faults(part: Part, name: DialectName): string[] {
  const found: string[] = [];
  const all = part.text + (part.html ?? "");
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(all)) found.push("half a sign");
  if ((name === "irc" ? /[\0-\x01\x03-\x10\x12-\x1c\x1f\x7f]/ : /[\0-\x08\x0b-\x1f\x7f\ufdd0-\ufdef]/).test(all))
    found.push("control code");
  if (part.text.trim() === "") found.push("empty");
  const tags = TAGS[name];
  if (tags) found.push(...htmlFaults(part.html!, tags, name));
  if (name === "irc")
    for (const code of ["\x02", "\x1d", "\x1e", "\x11"])
      if (part.text.split(code).length % 2 === 0) found.push("open code");
  if (name === "slack") {
    const rest = part.text.replace(/<https?:[^<>|\s]+(\|[^<>|]*)?>/g, "").replace(/&(amp|lt|gt);/g, "");
    if (/[<>&]/.test(rest.replace(/^[> ]+/gm, ""))) found.push("unescaped");
  }
  if (name === "discord" && /@(everyone|here)|<[@#:/]/.test(part.text)) found.push("mention");
  if (name === "mattermost" && /(^|[^\w`.])@(everyone|here|all|channel)/.test(part.text.replace(/(`+)[\s\S]*?\1/g, "")))
    found.push("mention");
  if (/^(discord|slack|whatsapp)$/.test(name) && part.text.split("```").length % 2 === 0) found.push("open fence");
  for (const { start, length } of part.styles ?? []) {
    if (start < 0 || length < 1 || start + length > part.text.length) found.push("style outside of the text");
  }
  return found;
}

function htmlFaults(html: string, allowed: RegExp, name: DialectName): string[] {
  const found: string[] = [];
  const open: string[] = [];
  const rest = html.replace(
    /<(\/?)([a-z][a-z0-9]*)((?: [a-z]+="[^"<>]*")*)>/g,
    (_, close: string, tag: string, attributes: string) => {
      if (tag === "br" || tag === "hr") return "";
      if (!allowed.test(tag)) found.push(`<${tag}>`);
      if (close && open.pop() !== tag) found.push(`</${tag}>`);
      if (!close) {
        if (open.includes("a") && tag === "a") found.push("link in link");
        if (name === "telegram" && (open.includes("code") || (open.includes("pre") && tag !== "code")))
          found.push("tag in code");
        open.push(tag);
      }
      for (const [, key, value] of attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)) {
        if (key === "href" ? !/^(https?:\/\/|mailto:)/.test(value!) : !/^(class|start|align)$/.test(key!))
          found.push(`${key}=${value}`);
      }
      return "";
    },
  );
  if (open.length > 0) found.push(`open: ${open}`);
  if (/[<>]|&(?!(amp|lt|gt|quot);)/.test(rest)) found.push("unescaped");
  return found;
}
