/**
 * Words that leave the time of day to us and may be said when their usual time has passed: "tonight", "this afternoon", "end of
 * day", "later today".
 *
 * SCHEDULE-16: before its usual time such a word means that time; later the next full half hour, as long as it is still that part of the
 * day. Afterwards the person gets a sentence with words that do work: a reminder for "tonight" is never moved to tomorrow silently.
 */
import { AppError } from "../../../core/domain/index.ts";
import { AFTERNOON_OVER, DAY_OVER, EVENING_OVER, MORNING_OVER, NIGHT_OVER } from "../words.ts";

export type DayPart = "morning" | "afternoon" | "evening" | "night" | "end" | "day";

interface Stretch {
  /** Minutes after midnight: the usual time, and the last half hour that is still meant. */
  usual: number;
  last: number;
  /** At least this many minutes from now, if that still fits. */
  ahead?: number;
  over: string;
  instead: string;
}

/** The last half hour of a day. */
const LAST = 23 * 60 + 30;
const AT_NIGHT = '"in 10 minutes" or';

const STRETCHES: Readonly<Record<DayPart, Stretch>> = {
  morning: { usual: 540, last: 690, over: MORNING_OVER, instead: '"this afternoon" or "tomorrow morning"' },
  afternoon: { usual: 900, last: 1050, over: AFTERNOON_OVER, instead: '"tonight" or "tomorrow afternoon"' },
  evening: { usual: 1080, last: LAST, over: EVENING_OVER, instead: `${AT_NIGHT} "tomorrow evening"` },
  night: { usual: 1200, last: LAST, over: NIGHT_OVER, instead: `${AT_NIGHT} "tomorrow night"` },
  end: { usual: 1020, last: LAST, over: DAY_OVER, instead: `${AT_NIGHT} "tomorrow 9am"` },
  // Nobody who says "later today" means in five minutes.
  day: { usual: 540, last: LAST, ahead: 120, over: DAY_OVER, instead: `${AT_NIGHT} "tomorrow 9am"` },
};

export function isDayPart(word: string | undefined): word is DayPart {
  return word !== undefined && Object.hasOwn(STRETCHES, word);
}

/** Minutes after midnight. `now` is the same on the wall. Throws when that part of the day is over. */
export function stillToday(part: DayPart, now: number): number {
  const { usual, last, ahead = 0, over, instead } = STRETCHES[part];
  if (now < usual) return usual;
  const next = (from: number) => Math.floor(from / 30) * 30 + 30;
  const found = Math.min(next(now + Math.max(0, ahead - 1)), last);
  if (found > now) return found;
  throw new AppError("BAD_REQUEST", { message: over, hint: `Write for example ${instead}.` });
}
