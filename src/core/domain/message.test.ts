import { expect, test } from "vitest";
import { hasWords } from "./message.ts";

test("a text of characters that nobody sees says nothing; one visible character does", () => {
  const unseen = [
    "",
    " \n\t",
    "\u200b",
    "\u2800",
    "\0",
    "\u00ad",
    "\u3164",
    "\u2060\ufeff",
    "\u00a0\u3000",
    "\ufe0f",
    "\u{e0041}",
  ];
  for (const text of unseen) expect(hasWords(text), JSON.stringify(text)).toBe(false);
  for (const text of ["a", "?", "👍", "❤️", "あ", "\u200bhi", "़ा", "5"]) expect(hasWords(text), text).toBe(true);
});
