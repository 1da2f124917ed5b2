import { describe, expect, test } from "vitest";
import { moment } from "./times/moments.ts";
import { duration } from "./times/spans.ts";
import { nextDue, parseWhen, type When } from "./when.ts";
import { toMoment, wallAt } from "./zone.ts";

const NOW = Date.parse("2026-11-15T10:00:00Z"); // a Sunday
const iso = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());

describe("words become moments", () => {
  test.each([
    ["30 minutes", 1_800_000],
    ["1h 30m", 5_400_000],
    ["an hour", 3_600_000],
    ["2.5 hours", 9_000_000],
    ["1 day and 2 hours", 93_600_000],
    ["45s", 45_000],
  ])("%s", (text, ms) => expect(duration(text)).toBe(ms));

  test.each(["", "soon", "minutes", "5 bananas", "-5 minutes"])("%j isn't a length of time", (text) => {
    expect(() => duration(text)).toThrow(/a length of time/);
  });

  test.each([
    ["2026-12-01T09:00:00Z", "UTC", "2026-12-01T09:00:00.000Z"],
    ["2026-12-01T09:00", "Europe/Lisbon", "2026-12-01T09:00:00.000Z"],
    ["2026-12-01 09:00", "America/New_York", "2026-12-01T14:00:00.000Z"],
    ["2026-12-01T09:00+02:00", "UTC", "2026-12-01T07:00:00.000Z"],
    ["1796000000", "UTC", "2026-11-30T00:53:20.000Z"],
    ["1796000000000", "UTC", "2026-11-30T00:53:20.000Z"],
    ["in 30 minutes", "UTC", "2026-11-15T10:30:00.000Z"],
    ["tomorrow 9am", "Europe/Berlin", "2026-11-16T08:00:00.000Z"],
    ["tomorrow at 9:30 pm", "UTC", "2026-11-16T21:30:00.000Z"],
    ["18:30", "UTC", "2026-11-15T18:30:00.000Z"],
    ["9am", "UTC", "2026-11-16T09:00:00.000Z"],
    ["monday 9am", "UTC", "2026-11-16T09:00:00.000Z"],
    ["sunday 9am", "UTC", "2026-11-22T09:00:00.000Z"],
    ["tonight", "UTC", "2026-11-15T20:00:00.000Z"],
    ["noon", "UTC", "2026-11-15T12:00:00.000Z"],
    ["tomorrow", "UTC", "2026-11-16T09:00:00.000Z"],
    ["next tuesday 9am", "UTC", "2026-11-17T09:00:00.000Z"],
    ["on friday at 18:00", "UTC", "2026-11-20T18:00:00.000Z"],
    ["2028-02-29 09:00", "UTC", "2028-02-29T09:00:00.000Z"],
  ])("%s in %s", (text, zone, at) => expect(iso(moment(text, NOW, zone))).toBe(at));

  test.each([
    "whenever",
    "25:00",
    "13pm:",
    "someday 9am",
    "2027-02-31T09:00",
    "2027-13-01T09:00Z",
    "2027-01-31T25:00",
    "2027-01-31T09:00+99:00",
    "2027-02-29",
    "next",
    `${"9".repeat(13)}0`,
    1e300,
  ])("%j is refused with an example", (text) => {
    expect(() => moment(text, NOW, "UTC")).toThrow(/can't read .* as a time/);
  });

  test.each([
    [{}, /No time/],
    [{ at: "9am", every: "1 hour" }, /Only one/],
    [{ at: "2020-01-01T00:00Z" }, /in the past/],
    [{ cron: "61 * * * *" }, /isn't a cron expression/],
    [{ cron: "0 0 31 2 *" }, /never comes/],
    [{ cron: "0 7 * * *", zone: "Mars/Olympus" }, /isn't a time zone/],
    [{ every: "10 ms" }, /can't read .* as how often something happens/],
    [{ every: "5" }, /"5" has no unit/],
    [{ every: "999999999999 weeks" }, /too infrequent/],
    [{ in: "999999999999 weeks" }, /too far away/],
    [{ at: 99_999_999_999_999 }, /too far away/],
    [{ every: "1 hour", anchor: "2027-02-31" }, /as a time/],
  ])("%j is refused when created", (given, words) => {
    expect(() => parseWhen(given, NOW, "UTC")).toThrow(words);
  });
});

describe("due times", () => {
  test("every keeps its anchor, whatever the moment it is asked", () => {
    const when: When = { kind: "every", everyMs: 3_600_000, anchor: NOW };
    expect(iso(nextDue(when, NOW))).toBe("2026-11-15T11:00:00.000Z");
    expect(iso(nextDue(when, NOW + 5_400_000))).toBe("2026-11-15T12:00:00.000Z");
    expect(iso(nextDue(when, NOW - 10_000_000))).toBe("2026-11-15T10:00:00.000Z");
  });

  test.each(["day", "every day", "1 day", "24 hours"])("every: %j", (every) => {
    expect(parseWhen({ every }, NOW, "UTC")).toMatchObject({ everyMs: 86_400_000 });
  });

  test("an anchor is a place on the clock, also when it is still to come", () => {
    const when = parseWhen({ every: "1 hour", anchor: "09:15" }, NOW, "UTC");
    expect(iso(nextDue(when, NOW))).toBe("2026-11-15T10:15:00.000Z");
    expect(iso(nextDue(parseWhen({ every: "2 days", anchor: "2026-11-14T07:00Z" }, NOW, "UTC"), NOW))).toBe(
      "2026-11-16T07:00:00.000Z",
    );
  });

  /** North and south, an hour and half an hour, at midnight, backwards in a month of the moon; times no clock shows, or shows twice. */
  const TURNS: [zone: string, cron: string, over: string[]][] = [
    ["Europe/Lisbon", "30 1 * * *", ["2026-03-29T01:00", "2026-10-25T00:30"]],
    ["America/New_York", "30 2 * * *", ["2026-03-08T07:00", "2026-11-01T07:30"]],
    ["America/New_York", "30 1 * * *", ["2026-03-08T06:30", "2026-11-01T05:30"]],
    ["Australia/Lord_Howe", "45 1 * * *", ["2026-04-04T14:45", "2026-10-03T15:15"]],
    ["Australia/Lord_Howe", "15 2 * * *", ["2026-04-04T15:45", "2026-10-03T15:30"]],
    ["America/Santiago", "30 0 * * *", ["2026-04-05T04:30", "2026-09-06T04:00"]],
    ["America/Santiago", "30 23 * * *", ["2026-04-05T02:30", "2026-09-06T03:30"]],
    ["Africa/Casablanca", "30 2 * * *", ["2026-02-15T01:30", "2026-03-22T02:00"]],
  ];
  test.each(TURNS)("a year in %s of %s: each day once, over every clock change (SCHEDULE-11)", (zone, cron, over) => {
    const when: When = { kind: "cron", cron, zone };
    const start = Date.parse("2026-01-01T12:00:00Z");
    const days = new Map<string, number>();
    const all: string[] = [];
    for (let at = nextDue(when, start); at !== undefined && at < start + 365 * 86_400_000; at = nextDue(when, at)) {
      const w = wallAt(at, zone);
      const day = `${w.year}-${w.month}-${w.day}`;
      days.set(day, (days.get(day) ?? 0) + 1);
      all.push(new Date(at).toISOString().slice(0, 16));
    }
    expect(days.size).toBe(365);
    expect([...days.values()].every((count) => count === 1)).toBe(true);
    for (const moment of over) expect(all).toContain(moment);
  });

  const zones = [...new Set(TURNS.map(([zone]) => zone))];
  test.each(zones)(
    "hourly runs over every clock change in %s: never less or more than an hour apart (SCHEDULE-9)",
    (zone) => {
      const when: When = { kind: "cron", cron: "0 * * * *", zone };
      const offGrid: number[] = [];
      let changes = 0;
      for (let day = Date.parse("2026-01-01T00:30:00Z"); day < Date.parse("2027-01-01T00:00:00Z"); day += 86_400_000) {
        const ahead = (at: number) => (wallAt(at, zone).hour * 60 + wallAt(at, zone).minute) % 1440;
        if (ahead(day) === ahead(day + 86_400_000)) continue;
        changes++;
        for (let at = nextDue(when, day)!, i = 0; i < 30; i++) {
          const next = nextDue(when, at)!;
          if (next - at !== 3_600_000) offGrid.push((next - at) / 60_000);
          at = next;
        }
      }
      expect(changes).toBe(2);
      // Lord Howe moves its clocks by half an hour: its full hours do.
      expect(offGrid.sort()).toEqual(zone === "Australia/Lord_Howe" ? [90, 90] : []);
    },
  );

  test("a wall time in a spring gap is the moment after it, in an overlap the first", () => {
    const at = (day: number, month: number) =>
      iso(toMoment({ year: 2026, month, day, hour: 2, minute: 30, second: 0 }, "Europe/Berlin"));
    expect(at(29, 3)).toBe("2026-03-29T01:30:00.000Z");
    expect(at(25, 10)).toBe("2026-10-25T00:30:00.000Z");
  });
});
