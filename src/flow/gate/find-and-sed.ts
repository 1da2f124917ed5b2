/** find and sed: their arguments are a language, not a list of options. */
import type { Judgement } from "./programs.ts";
import { notHarmless, SED_SCRIPT } from "./words.ts";

/** Tests of find whose value is a file that is looked at. */
const FIND_FILES = /^-(newer|anewer|cnewer|newer[aBcm][aBcm]|samefile)$/;
const FIND_TESTS =
  /^-(name|iname|path|ipath|wholename|iwholename|regex|iregex|lname|ilname|regextype|type|xtype|size|mtime|atime|ctime|mmin|amin|cmin|newer|anewer|cnewer|newer[aBcm][aBcmt]|maxdepth|mindepth|perm|user|group|uid|gid|links|inum|samefile|used|fstype|printf)$/;
const FIND_FLAGS =
  /^(-(print|print0|ls|prune|quit|empty|readable|writable|executable|depth|d|mount|xdev|nouser|nogroup|true|false|not|and|a|o|or|follow|noleaf|daystart|warn|nowarn|ignore_readdir_race|help|version|H|L|P|O\d?)|!|\(|\)|,)$/;

/** find's language: a word that is neither a known test nor its value is a concern. */
export function judgeFind(args: readonly string[]): Judgement {
  const out: Judgement = { concerns: [], files: [] };
  let inPaths = true;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (/^-(L|follow)$/.test(arg)) out.follows ??= i;
    if (FIND_TESTS.test(arg)) {
      inPaths = false;
      i++;
      if (FIND_FILES.test(arg) && args[i] !== undefined) out.files.push({ index: i, path: args[i]!, use: "names" });
    } else if (FIND_FLAGS.test(arg)) inPaths &&= /^-[HLPO]/.test(arg);
    else if (inPaths && !arg.startsWith("-")) out.files.push({ index: i, path: arg, use: "names" });
    else out.concerns.push({ index: i, text: notHarmless(arg, "find") });
  }
  return out;
}

/** `-i`, also behind other letters, and the ending that the old file keeps. Letters behind the `i` are an ending, too. */
const IN_PLACE = /^(?:-[nEr]*i|--in-place(?:=(?=\.)|$))(\.(?:bak|orig|old))?$/;

/**
 * Printing lines and replacing words is what sed is used for most; the rest of its language can write and run. With `-i` it writes the
 * files it is given.
 */
export function judgeSed(args: readonly string[]): Judgement {
  const out: Judgement = { concerns: [], files: [] };
  const isNamed = args.some((arg) => arg === "-e" || arg === "--expression");
  const inPlace = args.map((arg) => IN_PLACE.exec(arg)).find((one) => one !== null);
  let hasScript = false;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    const isOption = arg === "-e" || arg === "--expression";
    const script = isOption ? args[index + 1] : arg;
    if (/^-[nEr]+$|^--(quiet|silent|regexp-extended)$/.test(arg) || IN_PLACE.test(arg)) continue;
    if ((isOption || !(isNamed || hasScript)) && script !== undefined && isHarmlessScript(script)) {
      hasScript = true;
      if (isOption) index++;
    } else if (hasScript && !arg.startsWith("-")) out.files.push({ index, path: arg, use: "content" });
    else out.concerns.push({ index, text: SED_SCRIPT });
  }
  if (!inPlace) return out;
  const [first, ...more] = out.files;
  if (first && more.length > 0 && takesScriptForEnding(args) && !isNoScript(first.path))
    out.concerns.push({ index: first.index, text: SED_SCRIPT });
  const ending = inPlace[1] ?? "";
  out.writes = out.files.flatMap(({ index, path }) =>
    ending === ""
      ? [{ index, path }]
      : [
          { index, path },
          { index, path: path + ending },
        ],
  );
  return out;
}

/** Some seds take the word behind `-i` for an ending in any case, and then the first file for the script. */
function takesScriptForEnding(args: readonly string[]): boolean {
  const at = args.findIndex((arg) => IN_PLACE.test(arg));
  return !args[at]!.includes(".") && !/^-/.test(args[at + 1] ?? "");
}

/** A path that, taken for a script, neither writes nor reads a file. */
function isNoScript(path: string): boolean {
  if (!/^[A-Za-z.][\w./@+-]*$/.test(path) || /^[wr]/.test(path)) return false;
  if (!path.startsWith("s")) return true;
  // `s1a1b1w`: the sign behind the s separates.
  const [, , ...behind] = path.slice(2).split(path[1] ?? "");
  return !/^[A-Za-z\d]*w/.test(behind.join(path[1]));
}

/** Only `p`, `d`, `q`, `=` and `s` without a flag that writes or runs, each with addresses. Anything unclear is not harmless. */
function isHarmlessScript(script: string): boolean {
  if (script === "" || /[\n\r\\]\n|[\n{}]/.test(script)) return false;
  let at: number | undefined = 0;
  while (at !== undefined && at < script.length) {
    at = command(script, addresses(script, at));
    if (at === undefined || at === script.length) break;
    at = script[at] === ";" ? behindBlanks(script, at + 1) : undefined;
    if (at === script.length) return false;
  }
  return at === script.length;
}

/** Between two commands blanks mean nothing: `s/a/b/; s/c/d/`. */
function behindBlanks(script: string, from: number): number {
  let at = from;
  while (script[at] === " " || script[at] === "\t") at++;
  return at;
}

/** Behind `1,$`, `/a/,/b/!`. Undefined: not understood. */
function addresses(script: string, from: number): number | undefined {
  let at = address(script, from);
  if (at !== undefined && at > from && script[at] === ",") {
    const next = address(script, /[+~]/.test(script[at + 1] ?? "") ? at + 2 : at + 1);
    at = next === undefined || next <= at + 1 ? undefined : next;
  }
  return at !== undefined && script[at] === "!" ? at + 1 : at;
}

function address(script: string, from: number): number | undefined {
  if (script[from] === "$") return from + 1;
  if (script[from] === "/") return delimited(script, from + 1, "/");
  let at = from;
  while (/\d/.test(script[at] ?? "")) at++;
  return at;
}

function command(script: string, from: number | undefined): number | undefined {
  if (from === undefined) return undefined;
  if (/[pdq=]/.test(script[from] ?? "")) return from + 1;
  const sign = script[from + 1] ?? "";
  if (script[from] !== "s" || !/[/|#,:@!%]/.test(sign)) return undefined;
  const middle = delimited(script, from + 2, sign);
  let at = middle === undefined ? undefined : delimited(script, middle, sign);
  while (at !== undefined && /[gIip\d]/.test(script[at] ?? "")) at++;
  return at;
}

const CLASS = /^\[:(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit):\]/;

/** Behind the next sign that ends a pattern. Where a bracket is open, programs differ on where that is. */
function delimited(script: string, from: number, sign: string): number | undefined {
  let isOpen = false;
  for (let at = from; at < script.length; at++) {
    if (script[at] === "\\") {
      // Between brackets a backslash may stand for itself, and what follows it may end them.
      if (isOpen && !/\w/.test(script[at + 1] ?? "")) return undefined;
      at++;
    } else if (script[at] === sign) return isOpen ? undefined : at + 1;
    else if (isOpen && /^\[[:.=]/.test(script.slice(at, at + 2))) {
      // The `]` of a class ends the class only; the brackets around it stay open.
      const named = CLASS.exec(script.slice(at));
      if (!named || named[0].includes(sign)) return undefined;
      at += named[0].length - 1;
    } else if (script[at] === "[") {
      // A `]` that comes first stands for itself to some programs.
      if (/^\^?\]/.test(script.slice(at + 1, at + 3))) return undefined;
      isOpen = true;
    } else if (script[at] === "]") isOpen = false;
  }
  return undefined;
}
