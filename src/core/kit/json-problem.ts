/**
 * Where a JSON text goes wrong, in words that people and models can act on: the position, what was expected there, and the text
 * around it. JSON.parse says it in three different ways and often without a position. One pass, no recursion.
 */

const BLANK = new Set([" ", "\t", "\n", "\r"]);
const LITERALS = ["true", "false", "null"] as const;
/** Everything a number may be made of. Whether it is put together as JSON wants it is judged by `PLAIN_NUMBER`. */
const NUMBER = new Set("+-.eE0123456789");
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Some editors put it before a text, and nobody sees it. */
const BYTE_ORDER_MARK = "\uFEFF";

/** What is wrong with the text; undefined when nothing of what this looks for is. */
export function jsonProblem(text: string): string | undefined {
  const found = firstFault(text);
  if (!found) return undefined;
  const { at, wanted } = found;
  if (at >= text.length) return `it ends after ${text.length} characters, where ${wanted} should follow`;
  const near = text.slice(Math.max(0, at - 20), at + 20).replace(/\s/g, " ");
  const instead = text[at] === BYTE_ORDER_MARK ? "an invisible byte order mark" : JSON.stringify(text[at]);
  return `${wanted} is expected at character ${at + 1} of ${text.length} instead of ${instead}, near: ${near}`;
}

type Fault = { at: number; wanted: string };

/** What may come next: a value; a value or the end of an empty list; a name, with or without the end; a comma or an end. */
type Expect = "value" | "first value" | "name" | "first name" | "colon" | "more";

const WANTED: Readonly<Record<Expect, string>> = {
  value: "a value",
  "first value": 'a value or "]"',
  name: "a name in double quotes",
  "first name": 'a name in double quotes or "}"',
  colon: '":"',
  more: "the end",
};

function firstFault(text: string): Fault | undefined {
  const open: ("{" | "[")[] = [];
  let expect: Expect = "value";
  let at = 0;
  for (;;) {
    while (at < text.length && BLANK.has(text[at]!)) at++;
    const inside = open.at(-1);
    if (expect === "more" && inside === undefined)
      return at < text.length ? { at, wanted: "the end of the text" } : undefined;
    const more = inside === "{" ? '"," or "}"' : '"," or "]"';
    const wanted = expect === "more" ? more : WANTED[expect];
    const sign = text[at];
    if (sign === undefined) return { at, wanted };
    if (expect === "more" && sign === ",") expect = inside === "{" ? "name" : "value";
    else if (
      (sign === "}" && inside === "{" && (expect === "more" || expect === "first name")) ||
      (sign === "]" && inside === "[" && (expect === "more" || expect === "first value"))
    ) {
      open.pop();
      expect = "more";
    } else if (expect === "colon" && sign === ":") expect = "value";
    else if (expect === "name" || expect === "first name" || expect === "value" || expect === "first value") {
      const isName: boolean = expect === "name" || expect === "first name";
      if (!isName && (sign === "{" || sign === "[")) {
        open.push(sign);
        expect = sign === "{" ? "first name" : "first value";
      } else {
        const end = isName && sign !== '"' ? undefined : endOfScalar(text, at);
        if (end === undefined) return { at, wanted };
        if (typeof end !== "number") return end;
        at = end;
        expect = isName ? "colon" : "more";
        continue;
      }
    } else return { at, wanted };
    at++;
  }
}

/** Behind a string, number or word that begins here; a fault inside of a string; undefined when nothing of the kind begins. */
function endOfScalar(text: string, at: number): number | Fault | undefined {
  if (text[at] === '"') return endOfString(text, at);
  const word = LITERALS.find((one) => text.startsWith(one, at));
  if (word) return at + word.length;
  let end = at;
  while (end < text.length && NUMBER.has(text[end]!)) end++;
  if (end === at) return undefined;
  return PLAIN_NUMBER.test(text.slice(at, end)) ? end : { at, wanted: "a number such as -1, 0.5 or 1e3" };
}

function endOfString(text: string, from: number): number | Fault {
  for (let at = from + 1; at < text.length; at++) {
    const sign = text[at]!;
    if (sign === '"') return at + 1;
    if (sign < " ") return { at, wanted: "an escape such as \\n or \\t" };
    if (sign !== "\\") continue;
    at++;
    if (at < text.length && !'"\\/bfnrtu'.includes(text[at]!))
      return { at, wanted: 'one of " \\ / b f n r t u after a backslash' };
    if (text[at] === "u" && !/^[0-9a-f]{4}$/i.test(text.slice(at + 1, at + 5)))
      return { at: Math.min(at + 1, text.length), wanted: "a code of four hexadecimal digits after \\u" };
  }
  return { at: text.length, wanted: "the closing quotation mark" };
}
