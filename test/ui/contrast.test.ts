/** Every text pair of the token file reaches 4.5:1, lines of controls 3:1, in light and dark. Computed, not believed. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = readFileSync(new URL("../../ui/src/style/tokens.css", import.meta.url), "utf8");
const themes = [...css.matchAll(/(:root[^{]*)\{([^}]*)\}/g)].map(([, selector, body]) => ({
  name: selector!.includes("dark") ? "dark" : "light",
  tokens: Object.fromEntries([...body!.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})\b/gi)].map((m) => [m[1]!, m[2]!])),
}));

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}
function ratio(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x! + 0.05) / (y! + 0.05);
}

const GROUNDS = ["bg", "surface", "sunken"];
const TEXTS = ["text", "dim", "accent", "ok", "wait", "fail", "unknown"];
const pairs: [string, string, number][] = [
  ...TEXTS.flatMap((text) => GROUNDS.map((ground): [string, string, number] => [text, ground, 4.5])),
  ...["ok", "wait", "fail", "unknown"].map((tone): [string, string, number] => [tone, `${tone}-soft`, 4.5]),
  ["accent-ink", "accent", 4.5],
  ["text", "accent-soft", 4.5],
  ["dim", "accent-soft", 4.5],
  ["text", "mine", 4.5],
  ["text", "fail-soft", 4.5],
  ...GROUNDS.map((ground): [string, string, number] => ["line-strong", ground, 3]),
];

test("there is a light and a dark theme with the same tokens", () => {
  expect(themes.map((t) => t.name)).toEqual(["light", "dark"]);
  expect(Object.keys(themes[0]!.tokens)).toEqual(Object.keys(themes[1]!.tokens));
});

describe.each(themes)("$name", ({ tokens }) => {
  test.each(pairs)("%s on %s reaches %f:1", (text, ground, least) => {
    expect(ratio(tokens[text]!, tokens[ground]!)).toBeGreaterThanOrEqual(least);
  });
});
