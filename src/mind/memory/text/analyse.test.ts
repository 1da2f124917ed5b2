import { describe, expect, it } from "vitest";
import { readSpeaker, splitWords, stem } from "./analyse.ts";

describe("the words of a text", () => {
  it("are the same for every form of a word", () => {
    const same = (...texts: string[]) => expect(new Set(texts.map((text) => splitWords(text).join(" "))).size).toBe(1);
    same("swimming", "swims", "swam", "Swum");
    same("went", "going", "goes");
    same("Café", "cafe", "CAFÉ’s");
    same("my favourite colour", "her favorite color");
    same("mum", "mother's", "Mom");
    same("two children", "2 kids");
  });

  it("leave out what every text has", () => {
    expect(splitWords("What did she do when you were there? I don't know, it's over.")).toEqual(["know"]);
  });

  it("are pairs of signs where there are no spaces", () => {
    expect(splitWords("東京タワー")).toEqual(["東京", "京タ", "タワ", "ワー"]);
    expect(splitWords("日")).toEqual(["日"]);
  });

  it("never hold anything but letters, digits and marks", () => {
    const text = `"a" OR b* NEAR(c) \u{e000}x \u{e001}1 col:d ^e -f 'g' +h; DROP TABLE x -- naïve ไทย हिन्दी`;
    for (const word of splitWords(text)) expect(word).toMatch(/^[\p{L}\p{N}\p{M}]+$/u);
  });
});

describe("the stemmer", () => {
  it.each([
    ["caresses", "caress"],
    ["ponies", "poni"],
    ["feed", "feed"],
    ["plastered", "plaster"],
    ["hopping", "hop"],
    ["filing", "file"],
    ["happy", "happi"],
    ["relational", "relat"],
    ["adoption", "adopt"],
    ["hopefulness", "hope"],
    ["adjustable", "adjust"],
    ["generalizations", "gener"],
    ["yes", "ye"],
    ["京都", "京都"],
  ])("%s → %s", (word, expected) => {
    expect(stem(word)).toBe(expected);
  });
});

describe("who speaks", () => {
  it.each([
    ["Ann: hello", "Ann"],
    ["[3 May] Mary Ann: hello", "Mary Ann"],
    ["Note: buy milk", undefined],
    ["Name: Ana Weber", undefined],
    ["hello: world", undefined],
    ["https://example.org", undefined],
    ["At 10:30 we met", undefined],
  ])("%s", (text, speaker) => {
    expect(readSpeaker(text)?.speaker).toBe(speaker);
  });
});
