/** Programs that start other programs, and what they would start: from the words of a command to what is inside of it. */
import type { ShellCommand, ShellReason, ShellWord } from "../../../../core/contracts/index.ts";
import { isCutShort } from "../../../../core/kit/index.ts";
import { assignmentReason, splitAssignment } from "./assignment.ts";
import {
  BUILTINS,
  EVALUATED_INDEX,
  INTERPRETERS,
  JOINS,
  OPTION_TAKES,
  POWERSHELL,
  QUIET,
  RUNNING_OPTIONS,
  SETS_VARIABLES,
  SHELLS,
  TAKES_C,
  WRAPPERS,
} from "./known.ts";
import { because } from "./reasons.ts";

/** What a command finds on its standard input. */
export type Fed = { kind: "nothing" } | { kind: "hidden" } | { kind: "shown"; text: string };
export const NOTHING: Fed = { kind: "nothing" };
export const HIDDEN: Fed = { kind: "hidden" };

export interface Unwrapped {
  reasons: ShellReason[];
  /**
   * Shell texts it would run. `sure` ones must parse; the others are looked into as far as they can be read. `args` become their
   * positional parameters.
   */
  texts: { text: string; label: string; sure?: true; args?: ShellWord[] }[];
  /** Commands it would run. */
  commands: { words: ShellWord[]; label: string }[];
}

export function unwrap(command: ShellCommand, fed: Fed): Unwrapped {
  const out: Unwrapped = { reasons: [], texts: [], commands: [] };
  const [program, ...args] = command.words;
  const name = baseName(program!.literal ?? program!.guess);

  for (const word of args) {
    const set = SETS_VARIABLES.has(name) ? splitAssignment(word.guess) : undefined;
    if (set) out.reasons.push(assignmentReason(set.name, { guess: set.value }));
  }
  const runs = RUNNING_OPTIONS.find(([programs]) => programs.test(name));
  for (const word of runs ? args : []) {
    if (!runs![1].test(word.guess) && !isCutShort(word.guess, runs![2] ?? [])) continue;
    // `git switch -c name` makes a branch; only before the subcommand -c is a setting.
    if (name === "git" && word.guess === "-c" && /^(switch|commit)$/.test(args[0]!.guess)) continue;
    out.reasons.push(because.throughOption(name, word.guess));
    const value = /^[^=]*=(?:exec=|!)?([\s\S]*)$/.exec(word.guess)?.[1];
    if (value) out.texts.push({ text: value, label: `${name} option` });
  }

  if (name === "") return out;
  if (SHELLS.test(name)) shellCode(out, { name, args, fed });
  else if (POWERSHELL.test(name)) powershell(out, name, args);
  else if (name === "find") findActions(out, args);
  else if (BUILTINS.has(name)) builtin(out, name, args);
  else if (name in WRAPPERS && !(name === "env" && args.length === 0)) wrapper(out, { name, args, fed });
  else if (EVALUATED_INDEX.has(name)) {
    if (args.some((word) => word.guess.includes("["))) out.reasons.push(because.evaluatesIndex(name));
  } else {
    const language = INTERPRETERS.find(([programs]) => programs.test(name));
    if (language) interpreter(out, { name, args, fed, carries: language[1] });
  }
  return out;
}

function shellCode(out: Unwrapped, { name, args, fed }: { name: string; args: ShellWord[]; fed: Fed }): void {
  let i = 0;
  let takesText = false;
  for (; i < args.length; i++) {
    const word = args[i]!.guess;
    if (/^--?(rcfile|init-file)(=|$)/.test(word)) {
      out.reasons.push(because.loadsFile(name, args[i + 1]?.guess ?? word));
      if (!word.includes("=")) i++;
    } else if (/^[-+][a-zA-Z]*[oO]$/.test(word)) {
      out.reasons.push(because.changedOption(name, args[i + 1]?.guess ?? ""));
      takesText ||= word.startsWith("-") && word.includes("c");
      i++;
    } else if (
      /^--(login|posix|norc|noprofile|restricted|verbose|debugger|dump.*|help|version|pretty.*|noediting|interactive|command(=.*)?)$/.test(
        word,
      )
    ) {
      if (word.startsWith("--command=")) out.texts.push({ text: word.slice(10), label: `${name} -c` });
      takesText ||= word === "--command";
      if (word === "--login" || word === "--interactive") out.reasons.push(because.loadsFiles(name));
    } else if (/^[-+][A-Za-z]+$/.test(word)) {
      takesText ||= word.startsWith("-") && word.includes("c");
      if (/^-[A-Za-z]*[il]/.test(word)) out.reasons.push(because.loadsFiles(name));
      if (word.includes("s")) break;
    } else break;
  }
  if (args[i]?.guess === "--" || args[i]?.guess === "-") i++;
  const operand = args[i];
  if (takesText) {
    out.reasons.push(because.givenText(name));
    const given = args.slice(i + 2);
    const positional = given.length > 0 ? { args: given } : {};
    if (operand?.literal !== undefined)
      out.texts.push({ text: operand.literal, label: `${name} -c`, sure: true, ...positional });
    else if (operand) {
      out.texts.push({ text: operand.guess, label: `${name} -c`, ...positional });
      out.reasons.push(because.unseenText(name));
    }
    return;
  }
  const isInput =
    !operand || /^-[A-Za-z]*s/.test(operand.guess) || /^\/(dev\/(stdin|fd\/)|proc\/self\/fd)/.test(operand.guess);
  if (isInput) {
    if (fed.kind === "hidden") out.reasons.push(because.unseenInput(name));
    else if (fed.kind === "shown") {
      out.reasons.push(because.fedText(name));
      out.texts.push({ text: fed.text, label: `${name} <`, sure: true });
    } else out.reasons.push(because.isShell(name));
    return;
  }
  if (operand.literal === undefined) out.reasons.push(because.computedFile(name, operand.guess));
  out.reasons.push(because.shellScript(name, operand.guess));
}

function powershell(out: Unwrapped, name: string, args: ShellWord[]): void {
  for (const [i, word] of args.entries()) {
    const option = /^[-/–—]{1,2}([A-Za-z]+)$/.exec(word.guess)?.[1]?.toLowerCase();
    if (!option) continue;
    const value = args[i + 1]?.guess ?? "";
    if (option === "ec" || "encodedcommand".startsWith(option)) {
      const decoded = Buffer.from(value, "base64").toString("utf16le").replaceAll("\0", "");
      out.reasons.push(because.encodedText(name, decoded));
      out.texts.push({ text: decoded, label: `${name} -enc` });
    } else if ("command".startsWith(option)) out.texts.push({ text: value, label: `${name} -c` });
  }
  out.reasons.push(because.isPowerShell(name));
}

/** Actions that run or write. The rest of find's language is for the gate's table. */
function findActions(out: Unwrapped, args: ShellWord[]): void {
  for (let i = 0; i < args.length; i++) {
    const action = args[i]!.guess;
    if (/^-(exec|execdir|ok|okdir)$/.test(action)) {
      const from = i + 1;
      while (i < args.length && args[i]!.guess !== ";" && !(args[i]!.guess === "+" && args[i - 1]?.guess === "{}")) i++;
      const words = args.slice(from, i);
      out.reasons.push(because.onFound(words[0]?.guess ?? "nothing", action));
      out.commands.push({ words, label: `find ${action}` });
    } else if (/^-(delete|fprint|fprint0|fprintf|fls)$/.test(action)) {
      out.reasons.push(because.changesFound(action, action === "-delete" ? undefined : (args[i + 1]?.guess ?? "")));
    }
  }
}

function builtin(out: Unwrapped, name: string, args: ShellWord[]): void {
  const operands = args.filter((word) => !word.guess.startsWith("-") || word.guess === "-");
  const text = (words: ShellWord[], label: string) => {
    const isComputed = words.some((word) => word.literal === undefined);
    const joined = words.map((word) => word.literal ?? word.guess).join(" ");
    out.texts.push({ text: joined, label, ...(isComputed ? {} : { sure: true }) });
    if (isComputed) out.reasons.push(because.unseenText(name));
  };
  switch (name) {
    case "eval":
      if (args.length > 0) text(args, "eval");
      break;
    case "trap":
      if (operands.length > 1) text(operands.slice(0, 1), "trap");
      break;
    case "alias":
      for (const word of operands) {
        const set = splitAssignment(word.guess) ?? { value: word.guess.replace(/^[^=]*=?/, "") };
        text([word.literal === undefined ? { guess: set.value } : { literal: set.value, guess: set.value }], "alias");
      }
      break;
    case "command":
    case "builtin":
    case "exec": {
      const skip = args.findIndex((word, i) => !word.guess.startsWith("-") && args[i - 1]?.guess !== "-a");
      if (skip >= 0) out.commands.push({ words: args.slice(skip), label: name });
      break;
    }
    case "mapfile":
    case "readarray": {
      const at = args.findIndex((word) => word.guess.startsWith("-C"));
      if (at >= 0)
        text([args[at]!.guess === "-C" ? (args[at + 1] ?? { guess: "" }) : { guess: args[at]!.guess.slice(2) }], name);
      break;
    }
    case "complete":
    case "compgen":
    case "bind":
      for (const word of operands) out.texts.push({ text: word.guess.replace(/^[^:]*:/, ""), label: name });
      break;
    case ".":
    case "source":
      if (operands[0] && (operands[0].literal === undefined || /^\/(dev\/(stdin|fd)|proc)/.test(operands[0].guess))) {
        out.reasons.push(because.computedFile(name, operands[0].guess));
      }
      break;
    default:
      break;
  }
  // The rest takes names and texts that bash evaluates once more: `read 'a[$(x)]'`, `declare -n`, `trap`, `hash -p`.
  out.reasons.push(because.builtin(name, QUIET.has(name)));
}

function wrapper(out: Unwrapped, { name, args, fed }: { name: string; args: ShellWord[]; fed: Fed }): void {
  const label = name;
  const split = args.findIndex((word) => /^(-[a-zA-Z0]*S|--split-string(=|$))/.test(word.guess));
  const inner = name === "env" && split >= 0 ? [] : innerWords(name, args);
  if (name === "env" && split >= 0) {
    const word = args[split]!.guess;
    const own = word.startsWith("--") ? word.replace(/^--split-string=?/, "") : word.replace(/^-[a-zA-Z0]*?S/, "");
    const rest = args.slice(split + 1).map((next) => next.guess);
    const text = [own, ...rest].filter(Boolean).join(" ");
    out.texts.push({ text: behindSettings(text), label: "env -S" });
  }
  const c = args.findIndex((word) => /^(-[a-zA-Z]*c|--command(=|$)|--session-command(=|$))/.test(word.guess));
  if (TAKES_C.has(name) && c >= 0) {
    const word = args[c]!;
    const attached = /^--[a-z-]+=([\s\S]*)$/.exec(word.guess)?.[1] ?? behindC(word.guess);
    const given = attached ?? args[c + 1]?.guess;
    if (given) out.texts.push({ text: given, label: `${name} -c` });
    if (attached === undefined && args[c + 1] && args[c + 1]!.literal === undefined) {
      out.reasons.push(because.computedText(name));
    }
  }
  if (JOINS.has(name) && inner.length > 0) {
    out.texts.push({ text: inner.map((word) => word.literal ?? word.guess).join(" "), label });
  }
  const command = inner[0];
  const takesInput = name === "xargs" || name === "parallel" || name === "at" || name === "batch" || name === "crontab";
  if (takesInput && fed.kind !== "nothing") {
    const isCode = !command
      ? name !== "xargs"
      : command.guess.includes("{}") || SHELLS.test(baseName(command.guess)) || baseName(command.guess) in WRAPPERS;
    if (isCode && fed.kind === "hidden") {
      out.reasons.push(because.unseenInput(name));
    } else if (isCode && fed.kind === "shown") out.texts.push({ text: fed.text, label: name });
  }
  if (inner.length > 0) out.commands.push({ words: inner, label });
  const started = inner.map((word) => word.guess).join(" ");
  out.reasons.push(command ? because.startsAnother(name, started) : because.canStart(name));
}

/** The program behind a wrapper's options, settings and own words. A guess: rules never rest on it. */
function innerWords(name: string, args: ShellWord[]): ShellWord[] {
  let own = WRAPPERS[name] ?? 0;
  let i = 0;
  for (; i < args.length; i++) {
    const word = args[i]!.guess;
    if (word === "--") {
      i++;
      break;
    }
    if (/^[-+]./.test(word)) {
      if (OPTION_TAKES[name]?.test(word)) i++;
      continue;
    }
    if (splitAssignment(word)) continue;
    if (own === 0) break;
    own--;
  }
  return args.slice(i);
}

const FILTERS = /^(jq|jaq|gojq)$/;

function interpreter(
  out: Unwrapped,
  { name, args, fed, carries }: { name: string; args: ShellWord[]; fed: Fed; carries: RegExp },
): void {
  const code = args.find((word) => carries.test(word.guess));
  const operand = args.find((word) => !word.guess.startsWith("-"));
  if (code) {
    out.reasons.push(because.givenCode(name));
    const given = args[args.indexOf(code) + 1] ?? code;
    if (given.literal === undefined && given.guess.includes("*")) out.reasons.push(because.computedCode(name));
    for (const word of args) {
      for (const text of calledTexts(word.guess)) out.texts.push({ text, label: `${name} code` });
    }
  } else if (operand) {
    if (operand.literal === undefined) out.reasons.push(because.computedFile(name, operand.guess));
    // A filter is the whole of what jq runs, and it neither starts programs nor writes files.
    if (!FILTERS.test(name)) out.reasons.push(because.script(name, operand.guess));
  } else if (fed.kind === "hidden") out.reasons.push(because.unseenInput(name));
  else out.reasons.push(because.code(name));
}

const CALLS = /system|popen|exec[lv]?[pe]*|spawn|run|call|shell_exec|passthru|check_output|getoutput|qx|sh|startfile/g;

/** Quoted texts that code hands to a function which starts programs: `system("…")`, `run(['…`. Each letter is read once. */
function calledTexts(code: string): string[] {
  const found: string[] = [];
  const calls = new RegExp(CALLS);
  for (let call = calls.exec(code); call; call = calls.exec(code)) {
    let at = skipBlanks(code, call.index + call[0].length);
    for (const bracket of ["(", "["]) if (code[at] === bracket) at = skipBlanks(code, at + 1);
    const close = /["'`]/.test(code[at] ?? "") ? code.indexOf(code[at]!, at + 1) : -1;
    if (close < 0) {
      // `shell_exec` without a text may still hold an `exec` with one.
      calls.lastIndex = call.index + 1;
      continue;
    }
    found.push(code.slice(at + 1, close));
    calls.lastIndex = close + 1;
  }
  return found;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? "")) at++;
  return at;
}

/** What `env -S` runs: the text behind its options and settings. */
function behindSettings(text: string): string {
  const next = /\s*(\S+)/y;
  let isOption = true;
  for (let at = 0; ; at = next.lastIndex) {
    next.lastIndex = at;
    const word = next.exec(text)?.[1];
    if (word === undefined) return text.slice(at);
    isOption &&= /^-./.test(word);
    if (!isOption && !/^[A-Za-z_]\w*=/.test(word)) return text.slice(at);
  }
}

/** `-lc'echo'`: what is written behind the last c among the letters. */
function behindC(word: string): string | undefined {
  const letters = /^-[a-zA-Z]*/.exec(word)?.[0] ?? "";
  const c = letters.lastIndexOf("c", word.length - 2);
  return c > 0 ? word.slice(c + 1) : undefined;
}

export function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}
