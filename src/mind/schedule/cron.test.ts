/**
 * Ten years of clock changes, compared with a second implementation: it knows no offsets and no croner, only what a clock on
 * the wall shows minute by minute. By default the days around each change and a day of each quarter; every minute of the ten
 * years with LARES_WHOLE_YEAR=1. `-t Berlin` runs one zone.
 */
import { describe, expect, test } from "vitest";
import { nextDue, type When } from "./when.ts";

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
const DAY = 86_400_000;
const FROM = Date.UTC(2020, 0, 1, 12);
const TO = Date.UTC(2030, 0, 1, 12);

/** North and south, an hour and half an hour, at midnight, over Ramadan, one that gave it up, and one that never had it. */
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Australia/Sydney",
  "America/Santiago",
  "Asia/Beirut",
  "America/Asuncion",
  "Africa/Casablanca",
  "Asia/Kolkata",
];

const PATTERNS = [
  // One hour, a list, a range, steps, a mixture.
  ...["30 2 * * *", "0 0 * * *", "30 2,14 * * *", "15 1-3 * * *", "0 */2 * * *", "5 0-6/3 * * *"],
  ...["10,40 0,2-4,23 * * *", "0 2,3 * * *", "*/15 2 * * *", "20-40/10 1,2 * * *"],
  // Every hour, however it is written.
  ...["0 * * * *", "*/20 * * * *", "15,45 0-23 * * *", "30 */1 * * *", "10 0-11,12-23 * * *", "50 * * * 0"],
  // Days: dates, months, names, the last, both kinds of day.
  ...["30 2,14 31 10 *", "30 2,14 28 3 *", "30 2 * mar,apr,sep-nov *", "30 1 * * sun", "45 2,23 * * mon-fri"],
  ...["30 2 L * *", "59 23 L * *", "0 0 1 * *", "30 1,2 1-7 * sun", "0 3 29 2 *", "30 2 * * 0#1", "30 2 * * 7L"],
];

const IS_WHOLE = process.env.LARES_WHOLE_YEAR !== undefined;
/** Every minute of ten years, on a busy machine; the dearest patterns are due a quarter of a million times. */
const PATIENCE = IS_WHOLE ? 300_000 : 60_000;

/** What the wall shows at every quarter of an hour, in minutes as if they were UTC. No clock has changed between quarters since 1972. */
function wallOf(zone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  const first = Math.floor((FROM - DAY) / QUARTER);
  const known = new Float64Array(Math.ceil((TO + 2 * DAY) / QUARTER) - first);
  return (time) => {
    const quarter = Math.floor(time / QUARTER);
    let wall = known[quarter - first]!;
    // Midnight of 1970 is long before all of them, so 0 is "not asked yet".
    if (wall === 0) {
      wall = Date.parse(`${format.format(quarter * QUARTER).replace(" ", "T")}Z`) / MINUTE;
      known[quarter - first] = wall;
    }
    return wall + Math.floor((time - quarter * QUARTER) / MINUTE);
  };
}

const NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MONTHS = ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

function numbers(field: string, low: number, high: number, names: string[] = []): Set<number> {
  const read = (word: string) => (names.includes(word) ? names.indexOf(word) : Number(word));
  const all = new Set<number>();
  for (const part of field.split(",")) {
    const [range, step] = part.split("/") as [string, string | undefined];
    const [from, to] = range === "*" ? [low, high] : (range.split("-") as [string, string?]).map((w) => read(w!));
    for (let n = from!; n <= (to ?? from!); n += Number(step ?? 1)) all.add(n);
  }
  return all;
}

function table(all: ReadonlySet<number>, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, n) => (all.has(n) ? 1 : 0));
}

/** Whether a pattern means this minute of the wall. */
function matcher(cron: string): { matches: (wall: number) => boolean; everyHour: boolean } {
  const [minute, hour, date, month, day] = cron.split(" ") as [string, string, string, string, string];
  const hours = numbers(hour, 0, 23);
  // Looked up five million times for each pattern and zone.
  const isMinute = table(numbers(minute, 0, 59), 60);
  const isHour = table(hours, 24);
  const months = numbers(month, 1, 12, MONTHS);
  const onDate = (d: Date) => {
    if (date === "L") return new Date(d.getTime() + DAY).getUTCDate() === 1;
    return numbers(date, 1, 31).has(d.getUTCDate());
  };
  const onDay = (d: Date) => {
    const nth = Math.ceil(d.getUTCDate() / 7);
    if (day.endsWith("L")) {
      return d.getUTCDay() === Number(day[0]) % 7 && new Date(d.getTime() + 7 * DAY).getUTCMonth() !== d.getUTCMonth();
    }
    if (day.includes("#")) return d.getUTCDay() === Number(day[0]) && nth === Number(day[2]);
    return numbers(day, 0, 6, NAMES).has(d.getUTCDay());
  };
  const days = new Map<number, boolean>();
  const isDay = (n: number) => {
    let known = days.get(n);
    if (known === undefined) {
      const d = new Date(n * DAY);
      const isOn = date === "*" ? onDay(d) : day === "*" ? onDate(d) : onDate(d) || onDay(d);
      known = isOn && months.has(d.getUTCMonth() + 1);
      days.set(n, known);
    }
    return known;
  };
  const matches = (wall: number) =>
    isMinute[wall % 60] === 1 && isHour[Math.floor(wall / 60) % 24] === 1 && isDay(Math.floor(wall / 1440));
  return { matches, everyHour: hours.size === 24 };
}

/** Minute by minute: what is new on the wall is due now, and so is what it jumped over. */
function bruteForce(cron: string, wall: (time: number) => number, from: number, to: number): number[] {
  const { matches, everyHour } = matcher(cron);
  const due: number[] = [];
  let highest = wall(from) - 1;
  for (let time = from; time < to; time += MINUTE) {
    const now = wall(time);
    if (everyHour ? matches(now) : anyNew(matches, highest, now)) due.push(time);
    highest = Math.max(highest, now);
  }
  return due;
}

function anyNew(matches: (wall: number) => boolean, highest: number, now: number): boolean {
  for (let wall = highest + 1; wall <= now; wall++) if (matches(wall)) return true;
  return false;
}

function walk(when: When, from: number, to: number): number[] {
  const due: number[] = [];
  for (let at = nextDue(when, from - 1); at !== undefined && at < to; at = nextDue(when, at)) due.push(at);
  return due;
}

/** The days around each change, and one of each quarter. */
function samples(wall: (time: number) => number): [number, number][] {
  const found: [number, number][] = [];
  for (let day = FROM; day < TO; day += DAY) {
    const isChange = wall(day + DAY) - wall(day) !== 1440;
    if (isChange) found.push([day, day + 1.25 * DAY]);
    else if ((day - FROM) % (91 * DAY) === 0) found.push([day, day + DAY]);
  }
  return found;
}

/** The first few times that only one of two lists has. */
function iso(times: number[], others: number[]): string[] {
  const known = new Set(others);
  return times
    .filter((time) => !known.has(time))
    .slice(0, 10)
    .map((time) => new Date(time).toISOString());
}

describe.each(ZONES)("ten years in %s", (zone) => {
  const wall = wallOf(zone);
  const sampled = samples(wall);
  const compared: [number, number][] = IS_WHOLE ? [[FROM, TO]] : sampled;

  test.each(PATTERNS)(
    "%s is due when a clock on the wall says so",
    (cron) => {
      const when: When = { kind: "cron", cron, zone };
      for (const [from, to] of compared) {
        const [found, meant] = [walk(when, from, to), bruteForce(cron, wall, from, to)];
        // Only where they part is worth showing: a whole run compares eight million times.
        const isSame = found.length === meant.length && found.every((at, i) => at === meant[i]);
        if (isSame) continue;
        expect(iso(found, meant)).toEqual(iso(meant, found));
        expect.fail("the same times, but in another order or twice");
      }
    },
    PATIENCE,
  );

  test("a due time is found from any moment before it, also in the middle of an hour that comes twice (SCHEDULE-10)", () => {
    for (const [from, to] of IS_WHOLE ? sampled : sampled.slice(0, 8)) {
      for (const cron of ["30 2,14 * * *", "30 1-3 * * *", "*/20 * * * *", "30 0,23 * * *"]) {
        const when: When = { kind: "cron", cron, zone };
        const due = bruteForce(cron, wall, from, to);
        for (let at = from; at < to - 6 * 60 * MINUTE; at += 7 * MINUTE) {
          expect(nextDue(when, at)).toBe(due.find((time) => time > at) ?? nextDue(when, at));
        }
      }
    }
  });
});

test("a date or a weekday: the first days of March come, whichever comes first", () => {
  const wall = wallOf("UTC");
  for (let year = 2021; year < 2030; year++) {
    const [from, to] = [Date.UTC(year, 1, 20), Date.UTC(year, 2, 10)];
    for (const date of [1, 2, 3])
      for (const day of [0, 1, 2, 3, 4, 5, 6]) {
        const cron = `0 9 ${date} * ${day}`;
        const found = walk({ kind: "cron", cron, zone: "UTC" }, from, to);
        expect([cron, year, found]).toEqual([cron, year, bruteForce(cron, wall, from, to)]);
      }
  }
});

test("hours in a list over a clock change in Berlin: once when the hour comes twice, at the jump when it is left out (SCHEDULE-8)", () => {
  const on = (cron: string, from: string) =>
    walk({ kind: "cron", cron, zone: "Europe/Berlin" }, Date.parse(from), Date.parse(from) + 2 * DAY).map((t) =>
      new Date(t).toISOString(),
    );
  expect(on("30 2,14 31 10 *", "2027-10-30T12:00Z")).toEqual(["2027-10-31T00:30:00.000Z", "2027-10-31T13:30:00.000Z"]);
  expect(on("30 2,14 28 3 *", "2027-03-27T12:00Z")).toEqual(["2027-03-28T01:00:00.000Z", "2027-03-28T12:30:00.000Z"]);
});

test.each([
  ["0 30 2 * * *", "2027-03-28T01:00:00.000Z"],
  ["@daily", "2027-03-28T22:00:00.000Z"],
  ["@hourly", "2027-03-28T00:00:00.000Z"],
])("seconds and nicknames follow the same rule: %s", (cron, at) => {
  const from = Date.parse("2027-03-27T23:00:00Z");
  expect(new Date(nextDue({ kind: "cron", cron, zone: "Europe/Berlin" }, from)!).toISOString()).toBe(at);
});
