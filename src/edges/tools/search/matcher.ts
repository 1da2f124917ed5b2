/**
 * Runs a JavaScript regular expression over texts in a worker thread, so that a pattern that backtracks forever can be
 * stopped by ending the thread and never holds up the gateway.
 */
import { Worker } from "node:worker_threads";
import { MOST_LINE } from "./found.ts";

// Plain JavaScript as text: the same in the bundle, under tsx and in tests, with no file to find at run time.
const SOURCE = `
const { parentPort, workerData } = require("node:worker_threads");
const re = new RegExp(workerData.source, workerData.flags);
parentPort.on("message", ({ text, most }) => {
  const hits = [];
  let line = 0;
  for (let at = 0; at <= text.length && hits.length < most; ) {
    const end = text.indexOf("\\n", at);
    const to = end < 0 ? text.length : end;
    line++;
    const one = text.slice(at, to > at && text[to - 1] === "\\r" ? to - 1 : to);
    if (re.test(one) && !(end < 0 && one === "")) hits.push([line, one.slice(0, workerData.mostLine)]);
    if (end < 0) break;
    at = end + 1;
  }
  parentPort.postMessage(hits);
});
`;

export interface Matcher {
  /** Lines that match, with their numbers; "late" when the deadline came first. One call at a time. Throws on abort. */
  match(text: string, most: number): Promise<Lines | "late">;
  close(): Promise<void>;
}

type Lines = [number, string][];

/** Throws a SyntaxError for a pattern that is none. `deadline` as of `performance.now()`. */
export function startMatcher(
  { pattern, ignoreCase }: { pattern: string; ignoreCase?: boolean },
  deadline: number,
  signal: AbortSignal,
): Matcher {
  const { source, flags } = split(pattern, ignoreCase ? "i" : "");
  new RegExp(source, flags);
  const worker = new Worker(SOURCE, {
    eval: true,
    workerData: { source, flags, mostLine: MOST_LINE },
    // Nothing of ours is needed there: no environment, little memory.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  let waiting: { resolve(lines: Lines | "late"): void; reject(error: unknown): void } | undefined;
  worker.on("message", (lines: Lines) => waiting?.resolve(lines));
  worker.on("error", (error) => waiting?.reject(error));
  worker.on("exit", () => waiting?.reject(new Error("the search thread ended")));
  return {
    async match(text, most) {
      signal.throwIfAborted();
      const answer = new Promise<Lines | "late">((resolve, reject) => {
        waiting = { resolve, reject };
      });
      const onAbort = () => waiting?.reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      const timer = setTimeout(() => waiting?.resolve("late"), Math.max(deadline - performance.now(), 0));
      try {
        worker.postMessage({ text, most });
        return await answer;
      } finally {
        waiting = undefined;
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      }
    },
    async close() {
      await worker.terminate();
    },
  };
}

/** Inline flags in front, as ripgrep takes them, become flags of the expression. */
function split(pattern: string, also: string): { source: string; flags: string } {
  const found = /^\(\?([ims]+)\)/.exec(pattern);
  if (!found) return { source: pattern, flags: also };
  return { source: pattern.slice(found[0].length), flags: [...new Set(also + found[1])].join("") };
}
