import { describe, expect, test } from "vitest";
import { expectLinear } from "../../../../test/support/growth.ts";
import { inWords, momentWords, nextDue, parseWhen, settled } from "../when.ts";
import { moment } from "./moments.ts";
import { duration } from "./spans.ts";

/** A Sunday, eleven in the morning in Berlin. */
const NOW = Date.parse("2026-11-15T10:00:00Z");
const ZONE = "Europe/Berlin";
const shown = (at: number) => momentWords(at, ZONE).replace(" (Europe/Berlin)", "");

describe("a moment as people write it", () => {
  test.each([
    ["9am tomorrow", "Mon 16 Nov 2026, 09:00"],
    ["tomorrow morning", "Mon 16 Nov 2026, 09:00"],
    ["tomorrow evening at 7", "Mon 16 Nov 2026, 19:00"],
    ["tomorrow at half past nine", "Mon 16 Nov 2026, 09:30"],
    ["tomorrow half past 9", "Mon 16 Nov 2026, 09:30"],
    ["quarter to 5 tomorrow", "Mon 16 Nov 2026, 04:45"],
    ["fri 5pm", "Fri 20 Nov 2026, 17:00"],
    ["Friday at 5 p.m.", "Fri 20 Nov 2026, 17:00"],
    ["5pm on friday", "Fri 20 Nov 2026, 17:00"],
    ["Dec 25", "Fri 25 Dec 2026, 09:00"],
    ["December 25th", "Fri 25 Dec 2026, 09:00"],
    ["25 Dec 2026 at noon", "Fri 25 Dec 2026, 12:00"],
    ["the 25th of December at 18:30", "Fri 25 Dec 2026, 18:30"],
    ["Jan 3, 2028, 7am", "Mon 3 Jan 2028, 07:00"],
    ["jan 3", "Sun 3 Jan 2027, 09:00"],
    ["Nov 15 at 8am", "Mon 15 Nov 2027, 08:00"],
    ["29 feb", "Tue 29 Feb 2028, 09:00"],
    ["the 5th", "Sat 5 Dec 2026, 09:00"],
    ["on the 20th at 8", "Fri 20 Nov 2026, 08:00"],
    ["in half an hour", "Sun 15 Nov 2026, 11:30"],
    ["half an hour", "Sun 15 Nov 2026, 11:30"],
    ["in an hour and a half", "Sun 15 Nov 2026, 12:30"],
    ["in two and a half hours", "Sun 15 Nov 2026, 13:30"],
    ["in a quarter of an hour", "Sun 15 Nov 2026, 11:15"],
    ["in a couple of hours", "Sun 15 Nov 2026, 13:00"],
    ["2 hours from now", "Sun 15 Nov 2026, 13:00"],
    ["in 1h30m", "Sun 15 Nov 2026, 12:30"],
    ["in 10 min", "Sun 15 Nov 2026, 11:10"],
    ["in 3 days", "Wed 18 Nov 2026, 11:00"],
    ["in 2 days at 9am", "Tue 17 Nov 2026, 09:00"],
    ["in a week", "Sun 22 Nov 2026, 11:00"],
    ["in 3 months", "Mon 15 Feb 2027, 11:00"],
    ["in a year", "Mon 15 Nov 2027, 11:00"],
    ["next week", "Mon 16 Nov 2026, 09:00"],
    ["next week on thursday", "Thu 19 Nov 2026, 09:00"],
    ["thursday next week at 10", "Thu 19 Nov 2026, 10:00"],
    ["next friday", "Fri 20 Nov 2026, 09:00"],
    ["next sunday", "Sun 22 Nov 2026, 09:00"],
    ["next month", "Tue 1 Dec 2026, 09:00"],
    ["this afternoon", "Sun 15 Nov 2026, 15:00"],
    ["tonight", "Sun 15 Nov 2026, 20:00"],
    ["tonight at 11", "Sun 15 Nov 2026, 23:00"],
    ["at 9 tonight", "Sun 15 Nov 2026, 21:00"],
    ["7 in the evening", "Sun 15 Nov 2026, 19:00"],
    ["end of month", "Mon 30 Nov 2026, 17:00"],
    ["the end of the week", "Fri 20 Nov 2026, 17:00"],
    ["end of the day", "Sun 15 Nov 2026, 17:00"],
    ["end of next month", "Thu 31 Dec 2026, 17:00"],
    ["first of the month", "Tue 1 Dec 2026, 09:00"],
    ["the first of december", "Tue 1 Dec 2026, 09:00"],
    ["last day of the month at noon", "Mon 30 Nov 2026, 12:00"],
    ["day after tomorrow", "Tue 17 Nov 2026, 09:00"],
    ["midnight", "Mon 16 Nov 2026, 00:00"],
    ["18:30", "Sun 15 Nov 2026, 18:30"],
    ["18h30", "Sun 15 Nov 2026, 18:30"],
    ["0730", "Mon 16 Nov 2026, 07:30"],
    ["12am", "Mon 16 Nov 2026, 00:00"],
    ["9 o'clock", "Mon 16 Nov 2026, 09:00"],
    ["2026-12-24", "Thu 24 Dec 2026, 09:00"],
    ["2026-12-24T18:00", "Thu 24 Dec 2026, 18:00"],
    ["2026-12-24T18:00Z", "Thu 24 Dec 2026, 19:00"],
  ])("%s", (text, at) => expect(shown(moment(text, NOW, ZONE))).toBe(at));

  test.each([
    ...["", "soon", "whenever", "25/12", "31 Feb", "13pm", "5 bananas", "tomorrow tomorrow", "9am 10am", "next", "in"],
    ...["friday friday", "the", "9 am pm", "in an hour at 9", "9:5", "feb 30 2027", "25:00", "tomorrow maybe 9am"],
  ])("%j gets a sentence with two examples", (text) => {
    expect(() => moment(text, NOW, ZONE)).toThrow(
      expect.objectContaining({ message: expect.any(String), hint: expect.stringMatching(/".+" or ".+"/) }),
    );
  });
});

test.each(["yesterday", "yesterday 5pm", "the day before yesterday", "2 hours ago", "last friday 5pm", "last week"])(
  "%s is refused as past",
  (text) => {
    expect(() => moment(text, NOW, ZONE)).toThrow(
      expect.objectContaining({ message: `"${text}" is in the past.`, hint: expect.stringContaining("tomorrow 9am") }),
    );
  },
);

describe("a part of today that has begun or is over", () => {
  /** On that Sunday in Berlin. */
  const saidAt = (clock: string) => Date.parse(`2026-11-15T${clock}+01:00`);
  const today = (clock: string) => `Sun 15 Nov 2026, ${clock}`;

  test.each([
    ["19:59:59", "tonight", today("20:00")],
    ["20:13:00", "tonight", today("20:30")],
    ["23:12:00", "tonight", today("23:30")],
    ["20:13:00", "later tonight", today("20:30")],
    ["20:13:00", "tonight at 11", today("23:00")],
    ["20:13:00", "tonight at midnight", "Mon 16 Nov 2026, 00:00"],
    ["20:13:00", "midnight tonight", "Mon 16 Nov 2026, 00:00"],
    ["20:13:00", "tonight at 12", "Mon 16 Nov 2026, 00:00"],
    ["20:13:00", "tonight at 1", "Mon 16 Nov 2026, 01:00"],
    ["20:13:00", "at 1:30am tonight", "Mon 16 Nov 2026, 01:30"],
    ["20:13:00", "today at midnight", "Mon 16 Nov 2026, 00:00"],
    ["20:13:00", "tomorrow night at 2", "Tue 17 Nov 2026, 02:00"],
    ["20:13:00", "at 2 at night", "Mon 16 Nov 2026, 02:00"],
    ["20:13:00", "9 at night", today("21:00")],
    ["17:00:00", "this evening", today("18:00")],
    ["19:01:00", "this evening", today("19:30")],
    ["19:01:00", "today evening", today("19:30")],
    ["14:00:00", "this afternoon", today("15:00")],
    ["16:10:00", "this afternoon", today("16:30")],
    ["08:00:00", "this morning", today("09:00")],
    ["10:40:00", "this morning", today("11:00")],
    ["16:00:00", "end of day", today("17:00")],
    ["18:20:00", "by the end of the day", today("18:30")],
    ["18:20:00", "eod", today("18:30")],
    ["18:20:00", "end of today", today("18:30")],
    ["18:20:00", "end of tomorrow", "Mon 16 Nov 2026, 17:00"],
    ["07:00:00", "today", today("09:00")],
    ["11:10:00", "today", today("13:30")],
    ["11:00:00", "later today", today("13:00")],
    ["22:40:00", "later today", today("23:30")],
    ["13:00:00", "at noon", "Mon 16 Nov 2026, 12:00"],
    ["19:00:00", "evening", "Mon 16 Nov 2026, 18:00"],
    ["11:00:00", "this weekend", today("13:00")],
    ["11:00:00", "the 15th", "Tue 15 Dec 2026, 09:00"],
    ["11:00:00", "the 31st", "Thu 31 Dec 2026, 09:00"],
    ["11:00:00", "in a few minutes", today("11:03")],
    ["11:00:00", "now", today("11:00")],
  ])("said at %s, %s", (clock, text, at) => {
    const now = saidAt(clock);
    expect(shown(moment(text, now, ZONE))).toBe(at);
    expect(parseWhen({ at: text }, now, ZONE)).toMatchObject({ kind: "at" });
  });

  test.each([
    ["23:31:00", "tonight", /too late for tonight/],
    ["23:31:00", "this evening", /evening is over/],
    ["18:00:00", "this afternoon", /afternoon is over/],
    ["12:00:00", "this morning", /morning is over/],
    ["23:40:00", "end of day", /almost over/],
    ["23:40:00", "later today", /almost over/],
    ["13:00:00", "today at noon", /in the past/],
    ["13:00:00", "in a bit", /doesn't say when/],
    ["13:00:00", "later", /doesn't say when/],
  ])("said at %s, %s gets a sentence whose examples work (SCHEDULE-16)", (clock, text, sentence) => {
    const now = saidAt(clock);
    let thrown: { message: string; hint?: string } = { message: "" };
    try {
      parseWhen({ at: text }, now, ZONE);
    } catch (error) {
      thrown = error as typeof thrown;
    }
    expect(thrown.message).toMatch(sentence);
    const examples = [...thrown.hint!.matchAll(/"([^"]+)"/g)].map(([, example]) => example!);
    expect(examples.length).toBeGreaterThanOrEqual(2);
    for (const example of examples) expect(parseWhen({ at: example }, now, ZONE)).toMatchObject({ kind: "at" });
  });

  test.each([
    ["2026-11-30T18:00+01:00", "end of month", "Thu 31 Dec 2026, 17:00"],
    ["2026-11-30T18:00+01:00", "last day of the month", "Thu 31 Dec 2026, 09:00"],
    ["2026-12-31T18:00+01:00", "end of year", "Fri 31 Dec 2027, 17:00"],
    ["2026-11-14T11:00+01:00", "this weekend", "Sun 15 Nov 2026, 09:00"],
    ["2026-11-13T11:00+01:00", "this weekend", "Sat 14 Nov 2026, 09:00"],
    ["2027-01-31T11:00+01:00", "the 30th", "Tue 30 Mar 2027, 09:00"],
  ])("said at %s, %s", (now, text, at) => expect(shown(moment(text, Date.parse(now), ZONE))).toBe(at));
});

describe("what repeats, as people write it", () => {
  test.each([
    ["every monday 9am", "Mondays 09:00, Berlin", "Mon 16 Nov 2026, 09:00"],
    ["monday 9am", "Mondays 09:00, Berlin", "Mon 16 Nov 2026, 09:00"],
    ["every monday and thursday at 8", "Mondays and Thursdays 08:00, Berlin", "Mon 16 Nov 2026, 08:00"],
    ["every monday evening at 7", "Mondays 19:00, Berlin", "Mon 16 Nov 2026, 19:00"],
    ["mondays", "Mondays 09:00, Berlin", "Mon 16 Nov 2026, 09:00"],
    ["weekdays at 8", "weekdays 08:00, Berlin", "Mon 16 Nov 2026, 08:00"],
    ["every weekday at 7:30", "weekdays 07:30, Berlin", "Mon 16 Nov 2026, 07:30"],
    ["weekends at 10", "weekends 10:00, Berlin", "Sat 21 Nov 2026, 10:00"],
    ["every day at 9 and 17", "every day 09:00 and 17:00, Berlin", "Sun 15 Nov 2026, 17:00"],
    ["daily at noon", "every day 12:00, Berlin", "Sun 15 Nov 2026, 12:00"],
    ["every morning", "every day 09:00, Berlin", "Mon 16 Nov 2026, 09:00"],
    ["every day", "every day at 11:00, Berlin", "Mon 16 Nov 2026, 11:00"],
    ["every other day", "every 2 days at 11:00, Berlin", "Tue 17 Nov 2026, 11:00"],
    ["every second", "every second", "Sun 15 Nov 2026, 11:00:01"],
    ["every minute", "every minute", "Sun 15 Nov 2026, 11:01"],
    ["every second day", "every 2 days at 11:00, Berlin", "Tue 17 Nov 2026, 11:00"],
    ["every 2nd day at 7am", "every 2 days at 07:00, Berlin", "Mon 16 Nov 2026, 07:00"],
    ["every third day", "every 3 days at 11:00, Berlin", "Wed 18 Nov 2026, 11:00"],
    ["every 3rd hour", "every 3 hours", "Sun 15 Nov 2026, 14:00"],
    ["every fourth week", "every 28 days at 11:00, Berlin", "Sun 13 Dec 2026, 11:00"],
    ["every third month", "every 3 months at 11:00, Berlin", "Mon 15 Feb 2027, 11:00"],
    ["every second minute", "every 2 minutes", "Sun 15 Nov 2026, 11:02"],
    ["every second day of the month", "on day 2 of every month 09:00, Berlin", "Wed 2 Dec 2026, 09:00"],
    ["every second monday of the month", "0 9 * * 1#2, Berlin", "Mon 14 Dec 2026, 09:00"],
    ["the second at 8", "on day 2 of every month 08:00, Berlin", "Wed 2 Dec 2026, 08:00"],
    ["every 2nd", "on day 2 of every month 09:00, Berlin", "Wed 2 Dec 2026, 09:00"],
    ["every other day at 7am", "every 2 days at 07:00, Berlin", "Mon 16 Nov 2026, 07:00"],
    ["every other monday at 9", "every 14 days at 09:00, Berlin", "Mon 16 Nov 2026, 09:00"],
    ["every 2 weeks on friday", "every 14 days at 09:00, Berlin", "Fri 20 Nov 2026, 09:00"],
    ["every 2 hours", "every 2 hours", "Sun 15 Nov 2026, 13:00"],
    ["2 hours", "every 2 hours", "Sun 15 Nov 2026, 13:00"],
    ["every half hour", "every 30 minutes", "Sun 15 Nov 2026, 11:30"],
    ["hourly", "every hour", "Sun 15 Nov 2026, 12:00"],
    ["every hour and a half", "every 90 minutes", "Sun 15 Nov 2026, 12:30"],
    ["24 hours", "every 24 hours", "Mon 16 Nov 2026, 11:00"],
    ["first of the month", "on day 1 of every month 09:00, Berlin", "Tue 1 Dec 2026, 09:00"],
    ["every month on the 5th at 18:00", "on day 5 of every month 18:00, Berlin", "Sat 5 Dec 2026, 18:00"],
    ["every 15th", "on day 15 of every month 09:00, Berlin", "Tue 15 Dec 2026, 09:00"],
    ["last day of the month", "0 9 L * *, Berlin", "Mon 30 Nov 2026, 09:00"],
    ["every first monday of the month at 10", "0 10 * * 1#1, Berlin", "Mon 7 Dec 2026, 10:00"],
    ["last friday of the month", "0 9 * * 5L, Berlin", "Fri 27 Nov 2026, 09:00"],
    ["every month", "every month at 11:00, Berlin", "Tue 15 Dec 2026, 11:00"],
    ["every 3 months", "every 3 months at 11:00, Berlin", "Mon 15 Feb 2027, 11:00"],
    ["every 3 months on the 1st at 9", "every 3 months at 09:00, Berlin", "Tue 1 Dec 2026, 09:00"],
    ["every year on 25 dec", "0 9 25 12 *, Berlin", "Fri 25 Dec 2026, 09:00"],
    ["every dec 25 at noon", "0 12 25 12 *, Berlin", "Fri 25 Dec 2026, 12:00"],
  ])("%s", (every, words, next) => {
    const when = parseWhen({ every }, NOW, ZONE);
    expect(inWords(when, ZONE)).toBe(words);
    expect(shown(nextDue(when, NOW)!)).toBe(next);
  });

  test.each(
    ["every", "every banana", "every 9:00 and 17:30", "every day at", "every 0 hours", "every 1.5 months"].concat([
      "every third",
      "every first",
      "every second at 9",
      "every minute at 9",
      "every 5 minutes at 9am",
      "every third monday",
    ]),
  )("%j gets a sentence with two examples", (every) =>
    expect(() => parseWhen({ every }, NOW, ZONE)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/".+" (or|and|e\.g\.) ?".+"|, e\.g\. ".+"/) }),
    ),
  );

  test.each([
    ["soon", 'Write for example "30 minutes", "2 hours" or "monday 9am".'],
    ["30 sconds", /^Did you mean "30 seconds"\? Write for example "30 minutes"/],
    ["evry mondya 9am", /^Did you mean "every monday 9am"\?/],
    ["0 9 * * *", /^Write for example/],
    ["5", 'Write for example "5 minutes" or "5 hours"; for a time of day "every day at 5:00".'],
    ["every 90", /"every day at 9:00"/],
  ])("%j gets a hint about how often, not about a single moment", (every, hint) => {
    const said = typeof hint === "string" ? hint : expect.stringMatching(hint);
    expect(() => parseWhen({ every }, NOW, ZONE)).toThrow(expect.objectContaining({ hint: said }));
  });

  test("given as a moment it repeats all the same", () => {
    expect(parseWhen({ at: "every monday 9am" }, NOW, ZONE)).toEqual({ kind: "cron", cron: "0 9 * * 1", zone: ZONE });
    expect(parseWhen({ at: "weekdays at 8" }, NOW, ZONE)).toMatchObject({ cron: "0 8 * * 1-5" });
    expect(parseWhen({ at: "monday 9am" }, NOW, ZONE)).toMatchObject({ kind: "at" });
  });
});

describe("days keep the time on the wall", () => {
  test("every day, over both clock changes; 24 hours do not", () => {
    const from = Date.parse("2027-03-25T08:00:00Z");
    const daily = parseWhen({ every: "1 day" }, from, ZONE);
    const hours = parseWhen({ every: "24 hours" }, from, ZONE);
    const walk = (when: typeof daily) => {
      const times: string[] = [];
      for (let at = from, i = 0; i < 300; i++) {
        at = nextDue(when, at)!;
        times.push(shown(at).slice(-5));
      }
      return new Set(times);
    };
    expect(walk(daily)).toEqual(new Set(["09:00"]));
    expect(walk(hours)).toEqual(new Set(["09:00", "10:00"]));
  });

  test("a date that a month lacks is its last day, and the next month has its own again", () => {
    const from = Date.parse("2027-01-31T08:00:00Z");
    const when = parseWhen({ every: "month" }, from, ZONE);
    const next: string[] = [];
    for (let at = nextDue(when, from)!; next.length < 4; at = nextDue(when, at)!) next.push(shown(at));
    expect(next.map((one) => one.slice(4, 10).trim())).toEqual(["28 Feb", "31 Mar", "30 Apr", "31 May"]);
  });
});

describe("what depends on now", () => {
  test.each([
    { in: "10 minutes" },
    { at: "tomorrow 9am" },
    { every: "2 hours" },
    { every: "other monday" },
    { every: "3 months" },
    { cron: "0 7 * * *" },
  ])("%j is settled: read an hour later it is the same schedule", (given) => {
    const fixed = settled(given, NOW, ZONE);
    expect(JSON.stringify(fixed)).not.toMatch(/minutes|tomorrow/);
    const later = NOW + 120_000;
    expect(nextDue(parseWhen(fixed, later, "UTC"), later)).toBe(nextDue(parseWhen(given, NOW, ZONE), later));
  });
});

test.each(["and ", "a half ", "every ", "1 ", "9:", "in ", "the end of ", "monday and ", "h", "\t", "next "])(
  "hostile words cost no more than their length: %j",
  (word) => {
    const read = (text: string) => {
      expect(() => moment(text, NOW, ZONE)).toThrow();
      expect(() => duration(text)).toThrow();
      try {
        parseWhen({ every: text }, NOW, ZONE);
      } catch {
        // Some of it is a schedule after all.
      }
    };
    read(word.repeat(Math.floor(190 / word.length)));
    expectLinear((size) => read(word.repeat(size)), 20_000);
  },
);
