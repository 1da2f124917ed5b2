import { expect, test } from "vitest";
import { follow, leadsTo, MOST_DIRS, waysFrom } from "./floor-dirs.ts";
import { PLACE, plainCommand, plainShell } from "./testing.ts";

const HOME = PLACE.userHome;
const after = (...texts: string[]) => {
  const ways = waysFrom(plainShell("true", { cwd: "/w" }), HOME);
  for (const text of texts) follow(plainCommand(text), ways, HOME);
  return ways;
};

test("each place that was entered stays possible, because a later cd may fail", () => {
  expect([...after("cd /", "cd etc").dirs]).toEqual(expect.arrayContaining(["/w", "/", "/etc"]));
  expect([...after("ls /").dirs]).toEqual(["/w"]);
  expect([...after("cd").dirs]).toContain(HOME);
});

test("a text that enters ever more places is cut", () => {
  const texts = Array.from({ length: 60 }, (_, i) => `cd /d${i}`);
  expect(after(...texts).dirs.size).toBeLessThanOrEqual(MOST_DIRS + 1);
});

test("a link that the text makes leads where it says", () => {
  const ways = after("ln -s / r");
  expect(leadsTo("r/etc", "/w", { ways, userHome: HOME, isItself: false })).toEqual(
    expect.arrayContaining(["/w/r/etc", "/etc"]),
  );
});

test("a program that works on a link itself leaves what it leads to, unless a slash ends the word", () => {
  const ways = waysFrom(plainShell("rm r", { cwd: "/w", links: [{ from: "/w/r", to: "/srv" }] }), HOME);
  expect(leadsTo("r", "/w", { ways, userHome: HOME, isItself: true })).toEqual(["/w/r"]);
  expect(leadsTo("r/", "/w", { ways, userHome: HOME, isItself: true })).toContain("/srv");
  expect(leadsTo("r", "/w", { ways, userHome: HOME, isItself: false })).toContain("/srv");
});

test("the folder in which everything runs is known where nothing runs without it", () => {
  const first = (text: string) => waysFrom(plainShell(text, { cwd: "/w" }), HOME).first;
  expect(first("cd sub && make")).toBe("sub");
  expect(first("cd sub && make ; ls")).toBeUndefined();
  expect(first("make && cd sub")).toBeUndefined();
});
