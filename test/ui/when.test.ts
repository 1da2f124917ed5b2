import { expect, test } from "vitest";
import { readWhen } from "../../ui/src/lib/when.ts";

test.each([
  ["weekdays 7:00", { cron: "0 7 * * 1-5" }],
  ["every day at 9am", { cron: "0 9 * * *" }],
  ["daily 18:30", { cron: "30 18 * * *" }],
  ["every monday and friday at 6pm", { cron: "0 18 * * 1,5" }],
  ["Sundays", { cron: "0 9 * * 0" }],
  ["weekends noon", { cron: "0 12 * * 0,6" }],
  ["every 2 hours", { every: "2 hours" }],
  ["hourly", { every: "1 hour" }],
  ["in 30 minutes", { in: "30 minutes" }],
  ["0 7 * * 1-5", { cron: "0 7 * * 1-5" }],
  ["*/15 * * * MON", { cron: "*/15 * * * MON" }],
  ["tomorrow 9am", { at: "tomorrow 9am" }],
  ["monday 9am", { at: "monday 9am" }],
  ["2027-01-31T09:00", { at: "2027-01-31T09:00" }],
])("%s", (text, when) => {
  expect(readWhen(text)).toEqual(when);
});
