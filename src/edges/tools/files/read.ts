/**
 * `read`: lines of a text file. Text comes as it is in the file, so that `edit` can match what was read; a web page, too, is read
 * as its source. The text of a PDF comes page by page. An image is described and comes along as a picture, for models that see. `skill:NAME` and `skill:NAME/FILE` are the words and files of a skill: no tool of its own, so that skills cost
 * nothing in the list of tools.
 */
import type { FileHandle } from "node:fs/promises";
import { posix } from "node:path";
import { z } from "zod";
import type { Tool, ToolCaller, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import type { ImagePart } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";
import { parseInput, wholeNumber } from "../input.ts";
import { orNear, rootedForReading, withInside } from "../paths/index.ts";
import { planSkill, type SkillPort, skillPath, skillWords } from "../skills/skills.ts";
import { binaryKind, humanSize, imageSize, imageType } from "./content.ts";
import { readWindow, type Window } from "./lines.ts";
import { planFile } from "./plan.ts";

/** Enough for nearly every source file; a bigger one is read in parts. */
export const LINES = 2000;
/** About 16k tokens: a quarter of the smallest context window in use. */
export const BYTES = 64 * 1024;
/** What providers take of one image. */
export const IMAGE_BYTES = 5 * 1024 * 1024;
/** Enough to find the size of a photograph behind its camera's notes. */
const LOOKED_AT = 64 * 1024;

const schema = z.strictObject({
  path: z.string().min(1),
  offset: wholeNumber(1, 1_000_000_000).optional(),
  limit: wholeNumber(1, LINES).optional(),
});

/** Mostly pictures and fonts; the text in it is far less. */
const PDF_BYTES = 32 * 1024 * 1024;

export interface ReadOptions {
  /** The text of a PDF, pages marked. Throws AppError when it cannot be read. Without it such a file is only named. */
  pdf?: (bytes: Uint8Array, signal: AbortSignal) => Promise<{ text: string; pages: number; pagesRead: number }>;
  /** Keeps a picture with the session, so that models that see can look at it, now and later in the conversation. */
  keepPicture?: (picture: { name: string; bytes: Buffer; caller: ToolCaller }) => Promise<ImagePart | undefined>;
  /** What paths that begin with `skill:` stand for. Without it they are paths like others. */
  skills?: SkillPort;
}

interface Lines extends Pick<ReadOptions, "pdf" | "keepPicture"> {
  offset: number;
  limit: number;
  caller: ToolCaller;
}

export function createRead({ pdf, skills, keepPicture }: ReadOptions = {}): Tool {
  return {
    spec: {
      name: "read",
      description: `Read a file: text, the text of a PDF, or a picture (up to ${IMAGE_BYTES / 1024 / 1024} MB). Use it before you change a file, and instead of cat. Shows up to ${LINES} lines or ${BYTES / 1024} KB; a longer file says how to read on with offset.`,
      input: {
        type: "object",
        properties: {
          path: { type: "string", description: "relative to the workspace, or skill:NAME" },
          offset: { type: "integer", description: "first line, from 1" },
          limit: { type: "integer", description: `lines; default ${LINES}` },
        },
        required: ["path"],
      },
    },
    repeat: "safe",
    opensFiles: () => true,
    async plan(input, place) {
      const { path, offset, limit } = parseInput("read", schema, input);
      const range = offset || limit ? `, lines ${offset ?? 1} to ${(offset ?? 1) + (limit ?? LINES) - 1}` : "";
      const named = skills && skillPath(path);
      if (named) return planSkill(skills, named, place, range);
      return planFile({ tool: "read", risk: "read", place, path, parents: "imagine", details: range, binding: {} });
    },
    async run(input, place, _key, signal) {
      const { path, offset, limit } = parseInput("read", schema, input);
      const lines: Lines = {
        offset: offset ?? 1,
        limit: limit ?? LINES,
        caller: place.caller,
        ...defined({ pdf, keepPicture }),
      };
      const named = skills && skillPath(path);
      if (!named) return orNear(place, path, () => readFile(rootedForReading(place, path), lines, signal));
      const isWhole = named.file === "" && offset === undefined && limit === undefined;
      return readSkill(skills, named, { place, lines, isWhole }, signal);
    },
  };
}

async function readSkill(
  skills: SkillPort,
  named: { name: string; file: string },
  how: { place: ToolPlace; lines: Lines; isWhole: boolean },
  signal: AbortSignal,
): Promise<ToolResult> {
  const { agent } = how.place.caller;
  const { root, own } = await skills.open(agent, named.name);
  const words = how.isWhole ? await skillWords(skills, agent, named.name, BYTES) : undefined;
  const result = words ?? (await readFile({ root, path: named.file || "SKILL.md" }, how.lines, signal));
  // Its paths are not the workspace's: nobody may look for them there.
  const meta = { skill: named.name, ...truthy({ file: named.file }) };
  return { ...result, meta, origin: own ? "own" : "outside" };
}

function readFile(at: { root: string; path: string }, lines: Lines, signal: AbortSignal): Promise<ToolResult> {
  const { offset, limit, pdf } = lines;
  return withInside(at, async (inside) => {
    const file = await inside.open();
    try {
      const { size } = await file.stat();
      const room = Buffer.alloc(Math.min(LOOKED_AT, size));
      const { bytesRead } = await file.read(room, 0, room.length, 0);
      const start = room.subarray(0, bytesRead);
      const image = imageType(start);
      if (image) {
        const about = describeImage({ path: inside.path, mediaType: image, bytes: size }, start);
        return size > IMAGE_BYTES ? about : { ...about, ...(await shownPicture(lines, inside.path, file)) };
      }
      if (pdf && start.subarray(0, 5).toString("latin1") === "%PDF-" && size <= PDF_BYTES) {
        const bytes = await file.readFile();
        return { ...pdfLines(await pdf(bytes, signal), offset, limit), meta: { path: inside.path, bytes: size } };
      }
      const kind = binaryKind(start);
      if (kind) {
        const text = `[${visibleLine(inside.path)} is not text: ${kind}, ${humanSize(size)}]`;
        return { text, meta: { path: inside.path, bytes: size, binary: kind } };
      }
      const window = await readWindow(file, { offset, limit, bytes: BYTES }, signal);
      const meta = { path: inside.path, bytes: size, first: window.first, last: window.last };
      return { text: render(window, size), meta };
    } finally {
      await file.close();
    }
  });
}

/** Lines of what the pages say, as of any text; each page is headed by its number. */
function pdfLines(read: { text: string; pages: number; pagesRead: number }, offset: number, limit: number): ToolResult {
  const { text, pages, pagesRead } = read;
  const count = pages === 1 ? "1 page" : `${pages} pages`;
  if (!text) return { text: `[a PDF of ${count} without text in it; they may be scanned pictures]` };
  const lines = text.split("\n");
  if (offset > lines.length) return { text: `[its text has ${lines.length} lines; offset ${offset} is past its end]` };
  const shown: string[] = [];
  let room = BYTES;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    room -= Buffer.byteLength(line) + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(line.slice(0, BYTES));
  }
  const last = offset - 1 + shown.length;
  const notes = [`PDF, ${count}`, `lines ${offset} to ${last} of its ${lines.length} lines of text`];
  if (last < lines.length) notes.push(`it goes on: read with offset ${last + 1}`);
  else if (pagesRead < pages) notes.push(`cut after page ${pagesRead}`);
  return { text: `${shown.join("\n")}\n[${notes.join("; ")}]` };
}

/** The session shows the picture to models that support images; for others, or without storage, there is only the description. */
async function shownPicture({ keepPicture, caller }: Lines, path: string, file: FileHandle) {
  if (!keepPicture) return {};
  const whole = Buffer.alloc(IMAGE_BYTES);
  const { bytesRead } = await file.read(whole, 0, IMAGE_BYTES, 0);
  const kept = await keepPicture({ name: posix.basename(path), bytes: whole.subarray(0, bytesRead), caller });
  return kept ? { images: [kept] } : {};
}

function describeImage(image: { path: string; mediaType: string; bytes: number }, start: Buffer): ToolResult {
  const { path, mediaType, bytes } = image;
  const size = imageSize(start);
  const pixels = size ? `, ${size.width} × ${size.height} pixels` : "";
  const what = `${visibleLine(path)} is an image: ${mediaType}${pixels}, ${humanSize(bytes)}`;
  const meta = { path, bytes, binary: mediaType };
  if (bytes > IMAGE_BYTES)
    return { text: `[${what}; pictures over ${humanSize(IMAGE_BYTES)} can't be shown: make it smaller first]`, meta };
  return { text: `[${what}]`, meta };
}

function render(window: Window, size: number): string {
  const { first, last, total, cut } = window;
  if (size === 0 || total === 0) return "[the file is empty]";
  if (total !== undefined && first > total) return `[the file has ${total} lines; offset ${first} is past its end]`;
  const body = window.content.toString("utf8");
  if (first === 1 && total !== undefined) return body;
  const notes = [`lines ${first} to ${last}${total === undefined ? "" : ` of ${total}`}`];
  if (cut)
    notes.push(`line ${last} is longer than ${humanSize(BYTES)} and is cut; exec with cut or head shows the rest`);
  if (total === undefined) notes.push(`the file goes on (${humanSize(size)}): read with offset ${last + 1}`);
  return `${body}${body.endsWith("\n") ? "" : "\n"}[${notes.join("; ")}]`;
}
