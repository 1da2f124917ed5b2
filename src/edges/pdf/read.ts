/**
 * The text of a PDF. Parsing happens in a worker thread with a limit of memory and time: a file made to keep a parser busy
 * keeps that thread busy and nobody else. The parser (unpdf: pdf.js in one file) is loaded there, so an unused feature costs
 * nothing. Pictures in it are not read; scanned pages have no text.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { AppError } from "../../core/domain/index.ts";

export interface PdfText {
  /** Page after page, each headed by its number, up to `mostChars`. */
  text: string;
  pages: number;
  /** How many of them `text` has; the last one may be cut. */
  pagesRead: number;
  title?: string;
}

export interface PdfLimits {
  /** Reading stops when so much text is there. */
  mostChars?: number;
  mostMs?: number;
}

/** A book of 500 pages takes about 3 s on a slow machine. */
const MOST_MS = 15_000;
const MOST_CHARS = 2_000_000;
const MOST_MB = 512;

/** Throws TYPE_REFUSED when it cannot be read (broken, locked, too much for the parser); the reason of `signal` on abort. */
export async function readPdf(bytes: Uint8Array, limits: PdfLimits = {}, signal?: AbortSignal): Promise<PdfText> {
  signal?.throwIfAborted();
  const { mostChars = MOST_CHARS, mostMs = MOST_MS } = limits;
  const parser = pathToFileURL(createRequire(import.meta.url).resolve("unpdf")).href.replace(/\.cjs$/, ".mjs");
  const worker = new Worker(WORKER, {
    eval: true,
    env: {},
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    workerData: { bytes, mostChars, parser },
    resourceLimits: { maxOldGenerationSizeMb: MOST_MB },
  });
  let stop = () => {};
  try {
    return await new Promise<PdfText>((resolve, reject) => {
      const timer = setTimeout(() => reject(unreadable("it took too long")), mostMs);
      const abort = () => reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      stop = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      worker.once("message", (answer: PdfText | { failed: string }) =>
        "failed" in answer ? reject(unreadable(answer.failed)) : resolve(answer),
      );
      worker.once("error", (error: Error) => reject(unreadable(error.message, error)));
      worker.once("exit", () => reject(unreadable("the parser ended")));
    });
  } finally {
    stop();
    await worker.terminate();
  }
}

/** Its pages, those without text left out: for whoever keeps them apart. */
export async function pdfPages(bytes: Uint8Array): Promise<{ page: number; text: string }[]> {
  const { text } = await readPdf(bytes);
  return pagesIn(text);
}

/** The pages of a text as `readPdf` gives it. */
export function pagesIn(text: string): { page: number; text: string }[] {
  return text.split(/^(?=\[Page \d+\]$)/m).flatMap((piece) => {
    const [, page, rest] = /^\[Page (\d+)\]\n([\s\S]*)$/.exec(piece) ?? [];
    return page && rest?.trim() ? [{ page: Number(page), text: rest }] : [];
  });
}

function unreadable(why: string, cause?: unknown): AppError {
  const isLocked = /password/i.test(why);
  return new AppError("TYPE_REFUSED", {
    message: isLocked ? "The PDF is locked with a password." : `The PDF could not be read: ${why}.`,
    hint: isLocked ? "Give a copy without one." : "Give its text instead.",
    cause,
  });
}

/**
 * As source: a string runs the same from the sources, from the bundle and under any test runner. Words stand in the order of
 * the file; a new line where the file says so, or where the height on the page changes.
 */
const WORKER = String.raw`
"use strict";
const { parentPort, workerData: { bytes, mostChars, parser } } = require("node:worker_threads");
(async () => {
  const { getDocumentProxy } = await import(parser);
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, isEvalSupported: false });
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  let text = "";
  let pagesRead = 0;
  while (pagesRead < pdf.numPages && text.length < mostChars) {
    const page = await pdf.getPage(++pagesRead);
    const { items } = await page.getTextContent();
    let said = "";
    let height;
    for (const item of items) {
      if (typeof item.str !== "string") continue;
      const at = item.transform[5];
      if (height !== undefined && Math.abs(at - height) > 1 && said && !said.endsWith("\n")) said += "\n";
      said += item.str + (item.hasEOL ? "\n" : "");
      if (item.str.trim()) height = at;
    }
    said = said.replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").trim();
    if (said) text += (text ? "\n\n" : "") + "[Page " + pagesRead + "]\n" + said;
    page.cleanup();
  }
  const title = typeof info?.Title === "string" ? info.Title.trim() : "";
  parentPort.postMessage({ text: text.slice(0, mostChars), pages: pdf.numPages, pagesRead, ...(title ? { title } : {}) });
})().catch((error) => parentPort.postMessage({ failed: String(error?.message ?? error).replace(/\.$/, "") }));
`;
