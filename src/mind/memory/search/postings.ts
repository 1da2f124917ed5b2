/** From the words of a question to rows of the index, at a bounded cost however large the store is. */
import type { Reads } from "../../../core/contracts/index.ts";
import { matchAll } from "./match.ts";
import { MOST_WORDS } from "./question.ts";
import type { Posting } from "./rank.ts";

/** What the gathering needs of an index: memory and session messages each have one. */
export interface WordIndex {
  /** Rows that match, newest first. */
  matching(db: Reads, match: string, limit: number): Promise<number[]>;
  /** About how many rows lie between two, both included: how often a common word occurs follows from where its newest rows end. */
  between(db: Reads, oldest: number, newest: number): Promise<number>;
}

/** Rows read for one word. A word that more rows have tells little; it is then only looked up where a rarer one is found. */
const MOST_ROWS = 1000;

export async function gather(
  db: Reads,
  index: WordIndex,
  q: { words: readonly string[]; scopeWords: readonly string[] | undefined; total: number },
): Promise<Posting[]> {
  const rare: Posting[] = [];
  const common: { word: string; frequency: number; newest: number[] }[] = [];
  for (const word of q.words) {
    const seqs = await index.matching(db, matchAll([word], q.scopeWords), MOST_ROWS + 1);
    if (seqs.length === 0) continue;
    if (seqs.length <= MOST_ROWS) rare.push({ word, weight: telling(seqs.length, q.total), seqs });
    else common.push({ word, frequency: await estimated(db, index, seqs, q.total), newest: seqs });
  }
  common.sort((a, b) => a.frequency - b.frequency);
  if (rare.length > 0) {
    const anchors = `(${rare.map(({ word }) => `"${word}"`).join(" OR ")})`;
    for (const { word, frequency } of common) {
      const match = `${anchors} AND ${matchAll([word], q.scopeWords)}`;
      const seqs = await index.matching(db, match, MOST_ROWS);
      if (seqs.length > 0) rare.push({ word, weight: telling(frequency, q.total), seqs });
    }
    return chosen(rare);
  }
  // Only common words: where the two rarest meet, and the newest of each.
  const [first, second] = common;
  if (!first) return [];
  const meet = second ? await index.matching(db, matchAll([first.word, second.word], q.scopeWords), MOST_ROWS) : [];
  const met = common.slice(0, 4).map(({ word, frequency, newest }, n) => ({
    word,
    weight: telling(frequency, q.total),
    seqs: n < 2 ? [...new Set([...meet, ...newest])] : newest,
  }));
  return chosen(met);
}

/** Counting the rows of a common word means reading all of them; the density of the newest tells enough. */
async function estimated(db: Reads, index: WordIndex, seqs: readonly number[], total: number): Promise<number> {
  const span = await index.between(db, seqs.at(-1)!, seqs[0]!);
  return Math.max(seqs.length, Math.min(total, Math.round((seqs.length / Math.max(span, 1)) * total)));
}

/** BM25's inverse document frequency, never below zero. */
function telling(frequency: number, total: number): number {
  const rows = Math.min(frequency, total);
  return Math.log(1 + (total - rows + 0.5) / (rows + 0.5));
}

function chosen(postings: Posting[]): Posting[] {
  return postings.sort((a, b) => b.weight - a.weight).slice(0, MOST_WORDS);
}
