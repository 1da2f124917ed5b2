/** When a fact was true, as people and chat exports write it. */
import { AppError } from "../../core/domain/index.ts";

export function moment(at: number | string): number {
  // People and chat exports also write "1:56 pm on 8 May, 2023".
  const time = typeof at === "number" ? at : Date.parse(dayFirst(at.replace(/\s+/g, " ")));
  if (Number.isFinite(time)) return time;
  throw new AppError("BAD_REQUEST", {
    message: `"${at}" isn't a valid time.`,
    hint: "Use epoch milliseconds or ISO 8601.",
  });
}

function dayFirst(text: string): string {
  return text.replace(/^(\d{1,2}:\d{2}(?: ?[ap]m)?) on (.+)$/i, "$2 $1");
}
