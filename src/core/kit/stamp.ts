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

/** `12 min`, `2 h`, `3 days`: rounded, for a reader. */
export function roughly(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
