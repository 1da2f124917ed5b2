/**
 * awk: a program text that only picks and prints. Its language can write files (`print > f`), run programs (`system`, `|`) and read any
 * file (`getline < f`), so the text is read sign by sign, and whatever isn't on a short list is not harmless.
 */
import type { Judgement } from "./programs.ts";
import { textCanRun } from "./words.ts";

/** Words that compute or print. No functions of one's own, no `getline`, `system`, `close`, `fflush`, `ENVIRON`, `ARGV`. */
const WORDS = new Set(
  "BEGIN END NR NF FS OFS RS ORS FNR FILENAME SUBSEP RSTART RLENGTH print printf if else for while do in next exit length substr index split sub gsub match sprintf tolower toupper int sqrt exp log sin cos atan2".split(
    " ",
  ),
);
/** Words in small letters that do more than hold a value. Any other one without a bracket behind it is a variable. */
const ACTS = new Set("getline system close fflush func function include load namespace".split(" "));
/** Behind these a slash begins a pattern; behind a value it divides. */
const BEFORE_PATTERN = /[({,;!~&|\n]/;

/** awk's own variables that hold a number. */
const NUMBERS = new Set(["NR", "NF", "FNR", "RSTART", "RLENGTH"]);

export function judgeAwk(name: string, args: readonly string[]): Judgement {
  const text = textCanRun(name);
  const closed = { concerns: args.map((_, index) => ({ index, text })), files: [] };
  let at = 0;
  // `-F,` and `-F ,`: what separates the fields.
  if (/^-F/.test(args[at] ?? "")) at += args[at] === "-F" ? 2 : 1;
  const program = args[at];
  const operands = args.slice(at + 1);
  if (program === undefined || program.startsWith("-") || !isHarmlessAwk(program)) return closed;
  // An operand `name=value` sets a variable, and is no file.
  if (operands.some((word) => word.startsWith("-") || word.includes("="))) return closed;
  return { concerns: [], files: operands.map((path, i) => ({ index: at + 1 + i, path, use: "content" })) };
}

/** Whether the text neither writes, runs nor reads anything but its input. Each sign is read once. */
export function isHarmlessAwk(text: string): boolean {
  let before = "\n";
  // Behind a value a slash divides. Behind a bracket it may do either, so there it is not harmless.
  let isValue = false;
  // From `print` to the end of its statement. A line break may stand within one, so it ends none.
  let isPrinting = false;
  for (let at = 0; at < text.length; ) {
    const sign = text[at]!;
    let end = at + 1;
    let isValueNext = /[\d\]]/.test(sign);
    if (sign === " " || sign === "\t") {
      at = end;
      continue;
    }
    if (sign === '"') end = closing(text, at, '"');
    else if (sign === "/" && isValue) end = at + 1;
    else if (sign === "/" && BEFORE_PATTERN.test(before)) end = closing(text, at, "/");
    else if (/[A-Za-z_]/.test(sign)) {
      while (/\w/.test(text[end] ?? "")) end++;
      const word = text.slice(at, end);
      // Variables have small letters; names in capitals may be awk's own tables (`ENVIRON`, `PROCINFO`).
      if (!WORDS.has(word) && (ACTS.has(word) || !/^[a-z][a-z0-9_]*$/.test(word))) return false;
      isValueNext = !WORDS.has(word) || NUMBERS.has(word);
      isPrinting ||= word === "print" || word === "printf";
      // A name before a bracket is called, and only known functions may be. Some awks let blanks come between.
      if (!WORDS.has(word) && /^\s*\(/.test(text.slice(end))) return false;
    } else if (sign === "|") {
      // Twice it is "or"; alone it is a pipe.
      if (text[at + 1] !== "|") return false;
      end = at + 2;
    } else if (sign === ">") {
      // Behind print it writes a file, and which brackets change that is not worked out. Elsewhere it compares.
      if (isPrinting || text[at + 1] === ">") return false;
    } else if (sign === "<") {
      // Only getline takes a file from it, and that is no word here.
    } else if (!/[\d{}()[\];,$+*%^!~&=?:.\n-]/.test(sign)) return false;
    if (end < 0) return false;
    if (sign === ";" || sign === "}") isPrinting = false;
    before = text[end - 1]!;
    isValue = isValueNext;
    at = end;
  }
  return true;
}

/** Behind the quote or slash that ends what begins at `from`; -1 where it doesn't end in its line, or a bracket is open. */
function closing(text: string, from: number, sign: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\n" || (sign === "/" && text[at] === "[")) return -1;
    if (text[at] === "\\") {
      at++;
      if (text[at] === "\n") return -1;
    } else if (text[at] === sign) return at + 1;
  }
  return -1;
}
