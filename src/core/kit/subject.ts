/** What a tool call is about, in a few words of its input: the command, path, address or query. */
import type { Json, JsonObject } from "../domain/json.ts";

export function findSubject(input: Json): string | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const { command, path, url, query } = input as JsonObject;
  return [command, path, url, query].find((one) => typeof one === "string");
}
