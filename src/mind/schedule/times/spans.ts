/** Lengths of time: "30 minutes", "half an hour", "an hour and a half", "2 days and 3 hours", "3 months". Pure. */
import { AppError } from "../../../core/domain/index.ts";
import { Reader, readCount } from "./tokens.ts";

/** Days and months are steps on the calendar, which keep the time of day; the rest is time that passes. */
export interface Span {
  ms: number;
  days: number;
  months: number;
}

type Unit = { of: keyof Span; size: number };

const UNITS: Readonly<Record<string, Unit>> = units([
  ["ms", 1000, ["s", "sec", "secs", "second", "seconds"]],
  ["ms", 60_000, ["m", "min", "mins", "minute", "minutes"]],
  ["ms", 3_600_000, ["h", "hr", "hrs", "hour", "hours"]],
  ["days", 1, ["d", "day", "days"]],
  ["days", 7, ["w", "week", "weeks"]],
  ["days", 14, ["fortnight", "fortnights"]],
  ["months", 1, ["month", "months"]],
  ["months", 3, ["quarter", "quarters"]],
  ["months", 12, ["y", "year", "years"]],
]);

/** Takes as much of a length of time as comes next, or nothing. */
export function readSpan(r: Reader): Span | undefined {
  const span: Span = { ms: 0, days: 0, months: 0 };
  let last: Unit | undefined;
  for (;;) {
    const place = r.place;
    if (last) r.eat("and");
    // "and a half" belongs to the unit before it: an hour and a half.
    if (last && (r.eat("a", "half") || r.eat("half"))) {
      if (addTo(span, last, 0.5)) continue;
      return r.back(place);
    }
    if (r.eat("quarter", "of", "an", "hour") || r.eat("a", "quarter", "of", "an", "hour")) {
      span.ms += 900_000;
      last = { of: "ms", size: 3_600_000 };
      continue;
    }
    let count = readCount(r);
    // "two and a half hours"
    if (count !== undefined && (r.eat("and", "a", "half") || r.eat("and", "half", "a"))) count += 0.5;
    const unit = count === undefined ? undefined : r.pick(UNITS);
    if (count === undefined || !unit || !addTo(span, unit, count)) {
      r.back(place);
      return last ? span : undefined;
    }
    last = unit;
  }
}

/** A single unit without a count: every "hour", every "day". */
export function readUnit(r: Reader): Span | undefined {
  const unit = r.pick(UNITS);
  if (!unit) return undefined;
  const span: Span = { ms: 0, days: 0, months: 0 };
  addTo(span, unit, 1);
  if (r.eat("and", "a", "half")) addTo(span, unit, 0.5);
  return span;
}

/** A part of a day is hours; a part of a month is nothing anybody could point at. */
function addTo(span: Span, unit: Unit, count: number): boolean {
  const whole = count * unit.size;
  if (Number.isInteger(whole) || unit.of === "ms") span[unit.of] += whole;
  else if (unit.of === "days") span.ms += whole * 86_400_000;
  else return false;
  return true;
}

/** "30 minutes" in milliseconds; throws with an example for what is none, or has no fixed length. */
export function duration(text: string): number {
  const { ms, days, months } = wholeSpan(text);
  const length = ms + days * 86_400_000;
  if (months || length <= 0) throw noSpan(text);
  return length;
}

function wholeSpan(text: string): Span {
  const r = makeReader(text);
  r.eat("in");
  const span = readSpan(r);
  r.eat("from", "now");
  if (!span || !r.isDone) throw noSpan(text);
  return span;
}

function makeReader(text: string): Reader {
  try {
    return new Reader(text);
  } catch {
    throw noSpan(text);
  }
}

function noSpan(text: string): AppError {
  return new AppError("BAD_REQUEST", {
    message: `"${text}" isn't a length of time.`,
    hint: 'Write for example "30 minutes" or "1h 30m".',
  });
}

function units(rows: [keyof Span, number, string[]][]): Record<string, Unit> {
  return Object.fromEntries(rows.flatMap(([of, size, words]) => words.map((word) => [word, { of, size }])));
}
