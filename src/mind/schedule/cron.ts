/**
 * Cron on a wall clock with daylight saving changes. croner knows the calendar (lists, ranges, steps, names, last days); we ask
 * it in UTC, where the clock never changes, and treat its answers as wall times. What a clock change does to a wall time is
 * decided here, by one rule for every way of writing the hours:
 *
 * SCHEDULE-8: a pattern that names hours means times of day. Each comes once a day: when the clocks go back, the first of the
 * two; when they skip it, the moment of the jump. If several are skipped, they run once, together.
 * SCHEDULE-9: a pattern for every hour means a rhythm. It follows the wall clock: an hour that comes twice has its runs twice, a
 * skipped hour has none, so that the runs stay evenly spaced.
 */
import { Cron } from "croner";
import { firstMoment, firstTurn, offsetAt } from "./zone.ts";

const HOUR_MS = 3_600_000;
/** No clock change is larger than this: a zone that crosses the date line moves by a day. */
const LARGEST_TURN_MS = 26 * HOUR_MS;

export interface Pattern {
  /** The next wall time after this one, both as if they were UTC. */
  after(wall: number): number | undefined;
  isRhythm: boolean;
}

/** Parsing a pattern costs more than querying it, and the same few are queried again and again. */
const patterns = new Map<string, Pattern>();
const MOST_PATTERNS = 200;

/** Throws croner's error if the text isn't a pattern. */
function parsePattern(cron: string): Pattern {
  let pattern = patterns.get(cron);
  if (!pattern) {
    // Parse the whole text first, so that errors refer to what was written.
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
  // With a plus, both fields must match, so croner gets it right.
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
  // In the second pass of a repeated hour, its times have already come. New ones start after it.
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
    // After a clock change the offset differs and the wall shows other times, so the search continues just before the first of
    // them.
    if (turn !== undefined) {
      const first = pattern.after(turn + offsetAt(turn, zone) - 1000);
      if (first !== undefined && first - offsetAt(turn, zone) === turn) return turn;
      from = turn;
    } else if (at - from <= 2 * LARGEST_TURN_MS) return at;
    else from = at - LARGEST_TURN_MS;
  }
}

/** Whether the hour field matches every hour. */
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
