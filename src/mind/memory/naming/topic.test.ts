import { describe, expect, it } from "vitest";
import { longerNames, readTopic, Spelling, settleTopic } from "./topic.ts";

/** Which of these texts mention a topic, with all of them in view. */
function mentioning(about: string, texts: readonly string[]): string[] {
  const topic = readTopic(about);
  const spelling = new Spelling(topic);
  for (const text of texts) if (topic.mayMention(text)) spelling.add(text);
  const mentions = settleTopic(topic, spelling);
  for (const text of texts.filter(mentions)) expect(topic.mayMention(text), text).toBe(true);
  return texts.filter(mentions);
}

const SMITHS = [
  "Jane Smith is my doctor",
  "Will Smith owes me ten euros",
  "Jane Smith will come on Monday",
  "will smith phoned",
  "SMITH, WILL: 12 Elm Road",
];

describe("a name of several words is meant as a whole, however it is cased (MEMORY-18)", () => {
  it.each(["will smith", "Will Smith", "WILL SMITH", "WillSmith", "willsmith", "Will\u00ad Smith"])("%s", (about) => {
    const listed = about === "willsmith" ? [] : [SMITHS[4]];
    expect(mentioning(about, SMITHS)).toEqual([SMITHS[1], SMITHS[3], ...listed]);
  });

  it.each(["jane smith", "Jane Smith"])("%s", (about) => {
    expect(mentioning(about, SMITHS)).toEqual([SMITHS[0], SMITHS[2]]);
    expect(mentioning(about, ["Jane met Will Smith", "Smith asked. Jane knew", "jane and the smith"])).toEqual([]);
  });

  it("also where only others of the family are known", () => {
    expect(
      mentioning(
        "will smith",
        SMITHS.filter((text) => /^Jane/.test(text)),
      ),
    ).toEqual([]);
    expect(mentioning("an nguyen", ["Tom Nguyen is an engineer", "I met An Nguyen"])).toEqual(["I met An Nguyen"]);
    expect(mentioning("an nguyen", ["Tom Nguyen is an engineer"])).toEqual([]);
    expect(mentioning("may weber", ["Otto Weber may call"])).toEqual([]);
  });

  it("with initials, middle names and titles between", () => {
    const texts = ["Jane A. Smith called", "Jane Marie Smith called", "Dr. Jane Smith called", "Jane called Smith"];
    expect(mentioning("jane smith", texts)).toEqual(texts.slice(0, 3));
    expect(mentioning("dr smith", ["Dr. Smith called", "Dr Smith called"])).toHaveLength(2);
  });

  it("written as one word, with an accent, or with something unseen in the middle", () => {
    const texts = [
      "write to JaneSmith",
      "mail janesmith@example.org",
      "see jane_smith.md",
      "Ja\u00adne Smith",
      "Jane\u200b Smith",
      "J\u200bane Sm\u2060ith",
      "Jané Smith",
      "Ｊａｎｅ Ｓｍｉｔｈ",
    ];
    expect(mentioning("Jane Smith", texts)).toEqual(texts);
    expect(mentioning("jane smith", texts)).toEqual(texts);
    expect(
      mentioning(
        "Smith",
        texts.filter((text) => !/janesmith@/.test(text)),
      ),
    ).toHaveLength(7);
  });
});

describe("one word", () => {
  it.each([
    ["olive", "Oliver is my boss"],
    ["hans", "Han likes tea"],
    ["Han", "Hans likes tea"],
    ["andrea", "Andreas called"],
    ["mary", "Mari called"],
    ["donald", "McDonald called"],
    ["manning", "A man called"],
  ])("%s is not in %s", (about, text) => {
    expect(mentioning(about, [text, `I know ${about.charAt(0).toUpperCase()}${about.slice(1)}`])).toHaveLength(1);
    if (about !== "manning") expect(mentioning(about, [text])).toEqual([]);
  });

  it.each([
    ["zeppelins", "her zeppelin flew"],
    ["zeppelin", "two zeppelins flew"],
    ["swimming", "we swam in the lake"],
    ["party", "three parties"],
    ["divorce", "she divorced him"],
    ["Jane", "Jane’s car"],
    ["jose", "José called"],
    ["東京", "明日東京タワーへ行く"],
  ])("%s is in %s", (about, text) => {
    expect(mentioning(about, [text])).toEqual([text]);
  });

  it("that every text has is meant where it is written as a name", () => {
    const texts = ["Will owes me money", "I asked Will", "Will: hello", "Will you come?", "she will come", "May I?"];
    expect(mentioning("Will", texts)).toEqual(texts.slice(0, 3));
    expect(mentioning("will", texts)).toEqual(texts.slice(0, 3));
    expect(mentioning("the", ["The end"])).toEqual(["The end"]);
  });

  it("names similar names that are left alone, and the longer names it is part of", () => {
    const topic = readTopic("hans");
    const spelling = new Spelling(topic);
    for (const text of ["Han likes tea", "Hans called"]) spelling.add(text);
    expect(spelling.similar()).toEqual(["Han"]);
    expect(SMITHS.flatMap((text) => longerNames(readTopic("smith"), text))).toEqual([
      "Jane Smith",
      "Will Smith",
      "Jane Smith",
    ]);
  });
});

describe("a topic of several words", () => {
  it("is in texts that have them in any order", () => {
    const texts = ["the renovation of the kitchen", "our kitchen renovation", "the kitchen"];
    expect(mentioning("kitchen renovation", texts)).toEqual(texts.slice(0, 2));
    expect(mentioning("the divorce of petra", ["Petra got divorced", "Petra called"])).toEqual(["Petra got divorced"]);
    expect(mentioning("my divorce", ["The divorce was hard"])).toHaveLength(1);
  });
});

it("the needles are in every ASCII text that mentions it", () => {
  for (const [about, text] of [
    ["swimming", "we swam"],
    ["parties", "a party"],
    ["baking", "I bake it"],
    ["janesmith", "Jane Smith"],
    ["ponies", "a pony"],
    ["dogs", "a dog"],
    ["photos", "a picture"],
    ["buses", "a bus"],
  ] as const) {
    const { needles } = readTopic(about);
    expect(mentioning(about, [text])).toEqual([text]);
    for (const needle of needles) expect(text.toLowerCase()).toContain(needle);
  }
});
