/** Commands for unit tests of the gate's pure parts, as the shell's analysis would hand them over. */
import type { ShellCommand } from "../../core/contracts/index.ts";

/** Blanks separate the words; nothing is quoted. */
export function plainCommand(text: string): ShellCommand {
  const words = text.split(" ").map((word) => ({ literal: word, guess: word }));
  return { words, assignments: [], redirects: [], within: [] };
}
