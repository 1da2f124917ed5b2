/**
 * How deep JSON from outside may be nested. A deeper value overflows the stack of whatever walks through it (schemas, copies,
 * redaction), so it is refused by its text, before anything does.
 */
import { AppError } from "../domain/index.ts";
import { jsonProblem } from "./json-problem.ts";

/** Nothing honest has more than a few levels. */
const MOST_DEPTH = 100;

export class TooDeep extends Error {
  constructor() {
    super(`nested more than ${MOST_DEPTH} levels deep`);
  }
}

/** Says in plain words what is wrong with the text, and where. The JavaScript engine's own words never show. */
class NotJson extends SyntaxError {
  constructor(text: string, cause: unknown) {
    super(jsonProblem(text) ?? "it is not JSON", { cause });
  }
}

/** The one way JSON from outside is read. Throws `TooDeep` or `NotJson`. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new TooDeep();
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new NotJson(text, cause);
  }
}

/** A request's body. Throws BAD_JSON with what is wrong and where; `hint`: what to send instead. */
export function parseJsonBody(body: Buffer, hint: string): unknown {
  try {
    return parseJson(body.toString("utf8"));
  } catch (cause) {
    if (cause instanceof TooDeep) {
      const message = `The body is ${cause.message}.`;
      throw new AppError("BAD_JSON", { message, hint: "Send a value with fewer levels.", cause });
    }
    const why = cause instanceof NotJson ? cause.message : String(cause);
    throw new AppError("BAD_JSON", { message: `The body is not JSON: ${why}`, hint, cause });
  }
}

/** Whether a JSON text has more levels than the bound. Looks at the text: a value may be too deep to walk through. */
export function isTooDeep(json: string, most = MOST_DEPTH): boolean {
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (c === QUOTE) i = endOfString(json, i);
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      if (++depth > most) return true;
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
  }
  return false;
}

/**
 * The same for YAML, whose parser calls itself for each level and can take the whole process with it. Counts brackets, also those in
 * quotes (an apostrophe makes it hard to tell which those are), and the levels that indentation, `-`, `?` and `:` begin.
 */
export function isTooDeepYaml(text: string, most = MOST_DEPTH): boolean {
  let brackets = 0;
  const columns: number[] = [];
  let lineStart = 0;
  let isIndent = true;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === NEWLINE || c === RETURN) {
      lineStart = i + 1;
      isIndent = true;
      continue;
    }
    if (isIndent && c !== SPACE && c !== TAB) {
      while (columns.length > 0 && columns.at(-1)! >= i - lineStart) columns.pop();
      columns.push(i - lineStart);
      isIndent = (c === DASH || c === QUESTION || c === COLON) && isBlank(text.charCodeAt(i + 1));
    }
    if (c === OPEN_BRACE || c === OPEN_BRACKET) brackets++;
    else if ((c === CLOSE_BRACE || c === CLOSE_BRACKET) && brackets > 0) brackets--;
    if (brackets > most || columns.length > most) return true;
  }
  return false;
}

const isBlank = (c: number) => c === SPACE || c === TAB || c === NEWLINE || c === RETURN || Number.isNaN(c);

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const DASH = 0x2d;
const COLON = 0x3a;
const QUESTION = 0x3f;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

function endOfString(json: string, start: number): number {
  for (let i = start + 1; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (c === BACKSLASH) i++;
    else if (c === QUOTE) return i;
  }
  return json.length;
}
