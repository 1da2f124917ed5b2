/**
 * A page as a person would read it. Parsing happens in a worker thread with a limit of memory and time: a page made to keep
 * a parser busy keeps that thread busy and nobody else. The parsers are loaded there, so an unused tool costs nothing.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { AppError } from "../../../core/domain/index.ts";
import { READABLE_WORKER } from "./readable-worker.ts";

export interface Page {
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

/** A page of 2 MB takes about 2 s on a slow machine. */
const MOST_MS = 15_000;
const MOST_MB = 512;

/** Throws NOT_READY when the page is too much for the parser, the reason of `signal` when that aborts. */
export async function readable({ html, as, url, mostMs = MOST_MS }: PageSource, signal: AbortSignal): Promise<Page> {
  signal.throwIfAborted();
  const find = createRequire(import.meta.url).resolve;
  const modules = {
    linkedom: find("linkedom"),
    readability: find("@mozilla/readability"),
    turndown: find("turndown"),
  };
  const worker = new Worker(READABLE_WORKER, {
    eval: true,
    env: {},
    execArgv: [],
    stdin: false,
    workerData: { html, as, url, modules },
    resourceLimits: { maxOldGenerationSizeMb: MOST_MB },
  });
  let stop = () => {};
  try {
    return await new Promise<Page>((resolve, reject) => {
      const timer = setTimeout(() => reject(tooMuch("it took too long")), mostMs);
      const abort = () => reject(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      stop = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
      };
      worker.once("message", resolve);
      worker.once("error", (error: Error) => reject(tooMuch(error.message, error)));
      worker.once("exit", () => reject(tooMuch("the parser ended")));
    });
  } finally {
    stop();
    await worker.terminate();
  }
}

function tooMuch(why: string, cause?: unknown): AppError {
  return new AppError("NOT_READY", {
    message: `The page could not be made readable: ${why}.`,
    hint: 'Fetch it with as: "raw".',
    retry: "never",
    cause,
  });
}
