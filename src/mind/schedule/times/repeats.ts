/**
 * What repeats, in words: "every 2 hours", "every monday 9am", "weekdays at 8", "every other day", "first of the month",
 * "every 3 months". Days, weeks and months keep the time of day over clock changes.
 */
import { AppError } from "../../../core/domain/index.ts";
import { toMoment, wallAt } from "../zone.ts";
import { readClocks, type TimeOfDay, USUAL_TIME } from "./clock.ts";
import { moment, plus, until } from "./moments.ts";
import { readSpan, readUnit, type Span } from "./spans.ts";
import { MONTHS, notUnderstood, ORDINALS, Reader, readOrdinal, WEEKDAYS } from "./tokens.ts";

export type Repeat =
  | { cron: string }
  /** Counted from `anchor`; without it from now. */
  | { span: Span; anchor?: number };

const DAY_PARTS = ["morning", "afternoon", "evening", "night"];
const SIMPLE: Readonly<Record<string, string>> = {
  hourly: "hour",
  daily: "day",
  weekly: "week",
  monthly: "month",
  yearly: "year",
  annually: "year",
};
const GROUPS: Readonly<Record<string, string>> = {
  weekday: "1-5",
  weekdays: "1-5",
  workday: "1-5",
  workdays: "1-5",
  weekend: "0,6",
  weekends: "0,6",
};

/** Whether a text speaks of something that comes again and again, without the word "every" before it. */
export function isRepeat(text: string): boolean {
  const [, first = ""] = /^(?:on\s+)?([a-z]+)/i.exec(text.slice(0, 40).trimStart()) ?? [];
  const word = first.toLowerCase();
  if (["every", "each"].includes(word) || Object.hasOwn(SIMPLE, word)) return true;
  if (Object.hasOwn(GROUPS, word) && word.endsWith("s")) return true;
  return word.endsWith("days") && Object.hasOwn(WEEKDAYS, word);
}

export function readRepeat(text: string, now: number, zone: string): Repeat {
  const r = new Reader(
    text.replace(/^\s*(daily|hourly|weekly|monthly|yearly|annually)\b/i, (w) => `every ${SIMPLE[w.toLowerCase()]}`),
    "how often",
  );
  r.eat("on");
  r.eatAny("every", "each");
  if (r.isDone) throw notUnderstood(text, "how often");
  if (r.number() !== undefined && r.isLast(1)) throw withoutUnit(text, r.number()!);
  const found =
    hourly(r) ??
    everyOther(r, now, zone) ??
    weekdays(r) ??
    ofTheMonth(r) ??
    ofTheYear(r) ??
    parts(r) ??
    stepping(r, now, zone) ??
    bareTimes(r);
  if (!found || !r.isDone) throw notUnderstood(text, "how often");
  return found;
}

/** "every 5" may be meant as minutes or as five o'clock. */
function withoutUnit(text: string, n: number): AppError {
  return new AppError("BAD_REQUEST", {
    message: `"${text}" has no unit.`,
    hint: `Write for example "${n} minutes" or "${n} hours"; for a time of day "every day at ${n <= 24 ? n : 9}:00".`,
  });
}

/** "hour", "hour at 15": a full hour's rhythm. */
function hourly(r: Reader): Repeat | undefined {
  const place = r.place;
  if (!r.eat("hour") || !r.eat("at")) return r.back(place);
  if (r.isColon()) r.take();
  const minute = r.number();
  if (minute === undefined || minute > 59) return r.back(place);
  r.take();
  r.eatAny("past", "minutes");
  return { cron: `${minute} * * * *` };
}

/** "other day", "third week", "2nd day", "other monday at 9". */
function everyOther(r: Reader, now: number, zone: string): Repeat | undefined {
  const place = r.place;
  const n = r.eat("other") ? 2 : readNth(r);
  if (n < 2) return r.back(place);
  const weekday = r.pick(WEEKDAYS);
  if (weekday !== undefined) {
    // "second monday of the month" is a day of the month, and "third monday" may be meant so.
    if (n > 2 || isOfMonth(r)) return r.back(place);
    return { span: { ms: 0, days: 14, months: 0 }, anchor: onWeekday(weekday, r, now, zone) };
  }
  const span = readUnit(r);
  if (!span || isOfMonth(r)) return r.back(place);
  return anchored({ ms: span.ms * n, days: span.days * n, months: span.months * n }, r, now, zone);
}

function readNth(r: Reader): number {
  return isOrdinal(r) ? (readOrdinal(r) ?? 0) : 0;
}

/** "2nd", "second"; a number alone is a count. */
function isOrdinal(r: Reader): boolean {
  return ["st", "nd", "rd", "th"].includes(r.word(1) ?? "") || Object.hasOwn(ORDINALS, r.word() ?? "");
}

function isOfMonth(r: Reader): boolean {
  return r.word() === "of" || r.word() === "in";
}

/** "monday", "mon, wed and fri at 8 and 17", "weekdays", "weekday morning". */
function weekdays(r: Reader): Repeat | undefined {
  const place = r.place;
  const group = r.pick(GROUPS);
  const days: number[] = [];
  if (group === undefined) {
    for (;;) {
      const mark = r.place;
      if (days.length) r.eatAny("and", "or");
      const day = r.pick(WEEKDAYS);
      if (day === undefined) {
        r.back(mark);
        break;
      }
      days.push(day);
    }
    if (!days.length) return r.back(place);
  }
  const field = group ?? [...new Set(days)].sort().join(",");
  return { cron: `${times(r)} * * ${field}` };
}

/** "first of the month", "month on the 5th", "15th", "last day of the month", "first monday of the month". */
function ofTheMonth(r: Reader): Repeat | undefined {
  const place = r.place;
  const isMonth = r.eat("month");
  if (isMonth) {
    r.eat("on");
    if (r.isDone || r.word() === "at") return r.back(place);
  }
  const isNamed = r.eat("the");
  if (r.eat("last")) {
    const weekday = r.pick(WEEKDAYS);
    if (weekday === undefined && !r.eat("day")) return r.back(place);
    if (!monthEnds(r) && !isMonth) return r.back(place);
    return { cron: weekday === undefined ? `${times(r)} L * *` : `${times(r)} * * ${weekday}L` };
  }
  if (r.word() !== undefined && Object.hasOwn(ORDINALS, r.word()!) && Object.hasOwn(WEEKDAYS, r.word(1) ?? "")) {
    const nth = r.pick(ORDINALS)!;
    const weekday = r.pick(WEEKDAYS)!;
    return monthEnds(r) || isMonth ? { cron: `${times(r)} * * ${weekday}#${nth}` } : r.back(place);
  }
  if (!isOrdinal(r) && !isMonth) return r.back(place);
  // "every second" and "every third" are no days of a month; "every 2nd" and "the second" are.
  const isWord = Object.hasOwn(ORDINALS, r.word() ?? "");
  const day = readOrdinal(r);
  if (day === undefined) return r.back(place);
  r.eat("day");
  if (!monthEnds(r) && !isMonth && isWord && !isNamed) return r.back(place);
  if (r.word() !== undefined && (r.word() === "of" || Object.hasOwn(MONTHS, r.word()!))) return r.back(place);
  return { cron: `${times(r)} ${day} * *` };
}

function monthEnds(r: Reader): boolean {
  const place = r.place;
  if (r.eatAny("of", "in")) {
    r.eatAny("the", "every", "each");
    if (r.eat("month")) return true;
  }
  r.back(place);
  return false;
}

/** "dec 25", "25th of december at noon", "year on 1 may". */
function ofTheYear(r: Reader): Repeat | undefined {
  const place = r.place;
  if (r.eat("year")) r.eat("on");
  r.eat("the");
  let month = r.pick(MONTHS);
  const day = readOrdinal(r);
  if (day === undefined) return r.back(place);
  if (month === undefined) {
    r.eat("of");
    month = r.pick(MONTHS);
  }
  return month === undefined ? r.back(place) : { cron: `${times(r)} ${day} ${month + 1} *` };
}

/** "morning", "evening at 7". */
function parts(r: Reader): Repeat | undefined {
  const part = r.word();
  if (!part || !DAY_PARTS.includes(part)) return undefined;
  return { cron: `${times(r)} * * *` };
}

/** "2 hours", "day at 9", "3 days at 9am", "2 weeks on monday", "3 months". */
function stepping(r: Reader, now: number, zone: string): Repeat | undefined {
  const place = r.place;
  const span = readSpan(r) ?? readUnit(r);
  if (!span) return r.back(place);
  if (span.ms && !span.days && !span.months) return r.isDone ? { span } : r.back(place);
  const isDaily = span.days === 1 && !span.ms && !span.months;
  if (isDaily && !r.isDone) return { cron: `${times(r)} * * *` };
  if (span.days % 7 === 0 && span.days > 0) {
    const mark = r.place;
    r.eat("on");
    const weekday = r.pick(WEEKDAYS);
    if (weekday !== undefined) {
      if (span.days === 7) return { cron: `${times(r)} * * ${weekday}` };
      return { span, anchor: onWeekday(weekday, r, now, zone) };
    }
    r.back(mark);
  }
  if (span.months && r.eat("on")) {
    r.eat("the");
    const day = readOrdinal(r);
    if (day === undefined) return undefined;
    const clock = single(r);
    const today = wallAt(now, zone);
    const on = (from: { year: number; month: number; day: number }) =>
      toMoment(
        { ...plus({ ...from, day: 1 }, { days: day - 1 }), hour: clock.hour, minute: clock.minute, second: 0 },
        zone,
      );
    const first = on(today);
    return { span, anchor: first > now ? first : on({ ...plus({ ...today, day: 1 }, { months: 1 }), day: 1 }) };
  }
  return anchored(span, r, now, zone);
}

/** "every 9am" and "every 9:00 and 17:00" mean days. */
function bareTimes(r: Reader): Repeat | undefined {
  return r.isDone ? undefined : { cron: `${times(r)} * * *` };
}

/** With a time of day it counts from the next time a clock shows that. */
function anchored(span: Span, r: Reader, now: number, zone: string): Repeat {
  if (r.isDone) return { span };
  const { hour, minute } = single(r);
  return { span, anchor: moment(`${hour}:${String(minute).padStart(2, "0")}`, now, zone) };
}

function onWeekday(weekday: number, r: Reader, now: number, zone: string): number {
  const clock = single(r);
  const today = wallAt(now, zone);
  const on = (days: number) =>
    toMoment({ ...plus(today, { days }), hour: clock.hour, minute: clock.minute, second: 0 }, zone);
  const first = on(until(today, weekday));
  return first > now ? first : on(until(today, weekday) + 7);
}

function single(r: Reader): TimeOfDay {
  const found = readClocks(r);
  if (found.length > 1) throw r.wrong();
  return found[0] ?? USUAL_TIME;
}

/** Cron's minute and hour. Several times of day need the same minute: one pattern has one. */
function times(r: Reader): string {
  const found = readClocks(r);
  // "monday morning at 7": the time that was said last is the one meant.
  const clocks = found.length ? found : [USUAL_TIME];
  const minutes = new Set(clocks.map((one) => one.minute));
  if (minutes.size > 1) {
    throw new AppError("BAD_REQUEST", {
      message: `"${r.text}" has times with different minutes, which one schedule can't have.`,
      hint: 'Make two: "every day at 9:00" and "every day at 17:30".',
    });
  }
  return `${clocks[0]!.minute} ${[...new Set(clocks.map((one) => one.hour))].sort((a, b) => a - b).join(",")}`;
}
