/**
 * Search without ripgrep: files are read one after the other over open directories (no link is followed, no swap can lead
 * out) and matched in a worker thread. Bounded by time, file size and number of hits.
 */
import { binaryKind, humanSize } from "../files/content.ts";
import { type Dir, type Inside, openRegular, walkTree, wrongInput } from "../paths/index.ts";
import {
  CLOSED,
  DEPTH,
  type Hit,
  MOST_FILE_BYTES,
  MOST_LINE,
  MOST_MS,
  type Query,
  type SearchResult,
} from "./found.ts";
import { globMatcher } from "./glob.ts";
import { type Matcher, startMatcher } from "./matcher.ts";

export async function scan(inside: Inside, query: Query, signal: AbortSignal, mostMs = MOST_MS): Promise<SearchResult> {
  const deadline = performance.now() + mostMs;
  const matcher = start(query, deadline, signal);
  const hits: Hit[] = [];
  const notes: string[] = [];
  let tooBig = 0;
  let files = 0;
  let found = 0;
  try {
    for await (const file of listFiles(inside, query.glob)) {
      signal.throwIfAborted();
      const text = await readText(file.dir, file.name);
      if (text === "big") tooBig++;
      else files++;
      if (text === undefined || text === "big") continue;
      const lines = await matcher.match(text.value, query.max + 1 - found);
      if (lines === "late") {
        notes.push(`stopped after ${mostMs / 1000} s at ${file.path}: not everything was searched`);
        break;
      }
      // What is one too many only says that there is more.
      const shown = lines.slice(0, query.max - found);
      found += lines.length;
      for (const hit of around(text.value, shown, query.context ?? 0)) hits.push({ path: file.path, ...hit });
      if (found > query.max) break;
    }
  } finally {
    await matcher.close();
  }
  if (tooBig > 0) notes.push(`${tooBig} files over ${humanSize(MOST_FILE_BYTES)} were skipped`);
  return { hits, more: found > query.max, files, notes };
}

/** The hits of one file with the lines around them, each line once. */
function around(text: string, hits: readonly [number, string][], context: number): Omit<Hit, "path">[] {
  if (context === 0) return hits.map(([line, one]) => ({ line, text: one }));
  const isHit = new Set(hits.map(([line]) => line));
  const lines = text.split("\n");
  const out: Omit<Hit, "path">[] = [];
  let next = 1;
  for (const [hit] of hits) {
    for (let line = Math.max(next, hit - context); line <= Math.min(hit + context, lines.length); line++) {
      const shown = lines[line - 1]!.slice(0, MOST_LINE + 1);
      const one = { line, text: (shown.endsWith("\r") ? shown.slice(0, -1) : shown).slice(0, MOST_LINE) };
      if (line === lines.length && one.text === "") continue;
      out.push(isHit.has(line) ? one : { ...one, isContext: true });
      next = line + 1;
    }
  }
  return out;
}

function start(query: Query, deadline: number, signal: AbortSignal): Matcher {
  try {
    return startMatcher(query, deadline, signal);
  } catch (error) {
    throw wrongInput(`search: Field "pattern" is not a regular expression: ${(error as Error).message}.`);
  }
}

async function* listFiles(inside: Inside, glob: string | undefined) {
  if (inside.kind !== "directory") {
    const { dir, name } = inside.parent();
    yield { dir, name, path: inside.path };
    return;
  }
  const wanted = glob === undefined ? () => true : globMatcher(glob);
  const { prefix } = inside;
  for await (const entry of walkTree(inside.directory(), { depth: DEPTH, closed: CLOSED })) {
    if (entry.kind !== "file" || !wanted(entry.path)) continue;
    yield { dir: entry.dir, name: entry.name, path: prefix + entry.path };
  }
}

/** Text of one file; undefined for what is no text, not ours to read, or gone. */
async function readText(dir: Dir, name: string): Promise<{ value: string } | "big" | undefined> {
  const file = await openRegular(dir, name, () => new Error("not a file")).catch(() => undefined);
  if (!file) return undefined;
  try {
    if ((await file.stat()).size > MOST_FILE_BYTES) return "big";
    const content = await file.readFile();
    return binaryKind(content) ? undefined : { value: content.toString("utf8") };
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
