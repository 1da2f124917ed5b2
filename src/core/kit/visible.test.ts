import { expect, test } from "vitest";
import { withoutHidden } from "./visible.ts";

test.each([
  ["a soft hyphen", "\u00ad"],
  ["a zero-width space", "\u200b"],
  ["a word joiner", "\u2060"],
  ["a mark in the middle", "\ufeff"],
  ["a turn of direction", "\u202e"],
  ["a tag character", "\u{e0041}"],
])("%s is taken out of a text", (_what, sign) => {
  expect(withoutHidden(`pass${sign}word`)).toBe("password");
});

test.each(["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}"])(
  "joiners stay in %s",
  (text) => {
    expect(withoutHidden(text)).toBe(text);
  },
);
