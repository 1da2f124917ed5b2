import { readFile } from "node:fs/promises";
import { AppError } from "../../core/domain/index.ts";
import { usage } from "./exit.ts";
import type { CliInput } from "./ports.ts";

/** All of a stream as text. */
export async function readAll(input: CliInput): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of input) parts.push(typeof part === "string" ? Buffer.from(part) : (part as Buffer));
  return Buffer.concat(parts).toString("utf8");
}

/** A file somebody named; `-` is stdin. */
export async function readGiven(file: string, stdin: CliInput): Promise<string> {
  if (file === "-") return readAll(stdin);
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const { code = "unknown reason" } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      throw new AppError("NOT_FOUND", { message: `There is no file ${file}.`, hint: "Give - to read stdin." });
    }
    throw usage(`${file} could not be read (${code}).`);
  }
}
