import { readFile, stat } from "node:fs/promises";
import { AppError } from "../../core/domain/index.ts";
import { usage } from "./exit.ts";
import type { CliInput } from "./ports.ts";

/** All of a stream as text. */
export async function readAll(input: CliInput): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of input) parts.push(typeof part === "string" ? Buffer.from(part) : (part as Buffer));
  return Buffer.concat(parts).toString("utf8");
}

/** A file somebody named; `-` is stdin. `note`: for a pipe with nobody at the other end, which is waited for without an end. */
export async function readGiven(file: string, stdin: CliInput, note: (line: string) => void): Promise<string> {
  if (file === "-") return readAll(stdin);
  try {
    // The shell's own `<(…)` has its writer already.
    if (!file.startsWith("/dev/fd/") && (await stat(file)).isFIFO())
      note(`${file} is a pipe. Waiting for data; press Ctrl-C to stop.`);
    return await readFile(file, "utf8");
  } catch (cause) {
    const { code = "unknown reason" } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      throw new AppError("NOT_FOUND", { message: `There is no file ${file}.`, hint: "Give - to read stdin." });
    }
    throw usage(`${file} could not be read (${code}).`);
  }
}
