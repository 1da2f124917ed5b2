/** Why a program in a command can't be covered by a rule as it stands: a kind, the program, and the sentence for a person. */
import type { ShellReason } from "../../../../core/contracts/index.ts";
import { visibleLine } from "../../escape.ts";

/** By what is wrong with it. Every one names the program first. */
export const because = {
  throughOption: (program: string, option: string): ShellReason => ({
    kind: "wrapper",
    text: `${program} can run a program through ${short(option)}.`,
  }),
  evaluatesIndex: (program: string): ShellReason => ({ kind: "evaluates", text: `${program} evaluates an index.` }),
  loadsFile: (program: string, file: string): ShellReason => ({
    kind: "startup-file",
    text: `${program} loads ${short(file)} when it starts.`,
  }),
  loadsFiles: (program: string): ShellReason => ({ kind: "startup-file", text: `${program} loads start-up files.` }),
  changedOption: (program: string, option: string): ShellReason => ({
    kind: "startup-file",
    text: `${program} runs with a changed option: ${short(option)}.`,
  }),
  givenText: (program: string): ShellReason => ({ kind: "inline-code", text: `${program} runs the text it is given.` }),
  fedText: (program: string): ShellReason => ({ kind: "inline-code", text: `${program} runs the text it is fed.` }),
  isShell: (program: string): ShellReason => ({ kind: "wrapper", text: `${program} is a shell.` }),
  isPowerShell: (program: string): ShellReason => ({ kind: "inline-code", text: `${program} is a shell.` }),
  encodedText: (program: string, decoded: string): ShellReason => ({
    kind: "encoded",
    text: `${program} runs encoded text, which says: ${visibleLine(decoded)}`,
  }),
  unseenText: (program: string): ShellReason => ({
    kind: "hidden-code",
    text: `${program} runs computed text, which nobody can see in advance.`,
  }),
  computedText: (program: string): ShellReason => ({
    kind: "hidden-code",
    text: `${program} runs computed text.`,
  }),
  computedCode: (program: string): ShellReason => ({
    kind: "hidden-code",
    text: `${program} runs computed code.`,
  }),
  computedFile: (program: string, file: string): ShellReason => ({
    kind: "hidden-code",
    text: `${program} runs a file whose name is computed: ${short(file)}.`,
  }),
  unseenInput: (program: string): ShellReason => ({
    kind: "hidden-code",
    text: `${program} runs its input, which nobody can see in advance.`,
  }),
  shellScript: (program: string, file: string): ShellReason => ({
    kind: "script",
    text: `${program} runs the script ${short(file)}.`,
  }),
  script: (program: string, file: string): ShellReason => ({ kind: "script", text: `${program} runs ${short(file)}.` }),
  /** An interpreter's own language, in its arguments or on its input. */
  givenCode: (program: string): ShellReason => ({
    kind: "inline-code",
    text: `${program} runs code given to it.`,
    runs: { what: "code", program },
  }),
  code: (program: string): ShellReason => ({
    kind: "wrapper",
    text: `${program} runs code.`,
    runs: { what: "code", program },
  }),
  onFound: (started: string, action: string): ShellReason => ({
    kind: "wrapper",
    text: `find runs ${short(started)} (${action}).`,
    runs: { what: "program", program: "find" },
  }),
  changesFound: (action: string, target: string | undefined): ShellReason => ({
    kind: "writes",
    text: `find changes files: ${action} ${target === undefined ? "what it finds" : short(target)}.`,
  }),
  startsAnother: (program: string, started: string): ShellReason => ({
    kind: "wrapper",
    text: `${program} starts another program: ${short(started)}.`,
    runs: { what: "program", program },
  }),
  canStart: (program: string): ShellReason => ({ kind: "wrapper", text: `${program} can start other programs.` }),
  /** `isQuiet`: what it is given is taken as it is; otherwise bash evaluates it once more. */
  builtin: (program: string, isQuiet: boolean): ShellReason => ({
    kind: isQuiet ? "builtin" : "evaluates",
    text: `${program} is part of the shell, and no rule can cover it.`,
  }),
} as const;

function short(text: string): string {
  const line = visibleLine(text);
  return line.length > 80 ? `${line.slice(0, 50)} […] ${line.slice(-25)}` : line;
}
