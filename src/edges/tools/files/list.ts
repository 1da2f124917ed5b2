/** `list`: names in a directory, sorted, directories with a slash, links marked and never followed. */
import { z } from "zod";
import type { Tool } from "../../../core/contracts/index.ts";
import { visibleLine } from "../escape.ts";
import { parseInput, wholeNumber } from "../input.ts";
import { orNear, rootedForReading, translate, walkTree, withInside } from "../paths/index.ts";
import { planFile } from "./plan.ts";

const MARKS: Readonly<Record<string, string>> = { directory: "/", link: "@" };

/** About 5k tokens; a bigger answer helps nobody. */
export const MOST = 500;
/** Shown, not entered: they would push out everything else. Naming one as `path` lists it. */
const CLOSED = new Set([".git", "node_modules"]);

const schema = z.strictObject({ path: z.string().min(1).optional(), depth: wholeNumber(1, 10).optional() });

export function createList(): Tool {
  return {
    spec: {
      name: "list",
      description: `List the files and folders of a folder, at most ${MOST}; .git and node_modules stay closed. To find files anywhere use search.`,
      input: {
        type: "object",
        properties: {
          path: { type: "string", description: "default: the workspace" },
          depth: { type: "integer", description: "how many levels deep; default 1" },
        },
      },
    },
    repeat: "safe",
    opensFiles: () => true,
    async plan(input, place) {
      const { path = ".", depth = 1 } = parseInput("list", schema, input);
      const details = depth > 1 ? `, ${depth} levels` : "";
      return planFile({ tool: "list", risk: "read", place, path, parents: "imagine", details, binding: {} });
    },
    async run(input, place, _key, signal) {
      const { path = ".", depth = 1 } = parseInput("list", schema, input);
      const names = () =>
        withInside({ ...rootedForReading(place, path) }, async (inside) => {
          const lines: string[] = [];
          const notes: string[] = [];
          const onMore = (where: string) =>
            notes.push(`[${where} has more names than list reads: use search with glob]`);
          try {
            for await (const entry of walkTree(inside.directory(), { depth, closed: CLOSED, onMore })) {
              signal.throwIfAborted();
              if (lines.length >= MOST) {
                notes.push(`[cut at ${MOST} names; list a directory below, or use search]`);
                break;
              }
              lines.push(visibleLine(entry.path) + (MARKS[entry.kind] ?? ""));
            }
          } catch (error) {
            throw translate(error, path);
          }
          const text = [...lines, ...notes].join("\n") || "[empty directory]";
          const meta = { path: inside.path, entries: lines.length, cut: notes.length > 0 };
          // Anyone can name a file: names are text from outside.
          return { text, meta, ...(lines.length + notes.length === 0 ? { origin: "own" as const } : {}) };
        });
      return orNear(place, path, names);
    },
  };
}
