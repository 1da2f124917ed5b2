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
      message: `"${zone}" is no time zone.`,
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
export function momentOf(wall: Wall, zone: string): number {
  const asUtc = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
  const candidates = [asUtc - offsetAt(asUtc - 86_400_000, zone), asUtc - offsetAt(asUtc + 86_400_000, zone)];
  const exact = candidates.filter((time) => utcOf(wallAt(time, zone)) === asUtc);
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
export function minutesOfDay(time: number, zone: string): number {
  const { hour, minute } = wallAt(time, zone);
  return hour * 60 + minute;
}

function offsetAt(time: number, zone: string): number {
  return utcOf(wallAt(time, zone)) - Math.floor(time / 1000) * 1000;
}

function utcOf(w: Wall): number {
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
    if (formats.size > 100) formats.clear();
    formats.set(zone, format);
  }
  return format;
}
