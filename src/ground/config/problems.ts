/**
 * Problems in a config, with their position. All problems of a file are reported at once: nobody likes to fix one line, restart,
 * and hit the next.
 *
 * CONFIG-4: a problem never carries a value from the file or the environment, only its kind; and a source line whose key sounds
 *     secret is shown without its value.
 */
import { AppError, type JsonObject } from "../../core/domain/index.ts";

export type Path = readonly (string | number)[];

export interface ConfigProblem {
  /** `gateway.http.port`; empty for the file as a whole. */
  path: string;
  message: string;
  /** Counted from 1; absent when the problem is not in the file (a missing key, a flag). */
  line?: number;
  column?: number;
  /** The source line with a caret below the place. */
  excerpt?: string;
}

export function configInvalid(file: string, problems: readonly ConfigProblem[], cause?: unknown): AppError {
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return new AppError("CONFIG_INVALID", {
    message: `${file} has ${count}:\n${problems.map(describe).join("\n")}`,
    hint: "Fix the lines above, then run: lares config check",
    retry: "after-change",
    details: { problems: problems.map((problem) => ({ ...problem }) as JsonObject) },
    cause,
  });
}

function describe(problem: ConfigProblem): string {
  const where = problem.line === undefined ? "" : `line ${problem.line}: `;
  const excerpt = problem.excerpt === undefined ? "" : `\n${problem.excerpt.replace(/^/gm, "    ")}`;
  return `  ${where}${problem.message}${excerpt}`;
}

/** `["agents", "ada", "tags", 0]` → `agents.ada.tags[0]`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

/** Longest piece of a source line that is shown; a pasted key or a whole file on one line stays readable. */
const WIDEST_EXCERPT = 100;

/** The line around `offset` with a caret, and its position counted from 1. */
export function excerptAt(text: string, offset: number): { line: number; column: number; excerpt: string } {
  const at = Math.min(Math.max(offset, 0), text.length);
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const nextBreak = text.indexOf("\n", start);
  const end = nextBreak === -1 ? text.length : nextBreak;
  const line = countLines(text, start);
  const column = at - start + 1;
  const source = hideSecret(text.slice(start, end).replace(/\r$/, "").replaceAll("\t", " "));
  const from = column > WIDEST_EXCERPT - 20 ? column - 40 : 0;
  const shown = source.slice(from, from + WIDEST_EXCERPT);
  const gutter = `${line} | `;
  const indent = " ".repeat(Math.min(column - 1 - from, shown.length));
  return { line, column, excerpt: `${gutter}${shown}\n${" ".repeat(gutter.length - 2)}| ${indent}^` };
}

function countLines(text: string, until: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < until; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

const SECRET_KEY = /(token|secret|password|passphrase|credential|api_?key|private_?key|^key)s?$/i;

/** True for key names whose values are secrets by their name. */
export function soundsSecret(key: string): boolean {
  return SECRET_KEY.test(key);
}

function hideSecret(line: string): string {
  // A reference is not the secret itself and tells the reader which variable is meant.
  const match = /^(\s*(?:-\s+)?["']?([\w.-]+)["']?\s*:\s*)(?!["']?\$\{)(\S.*)$/.exec(line);
  return match?.[1] !== undefined && match[2] !== undefined && soundsSecret(match[2]) ? `${match[1]}…` : line;
}
