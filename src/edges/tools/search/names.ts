/** Files by their names: what fits a glob, the newest first. Over open directories, no link followed, bounded in time and number. */
import { lstat } from "node:fs/promises";
import { type Inside, walkTree } from "../paths/index.ts";
import { CLOSED, DEPTH, MOST_MS } from "./found.ts";
import { globMatcher } from "./glob.ts";

/** Names looked at, and kept for sorting. */
const MOST_LOOKED_AT = 100_000;
const MOST_KEPT = 5000;

export interface FoundNames {
  paths: string[];
  more: boolean;
  /** Files and folders that were looked at. */
  looked: number;
  notes: string[];
}

export async function findNames(
  inside: Inside,
  query: { glob: string; max: number; ignoreCase?: boolean },
  signal: AbortSignal,
): Promise<FoundNames> {
  const fold = (text: string) => (query.ignoreCase ? text.toLowerCase() : text);
  const fits = globMatcher(fold(query.glob));
  const { prefix } = inside;
  const until = performance.now() + MOST_MS;
  const kept: { path: string; at: number }[] = [];
  const notes: string[] = [];
  let looked = 0;
  for await (const entry of walkTree(inside.directory(), { depth: DEPTH, closed: CLOSED })) {
    signal.throwIfAborted();
    if (looked >= MOST_LOOKED_AT || performance.now() > until || kept.length >= MOST_KEPT) {
      notes.push(`stopped after ${looked} names at ${entry.path}: narrow it with path`);
      break;
    }
    looked++;
    if (entry.kind === "directory" || !fits(fold(entry.path))) continue;
    const stats = await lstat(await entry.dir.at(entry.name)).catch(() => undefined);
    kept.push({ path: prefix + entry.path, at: stats?.mtimeMs ?? 0 });
  }
  kept.sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1));
  const paths = kept.slice(0, query.max).map((one) => one.path);
  return { paths, more: kept.length > query.max, looked, notes };
}
