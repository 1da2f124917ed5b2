/** Numbers and times as people read them: 0.2 s, 12 min, 3 d 4 h, 16.6k tokens, $0.013. */
import { readPerson } from "../../../src/core/protocol/keys.ts";
import { w } from "./words.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const locale = "en-GB";

export function duration(ms: number): string {
  if (ms < 0) ms = 0;
  if (ms > 0 && ms < 95) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / 1000)} s`;
  if (ms < HOUR) {
    const s = Math.floor((ms % MINUTE) / 1000);
    return ms < 10 * MINUTE && s ? `${Math.floor(ms / MINUTE)} min ${s} s` : `${Math.floor(ms / MINUTE)} min`;
  }
  if (ms < DAY) {
    const m = Math.floor((ms % HOUR) / MINUTE);
    return m ? `${Math.floor(ms / HOUR)} h ${m} min` : `${Math.floor(ms / HOUR)} h`;
  }
  const h = Math.floor((ms % DAY) / HOUR);
  return h ? `${Math.floor(ms / DAY)} d ${h} h` : `${Math.floor(ms / DAY)} d`;
}

/** What is known of a sum, and for how many calls it is not known. */
export function spent(sum: { cost: number | null; unknownPrice: number }): string {
  return sum.cost !== null && sum.unknownPrice > 0 ? w.unknownFor(money(sum.cost), sum.unknownPrice) : money(sum.cost);
}

/** Unknown is never $0.00. */
export function money(cost: number | null | undefined): string {
  if (cost === null || cost === undefined) return w.unknownPrice;
  if (cost === 0) return "$0.00";
  if (cost < 0.0001) return "< $0.0001";
  return cost < 0.1 ? `$${Number(cost.toPrecision(2))}` : `$${cost.toFixed(2)}`;
}

export function count(n: number): string {
  if (n < 1000) return String(n);
  if (n < 99_950) return `${(n / 1000).toFixed(1)}k`;
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${(n / 1e6).toFixed(1)}M`;
}

export const whole = (n: number): string => n.toLocaleString(locale);

const hm = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const hms = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayMonth = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const dayYear = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "long" });

export const clock = (at: number): string => hm.format(at);
export const clockSeconds = (at: number): string => hms.format(at);
/** The absolute time with its zone, for titles. */
export const absolute = (at: number): string => full.format(at);

export function daysAgo(at: number, now = Date.now()): number {
  return Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / DAY);
}

/** 14:02 today, 3 Nov before, with the year when it is another. */
export function short(at: number): string {
  const ago = daysAgo(at);
  if (ago === 0) return clock(at);
  return new Date(at).getFullYear() === new Date().getFullYear() ? dayMonth.format(at) : dayYear.format(at);
}

/** "today", "yesterday", "3 Nov" */
export function day(at: number, now = Date.now()): string {
  const ago = daysAgo(at, now);
  return (ago < 0 ? undefined : w.days[ago]) ?? short(at);
}

/** The heading under which something of that day stands in a list. */
export function dayGroup(at: number, now: number): string {
  const ago = daysAgo(at, now);
  if (ago <= 0) return w.today;
  if (ago === 1) return w.yesterday;
  return ago < 7 ? w.thisWeek : w.older;
}

/** "today 14:02", "tomorrow 14:02", "3 Nov 14:02" */
export function when(at: number): string {
  return `${w.days[daysAgo(at)] ?? short(at)} ${clock(at)}`;
}

/** "in 27 min"; minutes are fine enough for what is to come. */
export function until(at: number, now = Date.now()): string {
  const left = at - now;
  if (left <= 0) return w.schedule.now;
  return w.schedule.in(duration(left < 60_000 ? left : Math.floor(left / 60_000) * 60_000));
}

export function bytes(n: number): string {
  if (n < 1000) return w.bytes(n);
  return n < 1e6 ? `${Math.round(n / 1000)} kB` : `${(n / 1e6).toFixed(0)} MB`;
}

/** A person or caller id as words: "web:owner" is the owner on the page. */
export function personName(id: string | undefined): string {
  return id ? readPerson(id).id : "";
}
export function channelName(id: string | undefined): string {
  const { channel = "" } = readPerson(id ?? "");
  return { ws: "page", http: "HTTP" }[channel] ?? channel;
}
