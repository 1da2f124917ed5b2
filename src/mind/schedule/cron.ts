/**
 * Cron on a wall clock that jumps. croner knows the calendar (lists, ranges, steps, names, last days); it is asked in UTC,
 * where no clock ever changes, and its answers are wall times. What a clock change does to a wall time is decided here, by one
 * rule for every way of writing the hours:
 *
 * SCHEDULE-8: a pattern that names hours means times of day. Each comes once a day: when the clocks go back, the first of the two; when
 *     they jump over it, the moment of the jump. Several that are jumped over come together, once.
 * SCHEDULE-9: a pattern for every hour means a rhythm. It follows the clock on the wall: an hour that comes twice has its runs twice,
 *     one that is left out has none, so that the runs stay evenly apart.
 */
import { Cron } from "croner";
import { firstMoment, firstTurn, offsetAt } from "./zone.ts";

const HOUR_MS = 3_600_000;
/** No clock is ever changed by more than this: a zone that changes sides of the date line moves a day. */
const LARGEST_TURN_MS = 26 * HOUR_MS;

export interface Pattern {
  /** The next wall time after this one, both as if they were UTC. */
  after(wall: number): number | undefined;
  isRhythm: boolean;
}

/** Reading a pattern costs more than asking it; the same few are asked again and again. */
const patterns = new Map<string, Pattern>();
const MOST_PATTERNS = 200;

/** Throws what croner says about a text that is no pattern. */
export function parsePattern(cron: string): Pattern {
  let pattern = patterns.get(cron);
  if (!pattern) {
    // Read whole first: what is wrong with it is said about what was written.
    const whole = makeCalendar(cron);
    const [dates, weekdays] = apart(cron) ?? [];
    const calendars = dates && weekdays ? [makeCalendar(dates), makeCalendar(weekdays)] : [whole];
    const after = (wall: number) => {
      const found = calendars.flatMap((one) => one.nextRun(new Date(wall))?.getTime() ?? []);
      return found.length ? Math.min(...found) : undefined;
    };
    pattern = { after, isRhythm: isEveryHour(cron) };
    if (patterns.size >= MOST_PATTERNS) patterns.clear();
    patterns.set(cron, pattern);
  }
  return pattern;
}

function makeCalendar(cron: string): Cron {
  return new Cron(cron, { utcOffset: 0, mode: "5-or-6-parts" });
}

/**
 * "The 1st, or a Sunday" as two patterns. Asked for both at once, croner counts the weekdays of February to its 31st, and so takes
 * the 2nd of March for the next day although the 1st comes before it.
 */
function apart(cron: string): [dates: string, weekdays: string] | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length < 5) return undefined;
  const [date, month, weekday] = fields.slice(-3) as [string, string, string];
  const isAny = (field: string) => field === "*" || field === "?";
  // With a plus, both must hold, and nothing is left out.
  if (isAny(date) || isAny(weekday) || weekday.startsWith("+")) return undefined;
  const time = fields.slice(0, -3).join(" ");
  return [`${time} ${date} ${month} *`, `${time} * ${month} ${weekday}`];
}

/** The first moment later than `after` that the pattern means in this zone. */
export function nextCron({ cron, zone }: { cron: string; zone: string }, after: number): number | undefined {
  const pattern = parsePattern(cron);
  return pattern.isRhythm ? nextInRhythm(pattern, zone, after) : nextTimeOfDay(pattern, zone, after);
}

function nextTimeOfDay(pattern: Pattern, zone: string, after: number): number | undefined {
  // In the second pass of an hour that comes twice, what it shows has been. What is new begins with its end.
  const began = firstTurn(after - LARGEST_TURN_MS, after, zone);
  const highest = began === undefined ? 0 : began - 1 + offsetAt(began - 1, zone);
  for (let wall = pattern.after(Math.max(after + offsetAt(after, zone), highest)); wall !== undefined; ) {
    const at = firstMoment(wall, zone);
    if (at > after) return at;
    wall = pattern.after(wall);
  }
  return undefined;
}

function nextInRhythm(pattern: Pattern, zone: string, after: number): number | undefined {
  for (let from = after; ; ) {
    const offset = offsetAt(from, zone);
    const wall = pattern.after(from + offset);
    if (wall === undefined) return undefined;
    const at = wall - offset;
    const turn = firstTurn(from, Math.min(at, from + 2 * LARGEST_TURN_MS), zone);
    // From a clock change on another offset holds, and the wall shows other times: the search goes on just before its first.
    if (turn !== undefined) {
      const first = pattern.after(turn + offsetAt(turn, zone) - 1000);
      if (first !== undefined && first - offsetAt(turn, zone) === turn) return turn;
      from = turn;
    } else if (at - from <= 2 * LARGEST_TURN_MS) return at;
    else from = at - LARGEST_TURN_MS;
  }
}

/** Whether the field of the hours leaves none out. */
function isEveryHour(cron: string): boolean {
  const text = cron.trim().toLowerCase();
  if (text.startsWith("@")) return text === "@hourly";
  const fields = text.split(/\s+/);
  const hours = new Set<number>();
  for (const part of (fields.at(-4) ?? "").split(",")) {
    const [range = "", step = "1"] = part.split("/");
    const [from, to] = range === "*" || range === "?" ? [0, 23] : bounds(range);
    for (let hour = from; hour <= to; hour += Math.max(1, Number(step) || 1)) hours.add(hour);
  }
  return hours.size === 24;
}

function bounds(range: string): [number, number] {
  const [from = "", to = from] = range.split("-");
  return [Number(from), Math.min(Number(to), 23)];
}
