import { describe, expect, it } from "vitest";
import { count, duration, elapsed, money, visible } from "./format.ts";
import { cut, head, tail, textWidth, wrap } from "./width.ts";

describe("figures", () => {
  it.each([
    [0, "< 0.01 s"],
    [20, "0.02 s"],
    [200, "0.2 s"],
    [9949, "9.9 s"],
    [9960, "10 s"],
    [59_600, "1 min"],
    [192_000, "3 min 12 s"],
    [720_000, "12 min"],
    [273_600_000, "3 d 4 h"],
  ])("%i ms is %s", (ms, text) => expect(duration(ms)).toBe(text));

  it("time that runs is in whole seconds", () => expect([elapsed(0), elapsed(61_900)]).toEqual(["0 s", "1 min 1 s"]));
  it("tokens", () => expect([count(950), count(16_600), count(1_200_000)]).toEqual(["950", "16.6k", "1.2M"]));
  it("an unknown price is never nothing", () => {
    expect([money(null), money(0.013), money(0.42), money(12)]).toEqual(["price unknown", "$0.013", "$0.42", "$12.00"]);
  });
});

describe("foreign text", () => {
  it("cannot move the cursor, turn its direction or hide", () => {
    expect(visible("a\u001b[1A\u009b\u202e\rb\tc\r\nd")).toBe("a\\x1b[1A\\x9b\\u202e\\x0db\tc\nd");
  });
  it("is measured as a terminal shows it", () => {
    expect([textWidth("añ"), textWidth("日本"), textWidth("e\u0301"), textWidth("\u001b[32mok\u001b[0m")]).toEqual([
      2, 4, 1, 2,
    ]);
    expect([cut("日本語", 5), head("abc", 2), tail("日本語", 4)]).toEqual(["日本…", "ab", "本語"]);
  });
  it("wraps at words, else where it must, and loses nothing", () => {
    expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
    expect(wrap("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
    expect(wrap("", 4)).toEqual([""]);
  });
});
