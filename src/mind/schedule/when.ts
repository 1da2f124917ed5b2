/**
 * When a job runs. A schedule is plain data; `nextDue` is a pure function of it and a moment.
 *
 * SCHEDULE-10: `nextDue(s, after)` is the first due time strictly later than `after`, or nothing when there is none.
 * SCHEDULE-11: calling it again from its own result walks all due times: none twice, none left out, over every clock change.
 */
import { AppError, assertNever } from "../../core/domain/index.ts";
import { nextCron } from "./cron.ts";
import { moment } from "./times/moments.ts";
import { isRepeat, readRepeat } from "./times/repeats.ts";
import { checkZone, firstMoment, offsetAt, wallAt, wallWords } from "./zone.ts";

export type When =
  | { kind: "at"; at: number }
  /**
   * From `anchor` on. With a zone it counts days on the wall there, or months when it says so, and keeps the time of day; without
   * one it counts the time that passes.
   */
  | { kind: "every"; everyMs: number; anchor: number; zone?: string; months?: number }
  | { kind: "cron"; cron: string; zone: string };

type Every = Extract<When, { kind: "every" }>;

export function nextDue(when: When, after: number): number | undefined {
  switch (when.kind) {
    case "at":
      return when.at > after ? when.at : undefined;
    case "every":
      return stepAt(when, stepsUntil(when, after));
    case "cron":
      return nextCron(when, after);
    default:
      return assertNever(when);
  }
}

/** The last due time not later than `until`, or nothing. */
export function lastDue(when: When, until: number): number | undefined {
  switch (when.kind) {
    case "at":
      return when.at <= until ? when.at : undefined;
    case "every": {
      const steps = stepsUntil(when, until);
      return steps === 0 ? undefined : stepAt(when, steps - 1);
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
    default:
      return assertNever(when);
  }
}

/** The moment of the n-th step. Steps on the calendar keep the time of day; a date that a month lacks is its last day. */
function stepAt({ everyMs, anchor, zone, months }: Every, n: number): number {
  if (zone === undefined) return anchor + n * everyMs;
  const wall = anchor + offsetAt(anchor, zone);
  if (!months) return firstMoment(wall + n * everyMs, zone);
  const from = new Date(wall);
  const first = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + n * months, 1);
  const days = new Date(first);
  const last = new Date(Date.UTC(days.getUTCFullYear(), days.getUTCMonth() + 1, 0)).getUTCDate();
  return firstMoment(first + (Math.min(from.getUTCDate(), last) - 1) * DAY_MS + (wall % DAY_MS), zone);
}

/** How many steps have come by then: the first that has not is the next. */
function stepsUntil(when: Every, until: number): number {
  const { everyMs, anchor, zone, months } = when;
  if (until < anchor) return 0;
  // Never too many: the longest month, and a day for a clock change.
  const longest = months ? months * 31 * DAY_MS : everyMs;
  let steps = Math.max(0, Math.floor((until - anchor - (zone ? DAY_MS : 0)) / longest));
  while (stepAt(when, steps) <= until) steps++;
  return steps;
}

const DAY_MS = 86_400_000;

/** A leap day comes every eight years at worst. */
const LONGEST_GAP_MS = 9 * 366 * 86_400_000;

/** Anything more often than this is a loop, not a schedule. */
const SHORTEST_EVERY_MS = 1000;
/** An `at` this little in the past is "now": the words took a moment to arrive. */
export const PAST_GRACE_MS = 60_000;
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
    throw wrong("An anchor only works together with every.", 'For example every: "2 hours", anchor: "07:00".');
  }
  if (given.cron !== undefined) return parseCron(given.cron, tz, now);
  if (given.every !== undefined) return parseEvery(given.every, given.anchor, now, tz);
  // "every monday 9am" is no moment, wherever it is written.
  if (typeof given.at === "string" && isRepeat(given.at)) return parseEvery(given.at, undefined, now, tz);
  const at = moment(given.in === undefined ? given.at! : `in ${given.in.replace(/^\s*in\s/i, "")}`, now, tz);
  if (at < now - PAST_GRACE_MS) {
    throw wrong(
      `${wallWords(at, tz)} (${tz}) is in the past.`,
      'Give a time to come, e.g. "in 30 minutes" or "tomorrow 9am".',
    );
  }
  if (at > now + FARTHEST_MS) {
    throw wrong(`"${given.in ?? given.at}" is too far away.`, 'For example "tomorrow 9am" or "in 30 days".');
  }
  return { kind: "at", at: Math.max(at, now) };
}

function parseEvery(every: string | number, from: string | number | undefined, now: number, zone: string): When {
  const found = typeof every === "number" ? { span: { ms: every, days: 0, months: 0 } } : readRepeat(every, now, zone);
  if ("cron" in found) {
    if (from !== undefined) throw wrong(`"${every}" already says when.`, "Leave the anchor out.");
    return parseCron(found.cron, zone, now);
  }
  const { ms, days, months } = found.span;
  if (months && (days || ms)) throw wrong(`"${every}" mixes months with days.`, 'For example "3 months" or "45 days".');
  const everyMs = months ? months * MONTH_MS : ms + days * DAY_MS;
  if (everyMs < SHORTEST_EVERY_MS) {
    throw wrong(`"${every}" is too often.`, 'Use at least "1 second", e.g. "5 minutes".');
  }
  if (everyMs > FARTHEST_MS) throw wrong(`"${every}" is too infrequent.`, 'For example "2 hours" or "30 days".');
  const byDay = days && !ms ? { zone } : {};
  const onCalendar = months ? { zone, months } : byDay;
  const when: Every = { kind: "every", everyMs, anchor: now, ...onCalendar };
  if (from !== undefined) return { ...when, anchor: pastAnchor(when, moment(from, now, zone), now) };
  return found.anchor === undefined ? when : { ...when, anchor: found.anchor };
}

/** An anchor says where on the clock the rhythm lies, not when it begins: "07:15" said at eight is not tomorrow. */
function pastAnchor(when: Every, at: number, now: number): number {
  if (at <= now) return at;
  const back = Math.ceil((at - now) / when.everyMs);
  return stepAt({ ...when, anchor: at }, -back);
}

/** What a month is taken for where a length is needed; its steps go by the calendar. */
const MONTH_MS = 30 * DAY_MS;

/** When something that is to come "every …" comes next after `from`. Throws for what is no such thing. */
export function comesAgain(every: string, from: number, zone: string): number {
  return nextDue(parseEvery(every, undefined, from, zone), from) ?? Number.POSITIVE_INFINITY;
}

/**
 * The same time with nothing left that depends on when it is read: "in 10 minutes" becomes a moment, a rhythm gets its anchor.
 * What is shown to a person is then what will be made, however long the answer takes. Throws as `parseWhen` does.
 */
export function settled(
  given: Parameters<typeof parseWhen>[0],
  now: number,
  zone: string,
): { at: string } | { every: string; anchor: string; zone: string } | { cron: string; zone: string } {
  const when = parseWhen(given, now, zone);
  const tz = given.zone ?? zone;
  if (when.kind === "cron") return { cron: when.cron, zone: when.zone };
  if (when.kind === "at") return { at: new Date(when.at).toISOString() };
  return { every: asGiven(when), anchor: new Date(when.anchor).toISOString(), zone: tz };
}

function parseCron(cron: string, zone: string, now: number): When {
  try {
    const next = nextCron({ cron, zone }, now);
    if (next !== undefined) return { kind: "cron", cron, zone };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /, "").replace(/\.$/, "") : String(cause);
    throw wrong(`"${cron}" isn't a cron expression: ${why}.`, 'Five fields, e.g. "0 7 * * 1-5" for weekdays at 7.');
  }
  throw wrong(`"${cron}" never comes.`, 'Five fields, e.g. "0 7 * * 1-5" for weekdays at 7.');
}

/** A schedule as it can be given again: an ISO time, a length of time, or cron's fields. */
export function asGiven(when: When): string {
  if (when.kind === "cron") return when.cron;
  return when.kind === "at" ? new Date(when.at).toISOString() : rhythm(when).replace(/^([a-z])/, "1 $1");
}

/** A schedule in words a person reads. */
export function inWords(when: When, zone: string): string {
  switch (when.kind) {
    case "at":
      return `once, ${momentWords(when.at, zone)}`;
    case "every":
      return `every ${rhythm(when)}${when.zone ? ` at ${wallWords(when.anchor, when.zone).slice(11)}, ${readCity(when.zone)}` : ""}`;
    case "cron":
      return `${cronWords(when.cron) ?? when.cron}, ${readCity(when.zone)}`;
    default:
      return assertNever(when);
  }
}

/** A moment nobody can misread: "Mon 16 Nov 2026, 09:00 (Europe/Berlin)". */
export function momentWords(at: number, zone: string): string {
  const { year, month, day } = wallAt(at, zone);
  const date = new Date(Date.UTC(year, month - 1, day)).toUTCString();
  return `${date.slice(0, 3)} ${day} ${date.slice(8, 11)} ${year}, ${wallWords(at, zone).slice(11)} (${zone})`;
}

const SHORT_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
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
  const days = describeDays(day);
  return days && `${days} ${at}`;
}

function describeDays(field: string): string | undefined {
  const text = field.toLowerCase().replace(/sun|mon|tue|wed|thu|fri|sat/g, (d) => String(SHORT_DAYS.indexOf(d)));
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
function readCity(zone: string): string {
  return zone.split("/").at(-1)!.replaceAll("_", " ");
}

function rhythm({ everyMs, months, zone }: Every): string {
  if (months) return months % 12 ? many(months, "month") : many(months / 12, "year");
  // 24 hours that pass are not a day on the wall.
  if (!zone && everyMs % DAY_MS === 0) return many(everyMs / 3_600_000, "hour");
  return span(everyMs);
}

function many(count: number, unit: string): string {
  return count === 1 ? unit : `${count} ${unit}s`;
}

function span(ms: number): string {
  for (const [unit, size] of [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000],
  ] as const) {
    if (ms % size === 0) return many(ms / size, unit);
  }
  return `${ms} ms`;
}

function wrong(message: string, hint: string): AppError {
  return new AppError("BAD_REQUEST", { message, hint });
}
