/** Commands that set variables, so that later words can be guessed. */
import type { Assignment } from "unbash";
import type { ShellWord } from "../../../../core/contracts/index.ts";
import { splitAssignment } from "./assignment.ts";
import { readWord, setVariable, type Variables } from "./word.ts";

/** Builtins that set variables or the positional parameters. */
export function takeSettings(words: readonly ShellWord[], variables: Map<string, string>): void {
  const [name, ...args] = words;
  if (/^(export|declare|typeset|local|readonly|env)$/.test(name?.guess ?? "")) {
    for (const { guess } of args) {
      const set = splitAssignment(guess);
      if (set) setVariable(variables, set.name, { guess: set.value });
    }
  } else if (name?.guess === "read" || name?.guess === "mapfile") {
    for (const { guess } of args) if (/^\w+$/.test(guess)) setVariable(variables, guess, UNSEEN_WORD);
  } else if (name?.guess === "printf" && args[0]?.guess === "-v" && args[1]) {
    setVariable(variables, args[1].guess, UNSEEN_WORD);
  } else if (name?.guess === "set" && args[0]?.guess === "--") setPositional(variables, args.slice(1));
}

export const UNSEEN_WORD: ShellWord = { guess: "*", isUnseen: true };

export function setPositional(variables: Map<string, string>, words: readonly ShellWord[]): void {
  for (const [i, word] of words.slice(0, 9).entries()) setVariable(variables, String(i + 1), word);
  for (const all of ["@", "*"]) setVariable(variables, all, { guess: words.map(({ guess }) => guess).join(" ") });
}

/** `NAME=value` given to export, alias and their like. */
export function setting(argument: Assignment, variables: Variables): ShellWord {
  if (argument.value.type !== "Word" || argument.index) return { guess: argument.text.replace(/["']/g, "") };
  const value = readWord(argument.value, variables);
  const head = `${argument.name}${argument.append ? "+" : ""}=`;
  return { ...(value.literal === undefined ? {} : { literal: head + value.literal }), guess: head + value.guess };
}
