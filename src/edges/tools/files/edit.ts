/**
 * `edit`: one exact piece of a file becomes another. Not found exactly once is a failure that helps the next try.
 * `repeat` is `never`: the same edit again could hit another place. The file is replaced atomically, so after a crash it
 * is the old or the new one, and the probe can nearly always say which; where it is the old one, the edit runs now.
 */
import { z } from "zod";
import type { Probed, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import type { AppError } from "../../../core/domain/index.ts";
import { trimEndCharacters } from "../../../core/kit/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { flag, parseInput } from "../input.ts";
import { type Inside, orNear, rooted, withInside, wrongInput } from "../paths/index.ts";
import { decodeText } from "./content.ts";
import { positions, type Replaced, replaceIn, standsLoosely, type TextMatch } from "./match.ts";
import { nearestWords, numbered } from "./nearest.ts";
import { planFile, sha256 } from "./plan.ts";

/** Files people edit are far smaller; above it, matching would hold up the process. */
const MOST_BYTES = 10 * 1024 * 1024;
/** Places named, and changed lines shown again. */
const MOST_PLACES = 10;
const MOST_LINES = 12;

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
          new: { type: "string", description: "the replacement text" },
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
            details: `, ${where(after)}${after.put === undefined ? "" : ", in the file's indentation"}`,
            binding: { before: sha256(before), after: sha256(after.text) },
            leaves: sha256(after.text),
          };
        },
      );
    },
    async run(raw, place, key, signal) {
      const input = checked(raw);
      signal.throwIfAborted();
      const work = () =>
        withInside({ ...rooted(place, input.path) }, async (inside): Promise<ToolResult> => {
          inside.checkWritable();
          const { after } = await replacement(inside, input);
          await inside.writeAtomic(after.text, key);
          const note = after.note ? ` ${after.note}` : "";
          return {
            text: `edited ${visibleLine(inside.path)}, ${where(after)}.${note}${nowThere(after, input.new)}`,
            meta: { path: inside.path, replacements: after.lines.length, lines: after.lines.slice(0, 100) },
            // Lines that kept the file's white space keep the file's words, too.
            ...(inside.isAsGiven && after.put === undefined ? { origin: "own" as const } : {}),
          };
        });
      return orNear(place, input.path, work);
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
  throw noMatch(match, inside.path);
}

/** Says what to do next: which lines to copy, or what would make it one place. */
function noMatch(match: Extract<TextMatch, { ok: false }>, path: string): AppError {
  const name = visibleLine(path);
  if (match.count > 1) {
    return wrongInput(
      `The old text occurs ${match.count} times in ${name} (lines ${joinFirst(match.lines)}); nothing was changed.`,
      "Give more of the surrounding lines so that it occurs once, or set all.",
    );
  }
  if (match.drifted.length > 1) {
    return wrongInput(
      `The old text occurs 0 times in ${name}; apart from white space it would match at lines ${joinFirst(match.drifted)}. Nothing was changed.`,
      "Copy the lines you mean with their white space, or give more of the surrounding lines.",
    );
  }
  const around = Math.max(1, (match.nearest?.line ?? 1) - 5);
  const again = JSON.stringify(match.nearest ? { path, offset: around, limit: 40 } : { path });
  return wrongInput(
    `The old text occurs 0 times in ${name}; nothing was changed.${nearestWords(match.nearest)}`,
    `Copy the text exactly as it stands in the file. To see more of it: read ${again}`,
  );
}

function joinFirst(lines: readonly number[]): string {
  return lines.slice(0, MOST_PLACES).join(", ") + (lines.length > MOST_PLACES ? ", …" : "");
}

/** The first changed lines as they stand now: the new text alone, so that nothing of the file is said. */
function nowThere({ lines, put, within }: Replaced, fresh: string): string {
  if (lines.length !== 1 || fresh === "") return "";
  const whole = trimEndCharacters(put ?? fresh, "\n");
  const text = `${within?.before ? "…" : ""}${whole}${within?.behind ? "…" : ""}`.split("\n", MOST_LINES + 1);
  return `\n${numbered(text.slice(0, MOST_LINES), lines[0]!)}${text.length > MOST_LINES ? "\n…" : ""}`;
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
    if (hasNew) return undefined;
    if (oldLeft > 0) return { never: true };
    // An old text that differs in white space only stands there still, and nothing like the new one does.
    const isOpen = replaceIn(text, input.old, input.new, input.all ?? false).ok && !standsLoosely(text, input.new);
    return isOpen ? { never: true } : undefined;
  });
}

function where({ lines }: Replaced): string {
  const shown = joinFirst(lines);
  return lines.length === 1 ? `1 replacement at line ${shown}` : `${lines.length} replacements at lines ${shown}`;
}

function marked(sign: string, text: string): string {
  return visible(text)
    .split("\n")
    .map((line) => sign + line)
    .join("\n");
}
