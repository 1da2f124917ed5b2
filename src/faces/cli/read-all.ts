import { readFile, stat } from "node:fs/promises";
import { AppError } from "../../core/domain/index.ts";
import { usage } from "./exit.ts";
import type { CliInput } from "./ports.ts";
import { commonWords as words } from "./words/common.ts";

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
    if (!file.startsWith("/dev/fd/") && (await stat(file)).isFIFO()) note(words.pipe(file));
    return await readFile(file, "utf8");
  } catch (cause) {
    const { code = words.unknownReason } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      throw new AppError("NOT_FOUND", { message: words.noFile(file), hint: words.noFileHint });
    }
    throw usage(words.notRead(file, code));
  }
}
