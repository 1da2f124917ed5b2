/** `search`: lines that match a regular expression, as `path:line: text`. */
import { z } from "zod";
import type { Tool } from "../../../core/contracts/index.ts";
import { visibleLine } from "../escape.ts";
import { planFile } from "../files/plan.ts";
import { parseInput, wholeNumber } from "../input.ts";
import { notFound, rootedForReading, translate, withInside } from "../paths/index.ts";
import type { Found } from "./found.ts";
import { findRipgrep, ripgrep } from "./ripgrep.ts";
import { scan } from "./scan.ts";

const DEFAULT_MAX = 100;

const schema = z.strictObject({
  pattern: z.string().min(1).max(1000),
  path: z.string().min(1).optional(),
  glob: z.string().min(1).max(200).optional(),
  max: wholeNumber(1, 1000).optional(),
});

export interface SearchOptions {
  /** Where ripgrep may be taken from; empty for our own scan only. */
  ripgrepDirs?: readonly string[];
}

export function createSearch(options: SearchOptions = {}): Tool {
  return {
    spec: {
      name: "search",
      description: `Find lines in files by a regular expression, with file and line number. Use it instead of grep or find. Hidden, ignored and binary files are skipped.`,
      input: {
        type: "object",
        properties: {
          pattern: { type: "string", description: "regular expression; case matters" },
          path: { type: "string", description: "file or folder; default: the workspace" },
          glob: { type: "string", description: "only these files, e.g. *.ts" },
          max: { type: "integer", description: `lines; default ${DEFAULT_MAX}` },
        },
        required: ["pattern"],
      },
    },
    repeat: "safe",
    opensFiles: () => true,
    async plan(input, place) {
      const { pattern, path = ".", glob } = parseInput("search", schema, input);
      const details = ` for ${visibleLine(pattern)}${glob ? ` in ${visibleLine(glob)}` : ""}`;
      return planFile({ tool: "search", risk: "read", place, path, parents: "imagine", details, binding: { pattern } });
    },
    async run(input, place, _key, signal) {
      const { pattern, path = ".", glob, max = DEFAULT_MAX } = parseInput("search", schema, input);
      return withInside({ ...rootedForReading(place, path) }, async (inside) => {
        if (inside.kind === "missing") throw notFound(path);
        const program = await findRipgrep(options.ripgrepDirs);
        const query = { pattern, max, ...(glob === undefined ? {} : { glob }) };
        try {
          const found = program ? await ripgrep(program, inside, query, signal) : await scan(inside, query, signal);
          return { text: render(found), meta: { hits: found.hits.length, more: found.more, by: program ?? "scan" } };
        } catch (error) {
          throw translate(error, path);
        }
      });
    },
  };
}

function render({ hits, more, notes }: Found): string {
  const lines = hits.map((hit) => `${visibleLine(hit.path)}:${hit.line}: ${hit.text}`);
  if (more) notes.unshift(`cut at ${hits.length} lines; narrow it with path, glob or pattern`);
  if (lines.length === 0 && notes.length === 0) return "[no line matches]";
  if (lines.length === 0) notes.unshift("no line matches");
  return [...lines, ...notes.map((note) => `[${note}]`)].join("\n");
}
