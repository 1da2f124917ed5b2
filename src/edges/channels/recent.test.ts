import { expect, it } from "vitest";
import { RecentMap } from "./recent.ts";

it("a full map forgets the entry that was set longest ago", () => {
  const map = new RecentMap<number>(2).set("a", 1).set("b", 2).set("c", 3);
  expect([...map]).toEqual([
    ["b", 2],
    ["c", 3],
  ]);
});

it("an entry that is set again is the newest", () => {
  const map = new RecentMap<number>(2).set("a", 1).set("b", 2).set("a", 3).set("c", 4);
  expect([...map.keys()]).toEqual(["a", "c"]);
});
