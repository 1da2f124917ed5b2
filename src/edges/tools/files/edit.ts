/**
 * `edit`: one exact piece of a file becomes another. Not found exactly once is a failure that helps the next try.
 * `repeat` is `never`: the same edit again could hit another place. The file is replaced atomically, so after a crash it
 * is the old or the new one, and the probe can nearly always say which; where it is the old one, the edit runs now.
 */
import { z } from "zod";
import type { Probed, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { flag, parseInput } from "../input.ts";
import { type Inside, rooted, withInside, wrongInput } from "../paths/index.ts";
import { decodeText } from "./content.ts";
import { positions, type Replaced, replaceIn } from "./match.ts";
import { planFile, sha256 } from "./plan.ts";

/** Files people edit are far smaller; above it, matching would hold up the process. */
const MOST_BYTES = 10 * 1024 * 1024;

const schema = z.strictObject({
  path: z.string().min(1),
  old: z.string(),
  new: z.string(),
  all: flag.optional(),
});
type Input = z.output<typeof schema>;

export function createEdit(): Tool {
  return {
    spec: {
      name: "edit",
      description:
        "Replace one piece of text in a file. Read the file first and copy old exactly, with its indentation and enough lines around it to occur once. For several files use apply_patch.",
      input: {
        type: "object",
        properties: {
          path: { type: "string", description: "relative to the workspace" },
          old: { type: "string", description: "the text as it stands, without line numbers" },
          new: { type: "string" },
          all: { type: "boolean", description: "replace every match" },
        },
        required: ["path", "old", "new"],
      },
    },
    repeat: "never",
    opensFiles: () => true,
    async plan(raw, place) {
      const input = checked(raw);
      return planFile(
        {
          tool: "edit",
          risk: "write",
          place,
          path: input.path,
          details: `:\n${marked("- ", input.old)}\n${marked("+ ", input.new)}`,
          binding: { old: sha256(input.old), new: sha256(input.new), all: input.all ?? false },
        },
        async (inside) => {
          inside.checkWritable();
          const { before, after } = await replacement(inside, input);
          return {
            details: `, ${where(after)}`,
            binding: { before: sha256(before), after: sha256(after.text) },
            leaves: sha256(after.text),
          };
        },
      );
    },
    async run(raw, place, key, signal) {
      const input = checked(raw);
      signal.throwIfAborted();
      return withInside({ ...rooted(place, input.path) }, async (inside) => {
        inside.checkWritable();
        const { after } = await replacement(inside, input);
        await inside.writeAtomic(after.text, key);
        const note = after.note ? ` ${after.note}` : "";
        return {
          text: `edited ${visibleLine(inside.path)}, ${where(after)}.${note}`,
          meta: { path: inside.path, replacements: after.lines.length, lines: after.lines.slice(0, 100) },
          ...(inside.isAsGiven ? { origin: "own" as const } : {}),
        };
      });
    },
    async probe(raw, place, key) {
      return probe(checked(raw), place, key);
    },
  };
}

function checked(raw: Parameters<Tool["plan"]>[0]): Input {
  const input = parseInput("edit", schema, raw);
  if (input.old === "")
    throw wrongInput('edit: Field "old" is empty.', "To make or replace a whole file use write.", "own");
  if (input.old === input.new)
    throw wrongInput('edit: "old" and "new" are the same; nothing would change.', undefined, "own");
  return input;
}

async function replacement(inside: Inside, input: Input): Promise<{ before: string; after: Replaced }> {
  const before = decodeText(await inside.readFile(MOST_BYTES));
  if (before === undefined) throw wrongInput(`"${visibleLine(inside.path)}" is not UTF-8 text.`);
  const match = replaceIn(before, input.old, input.new, input.all ?? false);
  if (match.ok) return { before, after: match };
  const name = visibleLine(inside.path);
  if (match.count > 1) {
    throw wrongInput(
      `The old text occurs ${match.count} times in ${name} (lines ${match.lines.slice(0, 10).join(", ")}${match.lines.length > 10 ? ", …" : ""}); nothing was changed.`,
      "Give more of the surrounding lines so that it occurs once, or set all.",
    );
  }
  const near = match.nearest ? ` The nearest lines are:\n${match.nearest}` : " Nothing in it is like it.";
  throw wrongInput(
    `The old text occurs 0 times in ${name}; nothing was changed.${near}`,
    "Read the file again and copy the text exactly.",
  );
}

/** What the file says about an edit whose outcome was not recorded. */
async function probe(input: Input, place: ToolPlace, key: string): Promise<Probed<ToolResult>> {
  return withInside({ ...rooted(place, input.path), parents: "imagine" }, async (inside) => {
    await inside.discard(key);
    if (inside.kind !== "file") return undefined;
    const text = decodeText(await inside.readFile(MOST_BYTES));
    if (text === undefined) return undefined;
    const hasNew = input.new !== "" && text.includes(input.new);
    // The new text may contain the old one; only what stands outside of it counts.
    const rest = input.new === "" ? text : text.split(input.new).join("\0");
    const oldLeft = positions(rest, input.old).length;
    const name = visibleLine(inside.path);
    const meta = { path: inside.path, probed: true };
    if (oldLeft === 0 && (hasNew || input.new === "")) {
      return { ok: { text: `edited ${name}: the new text is in place and the old one is gone.`, meta } };
    }
    return oldLeft > 0 && !hasNew ? { never: true } : undefined;
  });
}

function where({ lines }: Replaced): string {
  const shown = lines.slice(0, 10).join(", ") + (lines.length > 10 ? ", …" : "");
  return lines.length === 1 ? `1 replacement at line ${shown}` : `${lines.length} replacements at lines ${shown}`;
}

function marked(sign: string, text: string): string {
  return visible(text)
    .split("\n")
    .map((line) => sign + line)
    .join("\n");
}
