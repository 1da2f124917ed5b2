/**
 * What a server answered to a call, as a model reads it. All of it is text from outside. Structured content is kept beside the words
 * for people and programs; a model reads it only where there are no words, because servers repeat it as text.
 */
import { z } from "zod";
import type { ToolResult } from "../../../../core/contracts/index.ts";
import { assertNever, type Json, type JsonObject } from "../../../../core/domain/index.ts";
import { defined, withoutHidden } from "../../../../core/kit/index.ts";

/** As much as other tools may say at once; the caller writes the whole to a file. */
const MOST_TEXT = 30_000;
/** Bounds on what one answer may make us hold in memory; real servers stay far below them. */
const MOST_BLOCKS = 1000;
const MOST_IMAGES = 8;
const MOST_IMAGE_BYTES = 5 * 1024 * 1024;
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

const block = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.literal("image"), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal("audio"), data: z.string(), mimeType: z.string() }),
  z.looseObject({
    type: z.literal("resource"),
    resource: z.looseObject({ uri: z.string(), text: z.string().optional(), blob: z.string().optional() }),
  }),
  z.looseObject({ type: z.literal("resource_link"), uri: z.string(), name: z.string().optional() }),
]);

export interface McpAnswer {
  content?: unknown;
  structuredContent?: unknown;
  isError?: boolean;
}

export interface Picture {
  mediaType: string;
  bytes: Buffer;
}

export interface ReadAnswer extends ToolResult {
  /** All of the words, where `text` has only their beginning. */
  whole: string;
  /** Not stored anywhere yet: the caller stores them with the session. */
  pictures: Picture[];
}

export function readAnswer(server: string, answer: McpAnswer): ReadAnswer {
  const blocks = Array.isArray(answer.content) ? answer.content.slice(0, MOST_BLOCKS) : [];
  const pictures: Picture[] = [];
  const lines = blocks.map((raw: unknown) => say(raw, pictures));
  const structured = answer.structuredContent as Json | undefined;
  if (!lines.some(Boolean) && structured !== undefined) lines.push(JSON.stringify(structured));
  const whole = withoutHidden(lines.filter(Boolean).join("\n")) || "(no text)";
  const meta: JsonObject = { server, ...defined({ structured }) };
  return {
    text: whole.length > MOST_TEXT ? whole.slice(0, MOST_TEXT) : whole,
    whole,
    origin: "outside",
    meta,
    ...(answer.isError ? { isError: true } : {}),
    pictures,
  };
}

/** One block in words; a picture also goes to `pictures`. */
function say(raw: unknown, pictures: Picture[]): string {
  const read = block.safeParse(raw);
  // The rest of the answer may still be useful, so one unknown block doesn't spoil it.
  if (!read.success) return "[a part of a kind that Lares doesn't know]";
  const part = read.data;
  switch (part.type) {
    case "text":
      return part.text;
    case "image": {
      // From the length of the base64, without decoding: a huge picture isn't worth the memory.
      const bytes = Math.floor((part.data.length * 3) / 4);
      const isShown = PICTURES.has(part.mimeType) && bytes <= MOST_IMAGE_BYTES && pictures.length < MOST_IMAGES;
      if (isShown) pictures.push({ mediaType: part.mimeType, bytes: Buffer.from(part.data, "base64") });
      return `[picture, ${part.mimeType}, ${bytes} bytes${isShown ? "" : "; not shown"}]`;
    }
    case "audio":
      return `[sound, ${part.mimeType}]`;
    case "resource":
      return part.resource.text ?? `[${part.resource.uri}: not text]`;
    case "resource_link":
      return `[${part.name ?? "resource"}: ${part.uri}]`;
    default:
      return assertNever(part);
  }
}
