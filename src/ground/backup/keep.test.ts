import { expect, test } from "vitest";
import { selectKept } from "./keep.ts";

const HOUR = 3_600_000;
const at = (text: string) => Date.parse(text);
const none = { last: 0, daily: 0, weekly: 0, monthly: 0 };
const shown = (times: readonly number[], rules: Parameters<typeof selectKept>[1]) =>
  [...selectKept(times, rules)].sort((a, b) => a - b).map((time) => new Date(time).toISOString().slice(0, 13));

test.each([
  ["the newest stays even when no rule wants one", none, ["2026-03-31T12"]],
  ["the last ones", { ...none, last: 2 }, ["2026-03-31T06", "2026-03-31T12"]],
  ["the newest of each day", { ...none, daily: 2 }, ["2026-03-30T18", "2026-03-31T12"]],
  ["the newest of each week, which begins on Monday", { ...none, weekly: 2 }, ["2026-03-29T18", "2026-03-31T12"]],
  ["the newest of each month", { ...none, monthly: 3 }, ["2026-01-31T18", "2026-02-28T18", "2026-03-31T12"]],
])("%s", (_what, rules, expected) => {
  const times: number[] = [];
  for (let time = at("2026-01-01T00:00Z"); time <= at("2026-03-31T12:00Z"); time += 6 * HOUR) times.push(time);
  expect(shown(times, rules)).toEqual(expected);
});

test("nothing is kept of nothing", () => {
  expect(selectKept([], { last: 3, daily: 7, weekly: 4, monthly: 6 }).size).toBe(0);
});
