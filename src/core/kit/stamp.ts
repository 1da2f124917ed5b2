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

const formats = new Map<string, Intl.DateTimeFormat>();

export function stampIn(zone: string, at: number): Stamp {
  const parts: Record<string, string> = {};
  for (const { type, value } of formatFor(zone).formatToParts(at)) parts[type] = value;
  const { weekday = "", year = "", month = "", day = "", hour = "", minute = "", timeZoneName = "" } = parts;
  // `GMT` alone is the offset zero.
  const offset = timeZoneName.replace("GMT", "") || "+00:00";
  return { weekday, date: `${year}-${month}-${day}`, time: `${hour}:${minute}`, offset };
}

function formatFor(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
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
    // People have few zones; the bound guards against names that come from outside.
    if (formats.size > 100) formats.clear();
    formats.set(zone, format);
  }
  return format;
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
