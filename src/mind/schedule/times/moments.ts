/**
 * Moments in words, on the wall of a zone. Where words leave something open, it is always closed the same way:
 *
 * SCHEDULE-12: a time without a day is the next time a clock shows it. A day without a time is 9:00 (evening words: see clock.ts).
 * SCHEDULE-13: a weekday is the next one still to come; "next friday" is the first Friday after today.
 * SCHEDULE-14: "next week" is its Monday, "next month" its first day; "end of" a week is Friday, of a month its last day, at 17:00.
 * SCHEDULE-15: a date without a year is the next one to come, and so is a day without a month. Hours without am or pm are those of a clock
 *     with 24 hours.
 * Parts of today that have begun: SCHEDULE-16 in today.ts.
 */
import { AppError } from "../../../core/domain/index.ts";
import { toMoment, type Wall, wallAt } from "../zone.ts";
import { atNight, CLOSING_TIME, readClock, type TimeOfDay, USUAL_TIME } from "./clock.ts";
import { readSpan, type Span } from "./spans.ts";
import { type DayPart, stillToday } from "./today.ts";
import { inThePast, isVague, MONTHS, notUnderstood, Reader, readOrdinal, vague, WEEKDAYS } from "./tokens.ts";

export interface Day {
  year: number;
  /** From 1. */
  month: number;
  day: number;
}

/** What a text says of a day, before it is known whether it has passed. */
interface Said {
  day: Day;
  clock?: TimeOfDay;
  /** The day it goes to when that has passed. */
  later?: Day;
  isTonight?: true;
  /** It is today and nothing else: a part of it that has begun goes on until it ends (SCHEDULE-16). */
  isToday?: true;
  /** What it means when no time of day is said. */
  part?: DayPart;
}

/** The last moment a Date can hold. */
const LATEST = 8.64e15;
const DAY_MS = 86_400_000;
/** A hundred years. */
const MOST_DAYS = 36_600;

/** ISO, epoch, "in half an hour", "9am tomorrow", "fri 5pm", "25 Dec 2026 at noon", "end of month". */
export function moment(given: string | number, now: number, zone: string): number {
  if (typeof given === "number" || /^\d{9,13}$/.test(given)) {
    const n = Number(given);
    // Seconds until the year 2286 have at most ten digits.
    const at = n < 1e11 ? n * 1000 : n;
    if (Number.isFinite(at) && Math.abs(at) <= LATEST) return at;
    throw notUnderstood(String(given));
  }
  const text = given.trim();
  if (PAST.test(text)) throw inThePast(text);
  return iso(text, zone) ?? spoken(text, now, zone);
}

/** Ways to say that something is over. Nothing is planned for then, and no other reading is guessed. */
const PAST =
  /\byesterday\b|\bago$|^last (?:night|week|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|^(?:this|the) past\b/i;

/** A time of day, or a span that is counted from now. */
const NAMES_TIME =
  /\d\s*(am|pm)\b|\d:\d|\b(noon|midnight|hours?|minutes?|seconds?|morning|evening|tonight|o'clock)\b|\dt\d/i;

/** When something ends: a day without a time lasts until it is over. */
export function endMoment(given: string, now: number, zone: string): number {
  const at = moment(given, now, zone);
  if (/^\d{9,13}$/.test(given) || NAMES_TIME.test(given)) return at;
  return toMoment({ ...wallAt(at, zone), hour: 23, minute: 59, second: 59 }, zone) + 999;
}

function iso(text: string, zone: string): number | undefined {
  const found = /^(\d{4})-(\d{2})-(\d{2})(?:[t ](\d{2}):(\d{2})(?::(\d{2}))?)?(\.\d{1,9})?(z|[+-]\d{2}:?\d{2})?$/i.exec(
    text,
  );
  if (!found) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((n) => Number(n ?? 0));
  const wall = { year: year!, month: month!, day: day!, hour: hour!, minute: minute!, second: second! };
  if (!found[4]) Object.assign(wall, USUAL_TIME);
  const at = found[8] ? Date.parse(text.replace(" ", "t").toUpperCase()) : toMoment(wall, zone);
  // The 31st of February is no day: read as the 3rd of March it would come as a surprise.
  if (isOnCalendar(wall) && !Number.isNaN(at)) return at;
  throw notUnderstood(text);
}

function isOnCalendar({ year, month, day, hour, minute, second }: Wall): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
}

function spoken(text: string, now: number, zone: string): number {
  const r = new Reader(text);
  const wall = wallAt(now, zone);
  const today: Day = { year: wall.year, month: wall.month, day: wall.day };
  let said: Said | undefined;
  let clock: TimeOfDay | undefined;
  let span: Span | undefined;
  if (r.isDone) throw notUnderstood(text);
  if (isVague(r)) throw vague(text);
  if (r.eat("right", "now") || r.eat("now")) return r.isDone ? now : fail(text);
  while (!r.isDone) {
    if (r.eatAny("at", "on", "by")) continue;
    if (!said && !span && !clock) {
      span = readAhead(r);
      if (span) continue;
    }
    if (!said && !span) {
      said = readDay(r, today);
      if (said) continue;
    }
    r.eat("the") || r.eat("in", "the");
    clock = clock ? fail(text) : readClock(r);
    if (!clock) throw notUnderstood(text);
  }
  if (span) return ahead(span, clock, now, zone);
  return closed(said ?? { day: today, later: plus(today, { days: 1 }) }, clock, now, zone);
}

/** "in 2 hours", "2 hours from now", "10 minutes". A number that is a time of day is not taken. */
function readAhead(r: Reader): Span | undefined {
  const place = r.place;
  const isIn = r.eat("in");
  const span = readSpan(r);
  // 18h30 is a time of day, not eighteen hours.
  if (!span || (!isIn && r.number() !== undefined)) return r.back(place);
  r.eat("from", "now");
  return span;
}

function ahead(span: Span, clock: TimeOfDay | undefined, now: number, zone: string): number {
  if (clock && span.ms) throw notUnderstood("a length of time with a time of day");
  if (span.ms / DAY_MS + span.days + span.months * 31 > MOST_DAYS) {
    throw new AppError("BAD_REQUEST", {
      message: "That is too far away.",
      hint: 'For example "tomorrow 9am" or "in 30 days".',
    });
  }
  if (!clock && !span.days && !span.months) return now + span.ms;
  const wall = wallAt(now, zone);
  const day = plus(wall, { days: span.days, months: span.months });
  return (
    toMoment({ ...wall, ...day, ...(clock ? { hour: clock.hour, minute: clock.minute, second: 0 } : {}) }, zone) +
    span.ms
  );
}

/** The day said, or the one after it where what was said has passed. */
function closed(said: Said, named: TimeOfDay | undefined, now: number, zone: string): number {
  const clock = named && said.isTonight ? atNight(named) : named;
  const part = clock ? clock.part : said.part;
  const on = (day: Day, minutes: number) =>
    toMoment({ ...day, hour: Math.floor(minutes / 60), minute: minutes % 60, second: 0 }, zone);
  if (said.isToday && part) {
    const { hour, minute } = wallAt(now, zone);
    return on(said.day, stillToday(part, hour * 60 + minute));
  }
  const { hour, minute, isDayAfter } = clock ?? said.clock ?? USUAL_TIME;
  // "Today at midnight" is the one to come.
  const isNext = isDayAfter || (said.isToday && hour === 0 && minute === 0);
  const at = (day: Day) => on(isNext ? plus(day, { days: 1 }) : day, hour * 60 + minute);
  const first = at(said.day);
  return first > now || !said.later ? first : at(said.later);
}

function readDay(r: Reader, today: Day): Said | undefined {
  if (r.eat("later", "today") || r.eat("today")) return { day: today, isToday: true, part: "day" };
  if (r.eat("later", "tonight") || r.eat("tonight")) {
    return { day: today, isToday: true, isTonight: true, part: "night" };
  }
  if (r.eat("the", "day", "after", "tomorrow") || r.eat("day", "after", "tomorrow")) return inDays(today, 2);
  if (r.eatAny("tomorrow", "tmrw", "tomorow")) return inDays(today, 1);
  return readNext(r, today) ?? readEnd(r, today) ?? readWeekday(r, today) ?? readDate(r, today);
}

function readNext(r: Reader, today: Day): Said | undefined {
  const place = r.place;
  if (r.eatAny("this")) {
    if (r.eatAny("weekend")) return thisWeekend(today);
    const part = r.word();
    if (part && ["morning", "afternoon", "evening"].includes(part)) return { day: today, isToday: true };
    return readWeekday(r, today) ?? r.back(place);
  }
  if (!r.eatAny("next")) return undefined;
  if (r.eat("week")) {
    const monday = inDays(today, until(today, 1) || 7).day;
    r.eat("on");
    const weekday = r.pick(WEEKDAYS);
    return { day: weekday === undefined ? monday : plus(monday, { days: (weekday + 6) % 7 }) };
  }
  if (r.eat("weekend"))
    return inDays(today, until(today, 6) + (toWeekday(today) === 0 || toWeekday(today) === 6 ? 0 : 7));
  if (r.eat("month")) return { day: { ...plus({ ...today, day: 1 }, { months: 1 }), day: 1 } };
  if (r.eat("year")) return { day: { year: today.year + 1, month: 1, day: 1 } };
  const weekday = r.pick(WEEKDAYS);
  return weekday === undefined ? r.back(place) : inDays(today, until(today, weekday) || 7);
}

/** From now on it may be Sunday's, and on a Sunday what is left of it. */
function thisWeekend(today: Day): Said {
  if (toWeekday(today) === 0) return { day: today, isToday: true, part: "day" };
  const saturday = plus(today, { days: until(today, 6) });
  return { day: saturday, later: plus(saturday, { days: 1 }) };
}

/** "end of month", "the end of next week", "first of the month", "last day of the month". */
function readEnd(r: Reader, today: Day): Said | undefined {
  const place = r.place;
  r.eat("the");
  if (r.eatAny("eod", "cob")) return { day: today, isToday: true, part: "end" };
  if (r.eat("end", "of") || r.eat("close", "of")) return readPeriodEnd(r, today) ?? r.back(place);
  if (r.eat("last", "day", "of")) {
    const isNext = eatNext(r);
    return r.eat("month") ? lastDays(today, isNext ? 1 : 0) : r.back(place);
  }
  const day = readOrdinal(r);
  if (day !== undefined && r.eat("of")) {
    const isNext = eatNext(r);
    if (r.eat("month")) return onDate({ ...plus({ ...today, day: 1 }, { months: isNext ? 1 : 0 }), day }, today, r);
  }
  return r.back(place);
}

function readPeriodEnd(r: Reader, today: Day): Said | undefined {
  const isNext = eatNext(r);
  if (r.eatAny("day", "today", "business")) return { day: today, isToday: true, part: "end" };
  if (r.eatAny("tomorrow")) return { ...inDays(today, 1), clock: CLOSING_TIME };
  if (r.eatAny("week")) {
    const friday = plus(today, { days: until(today, 5) + (isNext ? 7 : 0) });
    return { day: friday, clock: CLOSING_TIME, later: plus(friday, { days: 7 }) };
  }
  if (r.eatAny("month")) return { ...lastDays(today, isNext ? 1 : 0), clock: CLOSING_TIME };
  if (!r.eatAny("year")) return undefined;
  const day = { year: today.year + (isNext ? 1 : 0), month: 12, day: 31 };
  return { day, clock: CLOSING_TIME, later: { ...day, year: day.year + 1 } };
}

/** The last day of the month `months` ahead, or of the one after it. */
function lastDays(today: Day, months: number): Said {
  const first = { ...today, day: 1 };
  return { day: toMonthEnd(plus(first, { months })), later: toMonthEnd(plus(first, { months: months + 1 })) };
}

/** Whether what is said is of the next month or week; "the" and "this" say that it is of this one. */
function eatNext(r: Reader): boolean {
  r.eatAny("the", "this");
  return r.eat("next");
}

function readWeekday(r: Reader, today: Day): Said | undefined {
  const weekday = r.pick(WEEKDAYS);
  if (weekday === undefined) return undefined;
  const part = r.word();
  // "friday next week" is said as often as "next friday".
  if (part === "next" && r.word(1) === "week") {
    r.take(2);
    return inDays(today, (until(today, 1) || 7) + ((weekday + 6) % 7));
  }
  const { day } = inDays(today, until(today, weekday));
  return { day, later: plus(day, { days: 7 }) };
}

/** "Dec 25", "25 Dec 2026", "the 25th of December", "the 5th". */
function readDate(r: Reader, today: Day): Said | undefined {
  const place = r.place;
  const isThe = r.eat("the");
  let month = r.pick(MONTHS);
  if (month !== undefined) r.eat("the");
  const isNumber = r.number() !== undefined;
  // "may 9:30" has no day in it.
  if (r.isColon(1)) return r.back(place);
  const suffix = ["st", "nd", "rd", "th"].includes(r.word(1) ?? "");
  const day = readOrdinal(r);
  if (day === undefined) return r.back(place);
  if (month === undefined) {
    r.eat("of");
    month = r.pick(MONTHS);
  }
  if (month !== undefined) {
    const year = readYear(r);
    const date = { year: year ?? today.year, month: month + 1, day };
    return year === undefined ? onDate(date, today, r) : whole(date, r);
  }
  // Without a month only "the 5th" is a day; "5" is a time.
  if (!isThe || !(suffix || !isNumber)) return r.back(place);
  return onDate({ ...today, day }, today, r);
}

function readYear(r: Reader): number | undefined {
  const year = r.number();
  if (year === undefined || r.digits().length !== 4 || year < 1970 || year > 2200 || r.isColon(1)) return undefined;
  r.take();
  return year;
}

/** A day that this month, or this year, may have had already. */
function onDate(date: Day, today: Day, r: Reader): Said {
  if (!r.text.toLowerCase().match(MONTH_NAME)) return onDayOfMonth(date, today);
  const isPast = Date.UTC(date.year, date.month - 1, date.day) < Date.UTC(today.year, today.month - 1, today.day);
  const found = isPast ? { ...date, year: date.year + 1 } : date;
  // A leap day has its next year, whichever that is.
  while (found.month === 2 && found.day === 29 && !isReal(found)) found.year++;
  return { ...whole(found, r), later: plus(found, { months: 12 }) };
}

/** "the 31st" in a month without one is that of the next month that has it. */
function onDayOfMonth(date: Day, today: Day): Said {
  const from = (first: Day): Day => {
    const found = { ...first, day: date.day };
    return isReal(found) ? found : from(plus(first, { months: 1 }));
  };
  const start = { ...date, day: 1 };
  const isThisMonth = date.month === today.month && date.year === today.year;
  const day = from(isThisMonth && date.day < today.day ? plus(start, { months: 1 }) : start);
  return { day, later: from(plus({ ...day, day: 1 }, { months: 1 })) };
}

const MONTH_NAME = new RegExp(`\\b(${Object.keys(MONTHS).join("|")})\\b`);

function whole(day: Day, r: Reader): Said {
  if (isReal(day)) return { day };
  throw new AppError("BAD_REQUEST", {
    message: `"${r.text}" names a day that isn't in the calendar.`,
    hint: 'Write for example "28 Feb" or "end of month".',
  });
}

function isReal({ year, month, day }: Day): boolean {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

function inDays(today: Day, days: number): Said {
  return { day: plus(today, { days }) };
}

/** Days until that weekday comes: 0 today. */
export function until(today: Day, weekday: number): number {
  return (weekday - toWeekday(today) + 7) % 7;
}

function toWeekday({ year, month, day }: Day): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay();
}

function toMonthEnd({ year, month }: Day): Day {
  return { year, month, day: new Date(Date.UTC(year, month, 0)).getUTCDate() };
}

/** Adds months, clamping to the month's last day, and then days. */
export function plus({ year, month, day }: Day, by: { days?: number; months?: number }): Day {
  const first = new Date(Date.UTC(year, month - 1 + (by.months ?? 0), 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const date = new Date(first.getTime() + (Math.min(day, last) - 1 + (by.days ?? 0)) * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function fail(text: string): never {
  throw notUnderstood(text);
}
