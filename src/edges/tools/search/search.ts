/**
 * `search`: lines that match a regular expression, as `path:line: text`; with `glob` alone the files whose names fit, the newest
 * first. Nothing found says what was looked at and what would be found otherwise, so that the next call can be another one.
 */
import { z } from "zod";
import type { Tool, ToolResult } from "../../../core/contracts/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";
import { planFile } from "../files/plan.ts";
import { flag, parseInput, wholeNumber } from "../input.ts";
import { type Inside, notFound, orNear, rootedForReading, translate, withInside, wrongInput } from "../paths/index.ts";
import { CLOSED, MOST_FILE_BYTES, type Query, type SearchResult } from "./found.ts";
import { findNames } from "./names.ts";
import { findRipgrep, ripgrep } from "./ripgrep.ts";
import { scan } from "./scan.ts";

export const DEFAULT_MAX = 100;
export const MOST = 1000;
export const MOST_CONTEXT = 10;
/** About 16k tokens, as `read`. */
const MOST_TEXT = 64 * 1024;
const SKIPPED = [...CLOSED].join(" and ");

const schema = z.strictObject({
  pattern: z.string().min(1).max(1000).optional(),
  path: z.string().min(1).optional(),
  glob: z.string().min(1).max(200).optional(),
  ignore_case: flag.optional(),
  context: wholeNumber(0, MOST_CONTEXT).optional(),
  max: wholeNumber(1, MOST).optional(),
});
type Input = z.output<typeof schema>;

export interface SearchOptions {
  /** Where ripgrep may be taken from; empty for our own scan only. */
  ripgrepDirs?: readonly string[];
}

export function createSearch(options: SearchOptions = {}): Tool {
  return {
    spec: {
      name: "search",
      description: `Find lines in files by a regular expression, or with glob alone files by name, newest first. Use it instead of grep and find. Skips ${SKIPPED}, binary files and files over ${MOST_FILE_BYTES / 1024 / 1024} MB.`,
      input: {
        type: "object",
        properties: {
          pattern: { type: "string", description: "regular expression; left out: names only" },
          path: { type: "string", description: "file or folder; default: the workspace" },
          glob: { type: "string", description: "e.g. *.ts or src/**/*.md" },
          ignore_case: { type: "boolean", description: "default false" },
          context: { type: "integer", description: `lines around each hit; default 0, max ${MOST_CONTEXT}` },
          max: { type: "integer", description: `hits; default ${DEFAULT_MAX}, max ${MOST}` },
        },
      },
    },
    repeat: "safe",
    opensFiles: () => true,
    async plan(input, place) {
      const { pattern, path = ".", glob } = checked(input);
      const details = `${pattern === undefined ? "" : ` for ${visibleLine(pattern)}`}${glob ? ` in ${visibleLine(glob)}` : ""}`;
      const binding = { pattern: pattern ?? null };
      return planFile({ tool: "search", risk: "read", place, path, parents: "imagine", details, binding });
    },
    async run(raw, place, _key, signal) {
      const input = checked(raw);
      const { path = "." } = input;
      const work = () =>
        withInside({ ...rootedForReading(place, path) }, async (inside) => {
          if (inside.kind === "missing") throw notFound(path);
          try {
            const { pattern } = input;
            if (pattern === undefined) return await byName(inside, input, signal);
            return await byContent(inside, { ...input, pattern }, options, signal);
          } catch (error) {
            throw translate(error, path);
          }
        });
      return orNear(place, path, work);
    },
  };
}

function checked(raw: Parameters<Tool["plan"]>[0]): Input {
  const input = parseInput("search", schema, raw);
  if (input.pattern !== undefined || input.glob !== undefined) return input;
  throw wrongInput(
    'search: Give "pattern" to find lines, "glob" to find files by name, or both.',
    'For example: search {"pattern":"TODO","glob":"*.ts"}',
    "own",
  );
}

async function byName(inside: Inside, input: Input, signal: AbortSignal): Promise<ToolResult> {
  const { glob = "*", max = DEFAULT_MAX, ignore_case: ignoreCase = false } = input;
  if (inside.kind !== "directory")
    throw wrongInput(
      `search: "${visibleLine(inside.path)}" is a file, and glob looks in a folder.`,
      "Give the folder as path.",
    );
  const found = await findNames(inside, { glob, max, ignoreCase }, signal);
  const notes = [...found.notes];
  if (found.more) notes.push(`cut at ${max} files; narrow it with path or glob`);
  if (found.paths.length === 0) {
    const other = ignoreCase ? undefined : await findNames(inside, { glob, max: 1, ignoreCase: true }, signal);
    const hint = other?.paths.length
      ? `with ignore_case: true there is ${visibleLine(other.paths[0]!)}`
      : `a part of a name needs stars around it: *${visibleLine(glob)}*`;
    notes.push(`no file name matches among ${found.looked} names; ${hint}; skipped: ${SKIPPED}`);
  }
  const text = [...found.paths.map(visibleLine), ...notes.map((note) => `[${note}]`)].join("\n");
  return { text, meta: { files: found.paths.length, more: found.more } };
}

async function byContent(
  inside: Inside,
  input: Input & { pattern: string },
  options: SearchOptions,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { pattern, glob, max = DEFAULT_MAX, ignore_case: ignoreCase = false, context = 0 } = input;
  const program = await findRipgrep(options.ripgrepDirs);
  const find = (query: Query) => (program ? ripgrep(program, inside, query, signal) : scan(inside, query, signal));
  const query: Query = { pattern, max, ignoreCase, context, ...defined({ glob }) };
  const found = await find(query);
  const notes = [...found.notes];
  if (found.hits.length === 0) {
    const other = ignoreCase || found.notes.length ? undefined : await find({ ...query, ignoreCase: true, context: 0 });
    notes.unshift(nothing(found, other, { glob, isFile: inside.kind === "file", ignoreCase }));
  }
  const meta = { hits: found.hits.filter((hit) => !hit.isContext).length, more: found.more, by: program ?? "scan" };
  return { text: render({ ...found, notes }, max), meta };
}

/** What was looked at, and what another call would find. */
function nothing(
  found: SearchResult,
  other: SearchResult | undefined,
  of: { glob: string | undefined; isFile: boolean; ignoreCase: boolean },
): string {
  const files = found.files === undefined ? "" : ` in ${found.files} ${found.files === 1 ? "file" : "files"}`;
  if (found.files === 0 && of.glob)
    return `No file matches the glob ${visibleLine(of.glob)}, so nothing was searched. Use glob alone to look for names.`;
  const first = other?.hits[0];
  if (other && first) {
    const count = other.more ? `more than ${other.hits.length}` : `${other.hits.length}`;
    const where = `${visibleLine(first.path)}:${first.line}`;
    return `No line matches${files}; with ignore_case: true ${count} would, the first at ${where}.`;
  }
  const tried = other || of.ignoreCase ? ", even ignoring case" : "";
  const skipped = `${SKIPPED} (name one as path to search it), binary files and files over ${MOST_FILE_BYTES / 1024 / 1024} MB`;
  return `No line matches${files}${tried}.${of.isFile ? "" : ` Not searched: ${skipped}.`} Try a shorter or simpler pattern.`;
}

function render({ hits, more, notes }: SearchResult, max: number): string {
  const lines: string[] = [];
  let room = MOST_TEXT;
  for (const { path, line, text, isContext } of hits) {
    const shown = isContext ? `${visibleLine(path)}-${line}- ${text}` : `${visibleLine(path)}:${line}: ${text}`;
    room -= shown.length + 1;
    if (room < 0) break;
    lines.push(shown);
  }
  const isCut = lines.length < hits.length;
  if (isCut) notes.unshift(`cut after ${lines.length} lines; narrow it with path, glob or pattern`);
  else if (more) notes.unshift(`cut at ${max} hits; narrow it with path, glob or pattern, or raise max`);
  return [...lines, ...notes.map((note) => `[${note}]`)].join("\n");
}
