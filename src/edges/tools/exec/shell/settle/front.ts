/** What may stand before a command without changing how it is judged: `LC_ALL=C sort`, `timeout 10 ls`. */
import type { Command, Word } from "unbash";
import { readWord } from "../word.ts";
import { giveUp } from "./budget.ts";

/**
 * Languages in UTF-8, and none at all. In other encodings (Big5, Shift-JIS) a backslash may be half of a letter, and a script for sed
 * then means something else than what was judged. A slash would name a file.
 */
const LANGUAGE = /^(C|POSIX|(C|[a-z]{2,3}_[A-Z]{2})\.(UTF-8|utf8))$/;
/** A zone by its name. A colon, a slash in front or `..` would name any file. */
const ZONE = /^[A-Z][A-Za-z_]*(\/[A-Z][A-Za-z_-]*){0,2}([+-]\d{1,2})?$/;
const VALUES: Readonly<Record<string, RegExp>> = {
  LANG: LANGUAGE,
  LC_ALL: LANGUAGE,
  LC_COLLATE: LANGUAGE,
  LC_CTYPE: LANGUAGE,
  LC_MESSAGES: LANGUAGE,
  LC_NUMERIC: LANGUAGE,
  LC_TIME: LANGUAGE,
  TZ: ZONE,
  // How much is printed, and that nobody watches: which program runs, and with which words, stays the same.
  CI: /^(1|true)$/,
  FORCE_COLOR: /^[0-3]$/,
  NO_COLOR: /^1$/,
  NODE_ENV: /^test$/,
};
const SECONDS = /^\d{1,6}(\.\d{1,3})?[smhd]?$/;

/** The settings in front of a command, as they are written down again. */
export function readFront(prefix: Command["prefix"]): string[] {
  return prefix.map((one) => {
    if (one.type !== "Assignment" || one.append || one.index || one.value.type !== "Word") return giveUp("a setting");
    const value = readWord(one.value).literal ?? "";
    const isHarmless = Object.hasOwn(VALUES, one.name) && VALUES[one.name]!.test(value);
    return isHarmless ? `${one.name}=${value}` : giveUp("a setting");
  });
}

/** What `timeout` starts, and after how long it ends it. */
export function readLimit(args: Command["args"]): { seconds: string; name: Word; args: Command["args"] } {
  const [first, second, ...rest] = args;
  const seconds = first?.type === "Word" ? readWord(first).literal : undefined;
  const isPlain = seconds !== undefined && SECONDS.test(seconds) && second?.type === "Word";
  return isPlain ? { seconds, name: second, args: rest } : giveUp("a time limit of another kind");
}
