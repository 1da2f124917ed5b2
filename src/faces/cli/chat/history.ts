/**
 * What was typed before, kept in the home for the arrow up. A convenience: where it cannot be read or written, the chat goes
 * on without it.
 *
 * CHAT-4: readable by the owner alone, and at most 500 lines.
 */
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "chat-history";
export const MOST_KEPT = 500;

export interface ChatHistory {
  /** Newest first, as readline wants it. */
  readonly lines: string[];
  add(text: string): void;
}

export function openHistory(home: string): ChatHistory {
  const file = join(home, FILE);
  const lines = read(file);
  let size = lines.length;
  let last = lines[0];
  return {
    lines,
    add(text) {
      // The line of a terminal is one line.
      const line = text.replace(/\s+/g, " ").trim();
      // A home that is not there is somebody else's Lares, reached by --url.
      if (!line || line === last || !existsSync(home)) return;
      last = line;
      try {
        if (size++ < MOST_KEPT) {
          appendFileSync(file, `${line}\n`, { mode: 0o600 });
          return;
        }
        const kept = read(file)
          .reverse()
          .slice(-(MOST_KEPT - 1));
        writeFileSync(file, [...kept, line, ""].join("\n"), { mode: 0o600 });
        size = MOST_KEPT;
      } catch {
        // As the head says.
      }
    },
  };
}

function read(file: string): string[] {
  try {
    chmodSync(file, 0o600);
    return readFileSync(file, "utf8").split("\n").filter(Boolean).slice(-MOST_KEPT).reverse();
  } catch {
    return [];
  }
}
