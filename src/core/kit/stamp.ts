/** A moment as a clock on the wall there shows it. */

export interface Stamp {
  /** `Sun` */
  weekday: string;
  /** `2026-11-15` */
  date: string;
  /** `13:09` */
  time: string;
  /** `+02:00` */
  offset: string;
}

const DAY_MS = 86_400_000;

/** From when to when it is that day (`2026-11-15`) there; clock changes make some days longer or shorter. */
export function dayIn(zone: string, date: string): { from: number; to: number } {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return { from: startOfDay(zone, midnight), to: startOfDay(zone, midnight + DAY_MS) };
}

/** `midnight`: as if the day began there when it does in Greenwich. */
function startOfDay(zone: string, midnight: number): number {
  const near = midnight - offsetMs(zone, midnight);
  // The clock may have changed between the two guesses.
  return midnight - offsetMs(zone, near);
}

function offsetMs(zone: string, at: number): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)/.exec(stampIn(zone, at).offset)!;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** People have few zones; the bound guards against names that come from outside. */
const MOST_ZONES = 100;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Per zone, the minute that was asked for last: a turn asks for the same one several times, and formatting it is not cheap. */
const recent = new Map<string, { minute: number; stamp: Stamp }>();
const MINUTE_MS = 60_000;
/** Before 1973 some zones were off by seconds, so that a minute there is not a minute here. */
const WHOLE_MINUTES = Date.UTC(1973, 0);

/** The zone that `Date` itself shows. Making the first formatter of a process takes 13 ms; reading a `Date` takes none. */
let local: string | undefined;

/** Says that the clock of this process runs in that zone, so that stamps there are read from it. */
export function showsLocally(zone: string | undefined): void {
  local = zone;
}

export function stampIn(zone: string, at: number): Readonly<Stamp> {
  const minute = Math.floor(at / MINUTE_MS);
  const known = recent.get(zone);
  if (known?.minute === minute && at >= WHOLE_MINUTES) return known.stamp;
  const stamp = zone === local && at >= WHOLE_MINUTES ? readLocal(new Date(at)) : format(zone, at);
  if (recent.size >= MOST_ZONES) recent.clear();
  recent.set(zone, { minute, stamp });
  return stamp;
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

function readLocal(date: Date): Stamp {
  const two = (count: number) => String(count).padStart(2, "0");
  const ahead = -date.getTimezoneOffset();
  return {
    weekday: WEEKDAYS[date.getDay()]!,
    date: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    time: `${two(date.getHours())}:${two(date.getMinutes())}`,
    offset: `${ahead < 0 ? "-" : "+"}${two(Math.floor(Math.abs(ahead) / 60))}:${two(Math.abs(ahead) % 60)}`,
  };
}

function format(zone: string, at: number): Stamp {
  const parts: Record<string, string> = {};
  for (const { type, value } of formatFor(zone).formatToParts(at)) parts[type] = value;
  const { weekday = "", year = "", month = "", day = "", hour = "", minute = "", timeZoneName = "" } = parts;
  // `GMT` alone is the offset zero.
  const offset = timeZoneName.replace("GMT", "") || "+00:00";
  return { weekday, date: `${year}-${month}-${day}`, time: `${hour}:${minute}`, offset };
}

function formatFor(zone: string): Intl.DateTimeFormat {
  let known = formats.get(zone);
  if (!known) {
    known = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      weekday: "short",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      timeZoneName: "longOffset",
    });
    if (formats.size >= MOST_ZONES) formats.clear();
    formats.set(zone, known);
  }
  return known;
}

/** `Sun 2026-11-15 13:09 +02:00` */
export function longStamp({ weekday, date, time, offset }: Stamp): string {
  return `${weekday} ${date} ${time} ${offset}`;
}

/** `12 min`, `2 h`, `3 days`: rounded, for a reader. */
export function roughly(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
