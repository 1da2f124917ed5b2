/** Times of day in words: "9am", "18:30", "noon", "9 in the morning", "half past nine", "evening". */
import { type DayPart, isDayPart } from "./today.ts";
import { NUMBERS, type Reader } from "./tokens.ts";

export interface TimeOfDay {
  hour: number;
  minute: number;
  /** The half of the day was left open: nine may still be nine in the evening. */
  isOpen?: true;
  /** Only a part of the day was named, and this is its usual time. */
  part?: DayPart;
  /** Midnight, or the small hours of a night: they belong to the date after the day that was named. */
  isDayAfter?: true;
}

/** When nobody says a time of day. */
export const USUAL_TIME: TimeOfDay = { hour: 9, minute: 0 };
/** "End of the day", of the week, of the month. */
export const CLOSING_TIME: TimeOfDay = { hour: 17, minute: 0 };

const PARTS: Readonly<Record<string, number>> = {
  morning: 9,
  mornings: 9,
  lunch: 12,
  lunchtime: 12,
  afternoon: 15,
  afternoons: 15,
  evening: 18,
  evenings: 18,
  night: 20,
  nights: 20,
  noon: 12,
  midday: 12,
  midnight: 0,
};
const LATE = new Set(["afternoon", "evening", "night"]);
const DAY_PARTS = new Set(["morning", ...LATE]);

/** `late`: it is an evening's time, so that "tonight at 11" is 23:00. */
export function readClock(r: Reader, late = false): TimeOfDay | undefined {
  const word = r.word();
  const part = r.pick(PARTS);
  if (part !== undefined) {
    // "monday evening at 7": the part of the day says which seven.
    const mark = r.place;
    r.eat("at");
    const clearer = DAY_PARTS.has(word!) && r.number() !== undefined ? readClock(r, LATE.has(word!)) : undefined;
    if (clearer) return word === "night" ? atNight(clearer) : clearer;
    r.back(mark);
    return { hour: part, minute: 0, ...(isDayPart(word) ? { part: word } : {}) };
  }
  const place = r.place;
  const shift = SHIFTS.find(([first, second]) => r.eat(first, second))?.[2] ?? 0;
  const spelt = r.word() !== undefined && r.word()!.length > 2 ? NUMBERS[r.word()!] : undefined;
  const hour = r.number() ?? spelt;
  if (hour === undefined || !Number.isInteger(hour)) return r.back(place);
  const count = r.digits().length;
  r.take();
  let minute = 0;
  let isClear = shift !== 0;
  if (r.isColon() && r.digits(1).length === 2) {
    minute = r.number(1)!;
    r.take(2);
    // Seconds are nothing a person plans by; 09:00:00 is 09:00.
    if (r.isColon() && r.digits(1) === "00") r.take(2);
    isClear = true;
  } else if (r.word() === "h") {
    r.take();
    if (r.digits().length === 2) {
      minute = r.number()!;
      r.take();
    }
    isClear = true;
  } else if (count === 4 && hour < 2400 && hour % 100 < 60) {
    // 1730 is a time only when it cannot be a year of our days.
    if (hour >= 1900 && hour < 2200) return r.back(place);
    return { hour: Math.floor(hour / 100), minute: hour % 100 };
  }
  const half = readHalf(r, hour);
  if (half && (hour < 1 || hour > 12)) return r.back(place);
  r.eat("o", "clock") || r.eat("oclock");
  const early = half === "am" && hour === 12 ? 0 : hour;
  const at = (half === "pm" || (!half && late)) && hour < 12 ? hour + 12 : early;
  if (at > 23 || minute > 59 || (count > 2 && !isClear)) return r.back(place);
  const minutes = (at * 60 + minute + shift + 1440) % 1440;
  const open = !half && hour >= 1 && hour <= 12 ? ({ isOpen: true } as const) : {};
  return { hour: Math.floor(minutes / 60), minute: minutes % 60, ...open };
}

/** The hours after midnight that still belong to the night before. */
const SMALL_HOURS = 5;

/** "Tonight at 1" is an hour after midnight, "tonight at 9" three before it. */
export function atNight(clock: TimeOfDay): TimeOfDay {
  const { hour, minute, isOpen } = clock;
  const small = isOpen ? hour % 12 : hour;
  if (small < SMALL_HOURS) return { hour: small, minute, isDayAfter: true };
  return isOpen && hour < 12 ? { hour: hour + 12, minute } : clock;
}

function readHalf(r: Reader, hour: number): "am" | "pm" | undefined {
  if (r.eat("am") || r.eat("a", "m") || r.eat("in", "the", "morning")) return "am";
  if (r.eat("pm") || r.eat("p", "m")) return "pm";
  const part = r.word(0) === "in" && r.word(1) === "the" ? r.word(2) : undefined;
  if (part && LATE.has(part)) {
    r.take(3);
    return "pm";
  }
  if (r.eat("at", "night")) return hour % 12 < SMALL_HOURS ? "am" : "pm";
  return undefined;
}

/** "9 and 17", "8, 12 and 18:00". */
export function readClocks(r: Reader): TimeOfDay[] {
  const found: TimeOfDay[] = [];
  for (;;) {
    const place = r.place;
    if (found.length) r.eat("and");
    r.eat("at");
    const one = readClock(r);
    if (!one) {
      r.back(place);
      return found;
    }
    found.push(one);
  }
}

/** "half past" and its like: minutes around the hour that follows. */
const SHIFTS = [
  ["half", "past", 30],
  ["quarter", "past", 15],
  ["quarter", "to", -15],
] as const;
