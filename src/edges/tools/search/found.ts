/** What both ways of searching give back, and the bounds both keep. */

export interface Hit {
  path: string;
  line: number;
  text: string;
  /** A line around a hit, shown for its sake. */
  isContext?: true;
}

export interface SearchResult {
  hits: Hit[];
  /** There is more than `max`. */
  more: boolean;
  /** Files that were looked into, where it was counted. */
  files?: number;
  /** Why the search did not look everywhere, when it did not. */
  notes: string[];
}

export interface Query {
  pattern: string;
  glob?: string;
  max: number;
  ignoreCase?: boolean;
  /** Lines shown before and behind each hit. */
  context?: number;
}

/** Generated files and data; what people search for is smaller. */
export const MOST_FILE_BYTES = 2 * 1024 * 1024;
/** One search may not hold a turn for longer. */
export const MOST_MS = 20_000;
/** A longer line is cut in the answer. */
export const MOST_LINE = 300;
/** Not entered: other people's code and packed objects. Naming one as `path` searches it. */
export const CLOSED: ReadonlySet<string> = new Set([".git", "node_modules"]);
/** Deeper trees are loops or accidents; each level holds an open directory. */
export const DEPTH = 64;
