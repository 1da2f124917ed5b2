/**
 * Search without ripgrep: files are read one after the other over open directories (no link is followed, no swap can lead
 * out) and matched in a worker thread. Bounded by time, file size and number of hits.
 */
import { binaryKind, humanSize } from "../files/content.ts";
import { type Dir, type Inside, openRegular, walkTree, wrongInput } from "../paths/index.ts";
import { CLOSED, type Found, type Hit, MOST_FILE_BYTES, MOST_MS, type Query } from "./found.ts";
import { globMatcher } from "./glob.ts";
import { type Matcher, startMatcher } from "./matcher.ts";

/** Deeper trees are loops or accidents; each level holds an open directory. */
const DEPTH = 64;

export async function scan(inside: Inside, query: Query, signal: AbortSignal, mostMs = MOST_MS): Promise<Found> {
  const deadline = performance.now() + mostMs;
  const matcher = start(query.pattern, deadline, signal);
  const hits: Hit[] = [];
  const notes: string[] = [];
  let tooBig = 0;
  try {
    for await (const file of filesOf(inside, query.glob)) {
      signal.throwIfAborted();
      const text = await textOf(file.dir, file.name);
      if (text === "big") tooBig++;
      if (text === undefined || text === "big") continue;
      const found = await matcher.match(text.value, query.max + 1 - hits.length);
      if (found === "late") {
        notes.push(`stopped after ${mostMs / 1000} s at ${file.path}: not everything was searched`);
        break;
      }
      for (const [line, one] of found) hits.push({ path: file.path, line, text: one });
      if (hits.length > query.max) break;
    }
  } finally {
    await matcher.close();
  }
  if (tooBig > 0) notes.push(`${tooBig} files over ${humanSize(MOST_FILE_BYTES)} were passed over`);
  return { hits: hits.slice(0, query.max), more: hits.length > query.max, notes };
}

function start(pattern: string, deadline: number, signal: AbortSignal): Matcher {
  try {
    return startMatcher(pattern, deadline, signal);
  } catch (error) {
    throw wrongInput(`search: Field "pattern" is not a regular expression: ${(error as Error).message}.`);
  }
}

async function* filesOf(inside: Inside, glob: string | undefined) {
  if (inside.kind !== "directory") {
    const { dir, name } = inside.parent();
    yield { dir, name, path: inside.path };
    return;
  }
  const wanted = glob === undefined ? () => true : globMatcher(glob);
  const prefix = inside.path === "." ? "" : `${inside.path}/`;
  for await (const entry of walkTree(inside.directory(), { depth: DEPTH, closed: CLOSED })) {
    if (entry.kind !== "file" || !wanted(entry.path)) continue;
    yield { dir: entry.dir, name: entry.name, path: prefix + entry.path };
  }
}

/** Text of one file; undefined for what is no text, not ours to read, or gone. */
async function textOf(dir: Dir, name: string): Promise<{ value: string } | "big" | undefined> {
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
