/** A web page as a person would read it. Its parsers are loaded in the parser's process, so an unused tool costs nothing. */
import { createRequire } from "node:module";
import { z } from "zod";
import { AppError } from "../../core/domain/index.ts";
import { type Parse, ParserFailed } from "./child.ts";
import { PAGE_SOURCE } from "./page-source.ts";

export interface ReadablePage {
  title: string;
  text: string;
}

export interface PageSource {
  html: string;
  as: "text" | "markdown";
  /** What relative links are relative to. */
  url: string;
  mostMs?: number;
}

/** A page of 1 MB with many small elements takes 2.4 s; nearly all pages are far smaller. */
const CPU_MS = 5000;
const MOST_MS = 15_000;
const WALLS = { heapMb: 256, memoryMb: 512, cpuMs: CPU_MS };

const answer = z.object({ title: z.string(), text: z.string() });

export async function readPage(parse: Parse, source: PageSource, signal?: AbortSignal): Promise<ReadablePage> {
  const { html, as, url, mostMs = MOST_MS } = source;
  const find = createRequire(import.meta.url).resolve;
  const modules = {
    linkedom: find("linkedom"),
    readability: find("@mozilla/readability"),
    turndown: find("turndown"),
  };
  const job = {
    source: PAGE_SOURCE,
    options: { as, url, modules },
    input: Buffer.from(html),
    walls: { ...WALLS, mostMs },
  };
  try {
    return answer.parse(await parse(job, signal));
  } catch (error) {
    throw error instanceof ParserFailed ? unreadable(error) : error;
  }
}

function unreadable(cause: ParserFailed): AppError {
  return new AppError("TYPE_REFUSED", {
    message: `The page could not be made readable: ${cause.why}.`,
    hint: 'Fetch it with as: "raw".',
    cause,
  });
}
