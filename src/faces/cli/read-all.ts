import type { CliInput } from "./ports.ts";

/** All of a stream as text. */
export async function readAll(input: CliInput): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of input) parts.push(typeof part === "string" ? Buffer.from(part) : (part as Buffer));
  return Buffer.concat(parts).toString("utf8");
}
