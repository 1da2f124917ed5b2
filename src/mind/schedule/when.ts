/**
 * When a job runs. A schedule is plain data; `nextDue` is a pure function of it and a moment.
 *
 * H1: `nextDue(s, after)` is the first due time strictly later than `after`, or nothing when there is none.
 * H2: calling it again from its own result walks all due times: none twice, none left out, over every clock change.
 */
import { AppError } from "../../core/domain/index.ts";
import { nextCron } from "./cron.ts";
import { checkZone, momentOf, type Wall, wallAt, wallWords } from "./zone.ts";

export type When =
  | { kind: "at"; at: number }
  | { kind: "every"; everyMs: number; anchor: number }
  | { kind: "cron"; cron: string; zone: string };

export function nextDue(when: When, after: number): number | undefined {
  switch (when.kind) {
    case "at":
      return when.at > after ? when.at : undefined;
    case "every": {
      const steps = Math.floor((after - when.anchor) / when.everyMs) + 1;
      return when.anchor + Math.max(steps, 0) * when.everyMs;
    }
    case "cron":
      return nextCron(when, after);
  }
}

/** The last due time not later than `until`, or nothing. */
export function lastDue(when: When, until: number): number | undefined {
  switch (when.kind) {
    case "at":
      return when.at <= until ? when.at : undefined;
    case "every": {
      const steps = Math.floor((until - when.anchor) / when.everyMs);
      return steps < 0 ? undefined : when.anchor + steps * when.everyMs;
    }
    case "cron": {
      // Walked from behind with the one function that knows the clock changes, so that both agree on every due time.
      for (let back = 60_000; back < LONGEST_GAP_MS; back *= 4) {
        let at = nextDue(when, until - back - 1);
        if (at === undefined || at > until) continue;
        for (let next = nextDue(when, at); next !== undefined && next <= until; next = nextDue(when, at)) at = next;
        return at;
      }
      return undefined;
    }
  }
}

/** A leap day comes every eight years at worst. */
const LONGEST_GAP_MS = 9 * 366 * 86_400_000;

/** Anything more often than this is a loop, not a schedule. */
const SHORTEST_EVERY_MS = 1000;
/** An `at` this little in the past is "now": the words took a moment to arrive. */
const PAST_GRACE_MS = 60_000;
/** Nobody plans for later than this; it is a slip, or seconds where milliseconds were meant. */
const FARTHEST_MS = 100 * 366 * 86_400_000;

/** Reads what a person or a model wrote. Throws with the reason and a valid example. */
export function parseWhen(
  given: {
    at?: string | number;
    in?: string;
    every?: string | number;
    cron?: string;
    zone?: string;
    anchor?: string | number;
  },
  now: number,
  zone: string,
): When {
  const named = (["at", "in", "every", "cron"] as const).filter((key) => given[key] !== undefined);
  if (named.length !== 1) {
    throw wrong(
      named.length ? `Only one of ${named.join(", ")} can be given.` : "No time is given.",
      'Give one of at: "tomorrow 9am", in: "30 minutes", every: "2 hours", cron: "0 7 * * 1-5".',
    );
  }
  const tz = given.zone ?? zone;
  checkZone(tz);
  if (given.anchor !== undefined && given.every === undefined) {
    throw wrong("An anchor goes with every.", 'For example every: "2 hours", anchor: "07:00".');
  }
  if (given.cron !== undefined) return parseCron(given.cron, tz, now);
  if (given.every !== undefined) {
    const everyMs = typeof given.every === "number" ? given.every : rhythm(given.every);
    if (everyMs < SHORTEST_EVERY_MS)
      throw wrong(`"${given.every}" is too often.`, 'Use at least "1 second", e.g. "5 minutes".');
    if (everyMs > FARTHEST_MS) throw wrong(`"${given.every}" is too seldom.`, 'For example "2 hours" or "30 days".');
    return {
      kind: "every",
      everyMs,
      anchor: given.anchor === undefined ? now : pastAnchor(given.anchor, everyMs, now, tz),
    };
  }
  const at = given.in !== undefined ? now + duration(given.in.replace(/^in\s+/i, "")) : moment(given.at!, now, tz);
  if (at < now - PAST_GRACE_MS) {
    throw wrong(`${wallWords(at, tz)} (${tz}) is in the past.`, 'Give a time to come, e.g. "in 30 minutes".');
  }
  if (at > now + FARTHEST_MS) throw wrong(`"${given.in ?? given.at}" is too far away.`, EXAMPLES);
  return { kind: "at", at: Math.max(at, now) };
}

/** "2 hours", "every 2 hours", "day". */
function rhythm(text: string): number {
  const bare = text.trim().replace(/^every\s+/i, "");
  return UNITS[bare.toLowerCase()] ?? duration(bare);
}

/** An anchor says where on the clock the rhythm lies, not when it begins: "07:15" said at eight is not tomorrow. */
function pastAnchor(given: string | number, everyMs: number, now: number, zone: string): number {
  const at = moment(given, now, zone);
  return at <= now ? at : at - Math.ceil((at - now) / everyMs) * everyMs;
}

function parseCron(cron: string, zone: string, now: number): When {
  try {
    const next = nextCron({ cron, zone }, now);
    if (next !== undefined) return { kind: "cron", cron, zone };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /, "").replace(/\.$/, "") : String(cause);
    throw wrong(`"${cron}" is no cron expression: ${why}.`, 'Five fields, e.g. "0 7 * * 1-5" for weekdays at 7.');
  }
  throw wrong(`"${cron}" never comes.`, 'Five fields, e.g. "0 7 * * 1-5" for weekdays at 7.');
}

const UNITS: Record<string, number> = {
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};

/** "30 minutes", "1h 30m", "an hour", "2.5 hours". */
export function duration(text: string): number {
  const words = text
    .trim()
    .toLowerCase()
    .replace(/\band\b/g, " ")
    .replace(/\b(an?|one)\s+/g, "1 ");
  const whole = words.replace(/(\d+(?:\.\d+)?)\s*([a-z]+)/g, "").trim();
  let ms = 0;
  for (const [, count, unit] of words.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    // A plural needs a word before its s: "ms" is not "m".
    const size = UNITS[unit!] ?? (unit!.length > 2 ? UNITS[unit!.replace(/s$/, "")] : undefined);
    if (!size) throw wrong(`"${text}" is no length of time.`, 'Write e.g. "30 minutes" or "1h 30m".');
    ms += Number(count) * size;
  }
  if (whole || ms <= 0) throw wrong(`"${text}" is no length of time.`, 'Write e.g. "30 minutes" or "1h 30m".');
  return ms;
}

const EXAMPLES = 'Write e.g. "tomorrow 9am", "18:30" or 2027-01-31T09:00.';

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** ISO, epoch, "in 30 minutes", "tomorrow 9am", "monday 18:30", "18:30", in the person's zone. */
export function moment(given: string | number, now: number, zone: string): number {
  if (typeof given === "number" || /^\d{9,13}$/.test(given)) {
    const n = Number(given);
    // Seconds until the year 2286 have at most ten digits.
    const at = n < 1e11 ? n * 1000 : n;
    if (Number.isFinite(at) && Math.abs(at) <= LATEST) return at;
    throw wrong(`${given} is no time.`, EXAMPLES);
  }
  const text = given.trim().toLowerCase();
  if (text.startsWith("in ")) return now + duration(text.slice(3));
  const iso = /^(\d{4})-(\d{2})-(\d{2})(?:[t ](\d{2}):(\d{2})(?::(\d{2}))?)?(\.\d+)?(z|[+-]\d{2}:?\d{2})?$/.exec(text);
  if (iso) {
    const [year, month, day, hour, minute, second] = iso.slice(1, 7).map((n) => Number(n ?? 0));
    const wall = { year: year!, month: month!, day: day!, hour: hour!, minute: minute!, second: second! };
    const at = iso[8] ? Date.parse(text.replace(" ", "t").toUpperCase()) : momentOf(wall, zone);
    // The 31st of February is no day: read as the 3rd of March it would come as a surprise.
    if (isOnCalendar(wall) && !Number.isNaN(at)) return at;
    throw wrong(`"${given}" is no time.`, EXAMPLES);
  }
  const match =
    /^(?:(?:next|on)\s+(?=[a-z]+day))?(?:(today|tomorrow|tonight|[a-z]+day)\s*(?:at\s+)?)?(?:at\s+)?(?:(\d{1,2})(?::(\d{2}))?\s*(am|pm)?|noon|midnight)?$/.exec(
      text,
    );
  if (!match || !text) throw wrong(`"${given}" is no time.`, EXAMPLES);
  return spoken(given, text, match, now, zone);
}

/** The last moment a Date can hold. */
const LATEST = 8.64e15;

function isOnCalendar({ year, month, day, hour, minute, second }: Wall): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
}

function spoken(given: string, text: string, match: RegExpExecArray, now: number, zone: string): number {
  const [, dayWord, hourText, minuteText, half] = match;
  let hour = text.includes("noon") ? 12 : text.includes("midnight") ? 0 : hourText ? Number(hourText) : undefined;
  hour ??= dayWord === "tonight" ? 20 : 9;
  if (half === "pm" && hour < 12) hour += 12;
  if (half === "am" && hour === 12) hour = 0;
  const minute = Number(minuteText ?? 0);
  if (hour > 23 || minute > 59) throw wrong(`"${given}" is no time.`, 'Write e.g. "9am" or "18:30".');
  const today = wallAt(now, zone);
  let days = dayWord === "tomorrow" ? 1 : 0;
  const weekday = dayWord ? WEEKDAYS.indexOf(dayWord) : -1;
  if (dayWord?.endsWith("day") && weekday < 0 && dayWord !== "today") {
    throw wrong(`"${dayWord}" is no day.`, 'Write e.g. "monday 9am".');
  }
  if (weekday >= 0) {
    const from = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
    days = (weekday - from + 7) % 7;
  }
  const on = (ahead: number) => {
    const date = new Date(Date.UTC(today.year, today.month - 1, today.day + ahead));
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
    return momentOf({ year, month, day, hour, minute, second: 0 }, zone);
  };
  const at = on(days);
  if (at > now || (dayWord && weekday < 0)) return at;
  // "9am" said at ten, or "monday" said on a monday evening: the next one is meant.
  return on(days + (weekday >= 0 ? 7 : 1));
}

/** A schedule as it can be given again: an ISO time, a length of time, or cron's fields. */
export function asGiven(when: When): string {
  if (when.kind === "cron") return when.cron;
  return when.kind === "at" ? new Date(when.at).toISOString() : span(when.everyMs).replace(/^([a-z])/, "1 $1");
}

/** A schedule in words a person reads. */
export function inWords(when: When, zone: string): string {
  switch (when.kind) {
    case "at":
      return `once at ${new Date(when.at).toLocaleString("en-GB", { timeZone: zone, dateStyle: "medium", timeStyle: "short" })}`;
    case "every":
      return `every ${span(when.everyMs)}`;
    case "cron":
      return `${cronWords(when.cron) ?? when.cron}, ${cityOf(when.zone)}`;
  }
}

const DAY_NAMES = ["Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays"];

/** What people mostly write, as a sentence; nothing for the rest, which is shown as it is. */
function cronWords(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  const [minute, hour, date, month, day] = fields as [string, string, string, string, string];
  if (fields.length !== 5 || month !== "*") return undefined;
  const isNumber = (text: string) => /^\d{1,2}$/.test(text);
  if (date === "*" && day === "*") {
    const often = /^(?:\*|0)\/(\d+)$/.exec(minute)?.[1];
    if (often && hour === "*") return `every ${often} minutes`;
    const hours = /^(?:\*|0)\/(\d+)$/.exec(hour)?.[1];
    if (hours && minute === "0") return `every ${hours} hours`;
    if (hour === "*" && isNumber(minute))
      return minute === "0" ? "every hour" : `every hour at :${minute.padStart(2, "0")}`;
  }
  const at = hour
    .split(",")
    .map((h) => `${h.padStart(2, "0")}:${minute.padStart(2, "0")}`)
    .join(" and ");
  if (!isNumber(minute) || !hour.split(",").every(isNumber)) return undefined;
  if (date !== "*") return isNumber(date) && day === "*" ? `on day ${date} of every month ${at}` : undefined;
  const days = daysOf(day);
  return days && `${days} ${at}`;
}

function daysOf(field: string): string | undefined {
  const text = field
    .toLowerCase()
    .replace(/sun|mon|tue|wed|thu|fri|sat/g, (d) => String(WEEKDAYS.findIndex((w) => w.startsWith(d))));
  if (text === "*") return "every day";
  if (text === "1-5") return "weekdays";
  if (["0,6", "6,0", "6,7", "6-7"].includes(text)) return "weekends";
  if (!/^[0-7](,[0-7])*$/.test(text)) return undefined;
  return text
    .split(",")
    .map((n) => DAY_NAMES[Number(n) % 7])
    .join(" and ");
}

/** "Europe/Lisbon" is Lisbon to those who live there. */
function cityOf(zone: string): string {
  return zone.split("/").at(-1)!.replaceAll("_", " ");
}

/** A schedule as it would be, in words. Throws as `parseWhen` does. */
export function previewWhen(given: Parameters<typeof parseWhen>[0], now: number, zone: string): string {
  return inWords(parseWhen(given, now, zone), zone);
}

function span(ms: number): string {
  for (const [unit, size] of [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000],
  ] as const) {
    if (ms % size === 0) return ms === size ? unit : `${ms / size} ${unit}s`;
  }
  return `${ms} ms`;
}

function wrong(message: string, hint: string): AppError {
  return new AppError("BAD_REQUEST", { message, hint });
}
