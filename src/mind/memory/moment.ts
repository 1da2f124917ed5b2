/** When a fact was true. */
import { AppError } from "../../core/domain/index.ts";

export function moment(at: number | string): number {
  const time = typeof at === "number" ? at : Date.parse(at);
  if (Number.isFinite(time)) return time;
  throw new AppError("BAD_REQUEST", {
    message: `"${at}" isn't a valid time.`,
    hint: "Use epoch milliseconds or ISO 8601.",
  });
}
