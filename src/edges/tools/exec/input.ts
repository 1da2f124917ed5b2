/** What `exec` takes. */
import { z } from "zod";
import type { Tool } from "../../../core/contracts/index.ts";
import { flag, internal, parseInput, wholeNumber } from "../input.ts";
import { wrongInput } from "../paths/index.ts";

export const DEFAULT_S = 120;
export const MOST_S = 600;
/** A person must be able to read all of it before saying yes; longer things belong in a file. */
const MOST_CHARACTERS = 16_000;
const schema = z.strictObject({
  command: z.string().min(1),
  cwd: z.string().min(1).optional(),
  timeout_s: wholeNumber(1, MOST_S).optional(),
  background: flag.optional(),
  pty: flag.optional(),
  /** Not offered to models: keeps stdout and stderr separate, and exit code 0 returns only stdout. */
  apart: internal(flag.optional()),
});

export type ExecInput = ReturnType<typeof checked>;

export function checked(input: Parameters<Tool["plan"]>[0], mayStay: boolean) {
  const parsed = parseInput("exec", schema, input);
  if (parsed.background && !mayStay)
    throw wrongInput(
      "exec: Commands can't run in the background here.",
      "Leave out background and set timeout_s instead.",
    );
  if (parsed.background && (parsed.pty || parsed.timeout_s)) {
    throw wrongInput(
      "exec: background can't be combined with pty or timeout_s.",
      "Leave those out; to stop the command later, use process with action kill.",
    );
  }
  if (parsed.command.includes("\0"))
    throw wrongInput('exec: Field "command" contains a NUL character.', "Send the command without it.");
  if (parsed.command.length > MOST_CHARACTERS) {
    throw wrongInput(
      `exec: Field "command" has ${parsed.command.length} characters; at most ${MOST_CHARACTERS} are allowed.`,
      "Put it in a script with write, then run that.",
    );
  }
  return parsed;
}
