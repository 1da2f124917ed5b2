import { expect, test } from "vitest";
import { scanPlugin } from "./scan.ts";

const scan = (path: string, text: string) =>
  scanPlugin([{ path, content: Buffer.from(text), isProgram: false }]).map(({ isRefused }) => isRefused);
const card = (sign: string) => `---\nname: greet\ndescription: Say he${sign}llo.\n---\nSay hello.\n`;

test.each(["\u00ad", "\u200b", "\u2060", "\ufeff", "\u202e", "\u{e0041}"])(
  "a skill with the hidden character %j is refused",
  (sign) => {
    expect(scan("skills/greet/SKILL.md", card(sign))).toEqual([true]);
    expect(scan("plugin.json", JSON.stringify({ description: `a${sign}b` }))).toEqual([true]);
  },
);

test("a zero-width space in prose for people is named and not refused", () => {
  expect(scan("README.md", "Copied\u200b from a page")).toEqual([false]);
});

test("a mark at the beginning of a file and the joiners of scripts and emoji are no hidden characters", () => {
  expect(scan("skills/greet/SKILL.md", `\ufeff${card("\u200c")}\u{1f468}\u200d\u{1f469}`)).toEqual([]);
});
