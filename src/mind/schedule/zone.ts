/** Wall-clock arithmetic in a named time zone, with Intl only. Pure. */
import { AppError } from "../../core/domain/index.ts";

export interface Wall {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

export function checkZone(zone: string): void {
  try {
    formatFor(zone);
  } catch (cause) {
    throw new AppError("BAD_REQUEST", {
      message: `"${zone}" isn't a time zone.`,
      hint: "Use a name such as Europe/Lisbon, America/New_York or UTC.",
      cause,
    });
  }
}

export function wallAt(time: number, zone: string): Wall {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatFor(zone).formatToParts(time)) parts[type] = Number(value);
  return {
    year: parts.year!,
    month: parts.month!,
    day: parts.day!,
    // Midnight is written 24 by some versions of Intl.
    hour: parts.hour! % 24,
    minute: parts.minute!,
    second: parts.second!,
  };
}

/** The moment a wall clock shows this. In a spring gap it is the moment after the gap; in an autumn overlap the first one. */
export function toMoment(wall: Wall, zone: string): number {
  const asUtc = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
  const candidates = [asUtc - offsetAt(asUtc - 86_400_000, zone), asUtc - offsetAt(asUtc + 86_400_000, zone)];
  const exact = candidates.filter((time) => toUtc(wallAt(time, zone)) === asUtc);
  if (exact.length) return Math.min(...exact);
  // No clock ever shows it: the clocks jumped over it. The later reading is just after the jump.
  return Math.max(...candidates);
}

/** "2026-11-15 07:00", with seconds where there are some. */
export function wallWords(time: number, zone: string): string {
  const w = wallAt(time, zone);
  const two = (n: number) => String(n).padStart(2, "0");
  const seconds = w.second ? `:${two(w.second)}` : "";
  return `${w.year}-${two(w.month)}-${two(w.day)} ${two(w.hour)}:${two(w.minute)}${seconds}`;
}

/** Minutes since midnight on the wall there. */
export function countMinutes(time: number, zone: string): number {
  const { hour, minute } = wallAt(time, zone);
  return hour * 60 + minute;
}

/** How far the wall clock there is ahead of UTC. Kept for each quarter of an hour: since 1972 no clock has changed between two. */
export function offsetAt(time: number, zone: string): number {
  const quarter = Math.floor(time / QUARTER_MS);
  let known = offsets.get(zone);
  if (!known) {
    if (offsets.size > MOST_ZONES) offsets.clear();
    known = new Map();
    offsets.set(zone, known);
  }
  let offset = known.get(quarter);
  if (offset === undefined) {
    offset = toUtc(wallAt(quarter * QUARTER_MS, zone)) - quarter * QUARTER_MS;
    if (known.size >= MOST_OFFSETS) known.clear();
    known.set(quarter, offset);
  }
  return offset;
}

const offsets = new Map<string, Map<number, number>>();
const QUARTER_MS = 900_000;
const MOST_ZONES = 100;
/** Ten days of one zone, in a few kilobytes. */
const MOST_OFFSETS = 1000;

/** The first moment after `from`, up to `to`, at which the clocks there change; a few days at most, or changes hide each other. */
export function firstTurn(from: number, to: number, zone: string): number | undefined {
  const before = offsetAt(from, zone);
  if (to <= from || offsetAt(to, zone) === before) return undefined;
  let low = Math.floor(from / QUARTER_MS);
  let high = Math.ceil(to / QUARTER_MS);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * QUARTER_MS, zone) === before) low = middle;
    else high = middle;
  }
  return high * QUARTER_MS;
}

/** The first moment a wall clock shows this time (given as if it were UTC) or, when the clocks jump over it, the jump itself. */
export function firstMoment(wall: number, zone: string): number {
  const early = wall - offsetAt(wall - TURN_MS, zone);
  const late = wall - offsetAt(wall + TURN_MS, zone);
  const exact = [early, late].filter((time) => time + offsetAt(time, zone) === wall);
  if (exact.length) return Math.min(...exact);
  return firstTurn(Math.min(early, late) - 1, Math.max(early, late), zone) ?? Math.max(early, late);
}

/** Long enough to be on the other side of a clock change, whatever the offset. */
const TURN_MS = 86_400_000;

function toUtc(w: Wall): number {
  return Date.UTC(w.year, w.month - 1, w.day, w.hour, w.minute, w.second);
}

function formatFor(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      hourCycle: "h23",
    });
    if (formats.size > MOST_ZONES) formats.clear();
    formats.set(zone, format);
  }
  return format;
}
