/** A tool call as one line: its name and the argument that tells most. */
import { oneLine } from "../format.ts";

/** In the order in which they tell: what is run, what is touched, what is looked for. */
const TELLING = ["command", "path", "file", "url", "pattern", "query", "text", "name"];

export function toolLine(name: string, input: unknown): string {
  const argument = telling(input);
  return argument ? `${oneLine(name)} ${argument}` : oneLine(name);
}

function telling(input: unknown): string {
  if (input === null || typeof input !== "object") return typeof input === "string" ? oneLine(input) : "";
  const fields = input as Record<string, unknown>;
  const key = TELLING.find((one) => typeof fields[one] === "string") ?? firstText(fields);
  if (key !== undefined) return oneLine(fields[key] as string);
  return Object.keys(fields).length ? oneLine(JSON.stringify(fields)) : "";
}

function firstText(fields: Record<string, unknown>): string | undefined {
  return Object.keys(fields).find((key) => typeof fields[key] === "string");
}
