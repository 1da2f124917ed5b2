/** The input of a tool call whose text could not be read as a JSON object: kept as the model wrote it, with what is wrong with it. */
import type { Json } from "./json.ts";

export type UnreadableInput = { unreadable: string; problem: string };

/** Exactly these two fields: a tool of somebody else's may have one of them by chance. */
export function isUnreadable(input: unknown): input is UnreadableInput {
  if (typeof input !== "object" || input === null) return false;
  const { unreadable, problem } = input as { unreadable?: unknown; problem?: unknown };
  return typeof unreadable === "string" && typeof problem === "string" && Object.keys(input).length === 2;
}

/**
 * What the model reads of its own call. Providers take nothing but a JSON object here, so an unreadable one is empty: a field of
 * ours would be read as one of the tool's and copied into the next call. What was wrong, and how it began, is in the result.
 */
export function inputAsRead(input: Json): Json {
  return isUnreadable(input) ? {} : input;
}
