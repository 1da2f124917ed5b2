/** JSON as people edit it: comments, trailing commas, names without quotes. In one pass: the text is somebody else's. */
import { parse } from "yaml";
import { isTooDeepYaml, parseJson, TooDeep } from "../../core/kit/index.ts";

/** Settings written by hand are far smaller; more is not worth the slow parser. */
const LONGEST_LOOSE = 256 * 1024;

/** Undefined when it is not even that. */
export function looseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (text.length > LONGEST_LOOSE || error instanceof TooDeep) return undefined;
    try {
      const bare = withoutComments(text);
      return isTooDeepYaml(bare) ? undefined : parse(bare);
    } catch {
      return undefined;
    }
  }
}

/** Line and block comments outside of quotes are left out. One that never ends goes to the end of the text. */
export function withoutComments(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const sign = text[at]!;
    if (sign === '"' || sign === "'") {
      at = afterQuote(text, at);
    } else if (sign === "/" && (text[at + 1] === "/" || text[at + 1] === "*")) {
      kept.push(text.slice(from, at));
      const end = text[at + 1] === "/" ? text.indexOf("\n", at) : text.indexOf("*/", at + 2);
      at = end < 0 ? text.length : text[at + 1] === "/" ? end : end + 2;
      from = at;
    } else at++;
  }
  kept.push(text.slice(from));
  return kept.join("");
}

/** Behind the closing quote; an apostrophe without a partner on its line is a plain character. */
function afterQuote(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    const sign = text[at];
    if (sign === "\\") at++;
    else if (sign === quote) return at + 1;
    else if (sign === "\n") return start + 1;
  }
  return start + 1;
}
