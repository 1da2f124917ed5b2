import { describe, expect, it } from "vitest";
import { listTaskMembers, readTeam } from "./definition.ts";
import { chooseSpeaker, findAddressed, listOwing } from "./speakers.ts";

const team = readTeam(
  "t",
  {
    title: "T",
    lead: "ada",
    members: [{ agent: "ada" }, { agent: "bob", role: "reviewer" }, { agent: "cleo", role: "reviewer" }],
  },
  "",
);

describe("who is addressed", () => {
  it.each([
    ["@bob and @ada", ["bob", "ada"]],
    ["look, @BOB!", ["bob"]],
    ["(@cleo) @cleo", ["cleo"]],
    ["**@bob** please", ["bob"]],
    ["@reviewer", ["bob"]],
    ["@all", ["ada", "bob", "cleo"]],
    ["mail bob@ada.example", []],
    ["@nobody @bobby", []],
    ["", []],
  ])("%s", (text, expected) => expect(findAddressed(team, text)).toEqual(expected));
});

describe("who owes an answer (TEAMS-1)", () => {
  it.each([
    ["person", "someone", "hello", ["ada"]],
    ["person", "someone", "@bob hello", ["bob"]],
    ["member", "ada", "done", []],
    ["member", "ada", "@ada and @bob", ["bob"]],
    ["lares", "Lares", "@bob", []],
  ] as const)("%s %s: %s", (kind, author, text, expected) =>
    expect(listOwing(team, { kind, author, text })).toEqual(expected),
  );
});

describe("who speaks next (TEAMS-2, TEAMS-3)", () => {
  const bob = { seq: 1, member: "bob", turn: null };
  const cleo = { seq: 1, member: "cleo", turn: null };
  const used = { turns: 2, dollars: 0.5 };
  it("nobody, when nothing is owed or somebody speaks", () => {
    expect(chooseSpeaker([], used, { turns: 9 })).toEqual({ do: "wait" });
    expect(chooseSpeaker([bob, { ...cleo, turn: "t1" }], used, { turns: 9 })).toEqual({ do: "wait" });
  });
  it("the first that was addressed", () =>
    expect(chooseSpeaker([bob, cleo], used, { turns: 3, dollars: 1 })).toEqual({ do: "ask", debt: bob }));
  it("nobody any more at a limit", () => {
    expect(chooseSpeaker([bob], used, { turns: 2 })).toEqual({ do: "end", because: "turns" });
    expect(chooseSpeaker([bob], used, { turns: 9, dollars: 0.5 })).toEqual({ do: "end", because: "dollars" });
  });
});

it("a member of a team takes tasks for its role there; one that doesn't exist takes none", () =>
  expect(listTaskMembers(["ada", "bob", "main"], [team])).toEqual([
    { agent: "ada", roles: [] },
    { agent: "bob", roles: [] },
    { agent: "main", roles: [] },
    { agent: "ada", roles: ["member"], team: "t" },
    { agent: "bob", roles: ["reviewer"], team: "t" },
  ]));

describe("a team's file", () => {
  it.each([
    [{ title: "T", lead: "eve", members: [{ agent: "ada" }] }, /lead "eve" isn't a member/],
    [{ title: "T", lead: "ada", members: [{ agent: "ada" }, { agent: "ada" }] }, /members "ada" is a member twice/],
    [{ title: "T", lead: "ada", members: [] }, /members/],
    [{ title: "T", lead: "ada", members: [{ agent: "ada", rol: "x" }] }, /rol/],
    [
      { title: "T", lead: "ada", members: [{ agent: "ada" }], room: { chat: "telegram" } },
      /room.chat .*channel\/account\/chat/,
    ],
    [null, /team.yaml/],
  ])("that can't be used is refused with its field: %j", (content, words) =>
    expect(() => readTeam("t", content, "")).toThrow(words),
  );
});
