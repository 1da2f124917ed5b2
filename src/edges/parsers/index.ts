/** Parsers of what others made (PDFs, web pages), each in a separate process and in one line. */
import { type Confine, type Parse, runInChild } from "./child.ts";
import { WorkLine } from "./line.ts";
import { type PageSource, type ReadablePage, readPage } from "./page.ts";
import { type PdfLimits, type PdfText, pagesIn, readPdf } from "./pdf.ts";

export type { Confine };

export interface Parsers {
  /** Throws TYPE_REFUSED when it cannot be read (broken, locked, too much for the parser), TOO_MANY when too many wait. */
  pdf(bytes: Uint8Array, limits?: PdfLimits, signal?: AbortSignal): Promise<PdfText>;
  /** The same, as pages; those without text are left out. */
  pdfPages(bytes: Uint8Array): Promise<{ page: number; text: string }[]>;
  /** A page as a person would read it. Throws as `pdf` does. */
  page(source: PageSource, signal?: AbortSignal): Promise<ReadablePage>;
}

/**
 * Two at once, so that one slow file does not hold up everybody. A reply may fetch eight pages, and a few conversations do so at the
 * same time; what waits longer than 30 s would only add to a line that does not move.
 */
const LINE = { atOnce: 2, mostWaiting: 32, mostWaitingBytes: 128 * 1024 * 1024, mostWaitMs: 30_000 };

export function createParsers(confine: Confine): Parsers {
  const line = new WorkLine(LINE);
  const parse: Parse = (job, signal) => line.run(job.input.byteLength, () => runInChild(job, confine, signal), signal);
  return {
    pdf: (bytes, limits, signal) => readPdf(parse, bytes, limits, signal),
    pdfPages: async (bytes) => pagesIn((await readPdf(parse, bytes)).text),
    page: (source, signal) => readPage(parse, source, signal),
  };
}
