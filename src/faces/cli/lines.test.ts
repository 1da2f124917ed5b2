import { expect, it } from "vitest";
import { askCard } from "./lines.ts";
import { approval, NOW } from "./testing.ts";
import { textWidth } from "./width.ts";

it("a question breaks between words on a terminal, and a row that goes on is marked", () => {
  const shown = `git push origin main\n[${"the folder is its own ".repeat(8).trim()}]`;
  const because = "No rule allows git push, and this is a long reason. ".repeat(3).trim();
  const rows = askCard(approval({ shown, because }), (text) => text, NOW, 60);
  expect(Math.max(...rows.map(textWidth))).toBeLessThan(60);
  expect(rows.slice(1, 3)).toEqual([
    "    git push origin main",
    "    [the folder is its own the folder is its own the",
  ]);
  expect(rows[3]).toMatch(/^ {4}↳ folder is its own/);
  const text = rows.join(" ").replaceAll("↳", "").replace(/\s+/g, " ");
  expect(text).toContain(shown.replace("\n", " "));
  expect(text).toContain(because);
  expect(askCard(approval({ shown }), (text) => text, NOW).slice(1, 3)).toEqual(
    shown.split("\n").map((row) => `    ${row}`),
  );
});
