/**
 * The text of a PDF. The parser (unpdf: pdf.js in one file) is loaded in the parser's process, so an unused feature costs nothing.
 * Pictures in it are not read; scanned pages have no text.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { AppError } from "../../core/domain/index.ts";
import { type Parse, ParserFailed } from "./child.ts";
import { PDF_SOURCE } from "./pdf-source.ts";

export interface PdfText {
  /** Page after page, each headed by its number, up to `mostChars`. */
  text: string;
  pages: number;
  /** How many of them `text` has; the last one may be cut. */
  pagesRead: number;
  title?: string | undefined;
}

export interface PdfLimits {
  /** Reading stops when so much text is there. */
  mostChars?: number;
  /** By the clock; the processor time is at most half of it. */
  mostMs?: number;
}

/** A book of 500 pages takes 1 to 3 s of processor time. */
const MOST_MS = 30_000;
const MOST_CHARS = 2_000_000;
/** A file of 32 MB is there up to three times: as it came, as the parser's copy, and its largest stream unpacked. */
const WALLS = { heapMb: 256, memoryMb: 640 };

const answer = z.object({
  text: z.string(),
  pages: z.number(),
  pagesRead: z.number(),
  title: z.string().optional(),
});

export async function readPdf(
  parse: Parse,
  bytes: Uint8Array,
  limits: PdfLimits = {},
  signal?: AbortSignal,
): Promise<PdfText> {
  const { mostChars = MOST_CHARS, mostMs = MOST_MS } = limits;
  const parser = pathToFileURL(createRequire(import.meta.url).resolve("unpdf")).href.replace(/\.cjs$/, ".mjs");
  const job = {
    source: PDF_SOURCE,
    options: { mostChars, parser },
    input: bytes,
    walls: { ...WALLS, cpuMs: mostMs / 2, mostMs },
  };
  try {
    return answer.parse(await parse(job, signal));
  } catch (error) {
    throw error instanceof ParserFailed ? unreadable(error) : error;
  }
}

/** The pages of a text as `readPdf` gives it, those without text left out. */
export function pagesIn(text: string): { page: number; text: string }[] {
  return text.split(/^(?=\[Page \d+\]$)/m).flatMap((piece) => {
    const [, page, rest] = /^\[Page (\d+)\]\n([\s\S]*)$/.exec(piece) ?? [];
    return page && rest?.trim() ? [{ page: Number(page), text: rest }] : [];
  });
}

function unreadable(cause: ParserFailed): AppError {
  const isLocked = /password/i.test(cause.why);
  return new AppError("TYPE_REFUSED", {
    message: isLocked ? "The PDF is locked with a password." : `The PDF could not be read: ${cause.why}.`,
    hint: isLocked ? "Give a copy without one." : "Give its text instead.",
    cause,
  });
}
