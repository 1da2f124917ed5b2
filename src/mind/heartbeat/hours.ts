/** Active hours: a span of the day on a time zone's wall clock, which may cross midnight. Pure. */

/** `wall`: minutes since midnight there. The end is exclusive; equal start and end mean the whole day. */
export function isActive(hours: string | undefined, wall: number): boolean {
  if (!hours) return true;
  const [from, to] = hours.split("-").map(parseMinutes) as [number, number];
  if (from === to) return true;
  return from < to ? wall >= from && wall < to : wall >= from || wall < to;
}

function parseMinutes(text: string): number {
  const [hour, minute] = text.split(":").map(Number) as [number, number];
  return hour * 60 + minute;
}
