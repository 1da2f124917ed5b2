/** Files that speak to an agent in later turns: whoever writes them gives it orders. */
import type { ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import { absolute, isInside } from "./paths.ts";
import { isLooker, judgeArguments } from "./programs.ts";
import { type Place, STANDING } from "./rules.ts";

/** The names of such files anywhere in a text, such as a script given on the command line. */
const NAMED =
  /\b(SOUL|AGENTS|CLAUDE|USER|MEMORY|HEARTBEAT|SKILL)\.md\b|\blares\.(yaml|db)\b|(^|[/\s'"=])(skills|\.claude|\.codex|\.github|\.git)\//i;
/** Programs that put their last or only files somewhere. A name they compute may be any name. */
const WRITES = /^(cp|mv|tee|ln|install|dd|truncate|sponge|rsync|sed|perl|touch|ed|ex|patch)$/;

/** What of the standing files a command would write, in words; nothing when it only looks at them. */
export function standingFileIn(shell: ShellPlan, place: Place): string | undefined {
  for (const command of shell.commands) {
    const found = writtenBy(command, shell, place) ?? namedBy(command);
    if (found !== undefined) return found;
  }
  // In a here-document, or wherever else the words of no command show it.
  if (shell.form !== "shell" || !NAMED.test(shell.text)) return undefined;
  const isShown = shell.commands.some((command) => wordsOf(command).some((word) => NAMED.test(word)));
  return isShown ? undefined : "in the text of the script";
}

function writtenBy(command: ShellCommand, shell: ShellPlan, place: Place): string | undefined {
  for (const { operator, target } of command.redirects) {
    if (!operator.includes(">")) continue;
    if (target.literal === undefined) {
      // `2>&1` and its like name no file.
      if (/^[\d-]*$/.test(target.guess)) continue;
      return "a file whose name is computed";
    }
    const path = absolute(target.literal, shell.cwd, place.userHome);
    if (STANDING.test(path) || NAMED.test(target.literal) || isOwn(path, place)) return target.literal;
  }
  return undefined;
}

function namedBy(command: ShellCommand): string | undefined {
  if (isReading(command)) return undefined;
  const [program, ...args] = command.words;
  const shown = args.find((word) => NAMED.test(word.literal ?? word.guess));
  if (shown) return (shown.literal ?? shown.guess).slice(0, 80);
  const isOpen = WRITES.test(baseName(program!.guess)) && args.some((word) => word.literal === undefined);
  return isOpen ? "a file whose name is computed" : undefined;
}

/** It shows files and writes none (programs.ts, P1). */
function isReading(command: ShellCommand): boolean {
  const name = baseName(command.words[0]!.guess);
  const args = command.words.slice(1).map((word) => word.literal ?? word.guess);
  return isLooker(name) && judgeArguments(name, args).concerns.length === 0;
}

/** The agent's own folder around its workspace: instructions, memory, skills. */
function isOwn(path: string, place: Place): boolean {
  return isInside(path, place.agentDir) && !isInside(path, place.workspace);
}

function wordsOf({ words, redirects }: ShellCommand): string[] {
  return [...words, ...redirects.map(({ target }) => target)].map((word) => word.literal ?? word.guess);
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
