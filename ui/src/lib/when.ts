/** What a person types for "when", as the wire wants it: a moment, a wait, a rhythm, or days of the week. */
export interface When {
  at?: string;
  in?: string;
  every?: string;
  cron?: string;
}

const DAYS: Record<string, string> = { day: "*", weekday: "1-5", weekend: "0,6" };
for (const [i, name] of ["sun", "mon", "tues", "wednes", "thurs", "fri", "satur"].entries())
  DAYS[`${name}day`] = String(i);

export function readWhen(text: string): When {
  const t = text.trim().toLowerCase().replace(/\s+/g, " ").replace(/\.$/, "");
  if (/^([\d*,/-]+ ){2}\S+ \S+ \S+( \S+)?$/.test(t)) return { cron: text.trim() };
  if (t.startsWith("in ")) return { in: t.slice(3) };
  const days = daysAt(t);
  if (days) return { cron: days };
  if (t.startsWith("every ")) return { every: t.slice(6) };
  if (t === "hourly") return { every: "1 hour" };
  return { at: text.trim() };
}

const NAMED_HOURS: Readonly<Record<string, number>> = { noon: 12, midnight: 0 };
/** When a day is named without an hour. */
const MORNING = 9;

/** "weekdays 7:00", "every monday and friday at 9am", "daily 18:30"; one day without "every" or an s is a single moment. */
function daysAt(t: string): string | undefined {
  const match =
    /^(every )?([a-z]+(?:(?:, ?| and )[a-z]+)*)(?: at)?(?: (?:(\d{1,2})(?:[:.](\d{2}))? ?(am|pm)?|(noon|midnight)))?$/.exec(
      t.replace(/^daily\b/, "every day"),
    );
  if (!match) return undefined;
  const [, every, names, hourText, minuteText, half, word] = match;
  const found: string[] = [];
  for (const name of names!.split(/, ?| and /)) {
    const day = DAYS[name] ?? (name.endsWith("s") ? DAYS[name.slice(0, -1)] : undefined);
    if (day === undefined || (!every && !name.endsWith("s"))) return undefined;
    found.push(day);
  }
  let hour = NAMED_HOURS[word ?? ""] ?? Number(hourText ?? MORNING);
  if (half === "pm" && hour < 12) hour += 12;
  if (half === "am" && hour === 12) hour = 0;
  return `${Number(minuteText ?? 0)} ${hour} * * ${found.includes("*") ? "*" : found.join(",")}`;
}
