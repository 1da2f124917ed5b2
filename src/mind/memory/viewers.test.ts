import { describe, expect, it } from "vitest";
import type { CameBy } from "../../core/domain/index.ts";
import { listScopes } from "./kinds.ts";
import { viewerFrom } from "./viewers.ts";

type Door = CameBy & { isGroup: boolean };

const door = (channel: string, chat: string, how: Partial<Door> = {}): Door => ({
  channel,
  account: channel === "http" ? "owner" : "bot",
  chat,
  person: `${channel}:${chat}`,
  isGroup: false,
  speaker: channel === "http" ? "owner" : "known",
  ...how,
});
const group = (person: string, how: Partial<Door> = {}) => door("telegram", "-7", { isGroup: true, person, ...how });
const OWNERS = ["public", "shared", "agent:main", "team:home"];

describe("whose memory a session sees (MEMORY-1)", () => {
  const table: [who: string, doors: Door[], scopes: string[]][] = [
    ["the owner by token", [door("http", "owner")], OWNERS],
    ["the owner in a direct chat of a platform", [door("telegram", "1", { speaker: "owner" })], OWNERS],
    [
      "the owner in a direct chat, linked: their own too",
      [door("telegram", "1", { speaker: "owner", person: "ana" })],
      ["person:ana", ...OWNERS],
    ],
    ["somebody the token speaks for, linked", [door("http", "ana", { person: "ana" })], ["person:ana", ...OWNERS]],
    ["a linked person on one channel", [door("telegram", "1", { person: "ana" })], ["person:ana", "public"]],
    ["the same on another", [door("slack", "D9", { person: "ana" })], ["person:ana", "public"]],
    [
      "both channels in one session",
      [door("telegram", "1", { person: "ana" }), door("slack", "D9", { person: "ana" })],
      ["person:ana", "public"],
    ],
    ["somebody who is not linked", [door("slack", "D9", { person: "slack:U1" })], ["person:slack:U1", "public"]],
    ["a stranger", [door("telegram", "5", { speaker: "outside" })], ["person:telegram:5", "public"]],
    ["a group", [group("ana"), group("telegram:5")], ["person:group:telegram:-7", "public"]],
    ["a group where only one has spoken", [group("ana")], ["person:group:telegram:-7", "public"]],
    ["a group where the owner speaks", [group("ana", { speaker: "owner" })], ["person:group:telegram:-7", "public"]],
    [
      "the owner and somebody else in the main session",
      [door("http", "owner"), door("telegram", "5")],
      ["person:telegram:5", "public"],
    ],
    [
      "two others in the main session",
      [door("telegram", "5"), door("telegram", "6"), door("http", "owner")],
      ["person:several:agent:main:main", "public"],
    ],
    ["two whom the token speaks for", [door("http", "ana"), door("http", "bob")], OWNERS],
    [
      "an event in the owner's chat",
      [door("telegram", "1", { speaker: "owner" }), door("telegram", "1", { speaker: "event" })],
      OWNERS,
    ],
    ["nothing but Lares' own events", [door("none", "", { speaker: "event" })], OWNERS],
    [
      "another's token",
      [door("http", "owner", { account: "phone", speaker: "known" })],
      ["person:http:owner", "public"],
    ],
  ];
  it.each(table)("%s", (_who, doors, scopes) => {
    expect(listScopes(viewerFrom(doors, "agent:main:main", () => ["home"])!).sort()).toEqual([...scopes].sort());
  });

  it("nobody has spoken: nobody's", () => {
    expect(viewerFrom([], "agent:main:main", () => [])).toBeUndefined();
  });
});
