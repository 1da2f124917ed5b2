/**
 * The order of what is found. Pure: postings, similarities and the catalogue go in, a ranking comes out.
 *
 * The score of a memory is a weighted sum of normalised parts: BM25 over its own words and, with less weight, over the words of
 * its neighbours in the conversation; similarity of meaning, smoothed over the neighbours; what the graph says; and small
 * hints: who speaks, whether it mentions a time when one is asked for, whether it is only a question itself, age and use.
 * The weights were chosen on the `seen` conversations of test/memory/eval; the `blind` ones check them (docs/MEMORY.md).
 */
import type { Catalogue } from "../catalogue.ts";

export interface Posting {
  word: string;
  /** How much finding this word tells. */
  weight: number;
  seqs: readonly number[];
}

export interface Signals {
  postings: readonly Posting[];
  /** Cosine to the question, for the nearest memories only. */
  similar: ReadonlyMap<number, number>;
  /** Whether a memory has its vector yet. */
  hasVector: (seq: number) => boolean;
  /** What relations lead to, 0 to 1. */
  related: ReadonlyMap<number, number>;
  /** The question is a name and nothing else: who asks wants what has it, and what was said around that. */
  isName?: boolean;
  speakers: ReadonlySet<number>;
  asksWhen: boolean;
  days?: { from: number; to: number };
  now: number;
}

export interface Weights {
  saturation: number;
  lengthShare: number;
  near: number;
  wide: number;
  /** So much more counts the question that a message follows. */
  asked: number;
  words: number;
  similar: number;
  similarNear: number;
  related: number;
  speaker: number;
  time: number;
  days: number;
  asking: number;
  short: number;
  recent: number;
  used: number;
}

export const WEIGHTS: Weights = {
  // BM25's k1 and b. Messages are short: their length tells nothing.
  saturation: 1.2,
  lengthShare: 0,
  // A word in one of the two messages before or after, and in the three beyond, against one of its own.
  near: 0.45,
  wide: 0.2,
  // An answer is meant in the light of what was asked.
  asked: 0.5,
  words: 1,
  similar: 0.75,
  similarNear: 0.3,
  related: 0.5,
  speaker: 0.2,
  time: 0.12,
  days: 0.15,
  asking: 0.2,
  short: 0.2,
  // Ties only: age and use must never bury the right answer.
  recent: 0.02,
  used: 0.02,
};

/** Memories with words of their own that are looked at closely. Neighbours of these come on top. */
const MOST_HITS = 600;
/** How far the neighbours' words reach. */
const NEAR = 2;
const WIDE = 5;
/** Fewer words than this say little: "Thanks, you too!" */
const SHORT_WORDS = 5;
const HALF_LIFE_MS = 90 * 86_400_000;

export interface Ranked {
  seq: number;
  score: number;
}

export function rank(
  catalogue: Catalogue,
  signals: Signals,
  how: { limit: number; visible: (seq: number) => boolean; weights: Weights },
): Ranked[] {
  const { weights } = how;
  const lexical = lexicalScores(catalogue, signals.postings, how.visible, weights);
  const bestWords = greatest(lexical.values());
  const meaning = smoothed(catalogue, signals, lexical.keys(), weights);
  const ranked: Ranked[] = [];
  const isNamed = signals.isName === true && lexical.size > 0;
  const candidates = isNamed
    ? new Set(lexical.keys())
    : new Set([...lexical.keys(), ...meaning.scores.keys(), ...signals.related.keys()]);
  for (const seq of candidates) {
    if (!how.visible(seq)) continue;
    let score = (weights.words * (lexical.get(seq) ?? 0)) / bestWords;
    if (meaning.best > 0)
      score += (weights.similar * Math.max(0, meaning.scores.get(seq) ?? meaning.floor)) / meaning.best;
    score += weights.related * (signals.related.get(seq) ?? 0);
    ranked.push({ seq, score: score + hints(catalogue, seq, signals, weights) });
  }
  const named = isNamed ? countWords(signals.postings) : undefined;
  const has = ({ seq }: Ranked) => named?.get(seq) ?? 0;
  ranked.sort((a, b) => has(b) - has(a) || b.score - a.score || b.seq - a.seq);
  return ranked.slice(0, how.limit);
}

/** How many of the question's words each memory has. */
function countWords(postings: readonly Posting[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { seqs } of postings) for (const seq of seqs) counts.set(seq, (counts.get(seq) ?? 0) + 1);
  return counts;
}

function lexicalScores(
  catalogue: Catalogue,
  postings: readonly Posting[],
  visible: (seq: number) => boolean,
  weights: Weights,
): Map<number, number> {
  const masks = new Int32Array(catalogue.size);
  let hits: number[] = [];
  postings.forEach(({ seqs }, bit) => {
    for (const seq of seqs) {
      if (seq >= masks.length || !visible(seq)) continue;
      if (masks[seq] === 0) hits.push(seq);
      masks[seq]! |= 1 << bit;
    }
  });
  if (hits.length > MOST_HITS) hits = strongest(hits, masks, postings);
  const places = new Set<number>();
  for (const hit of hits) {
    places.add(hit);
    let before = hit;
    let after = hit;
    for (let step = 0; step < NEAR; step++) {
      before = before && catalogue.previous(before);
      after = after && catalogue.next(after);
      if (before) places.add(before);
      if (after) places.add(after);
    }
  }
  const scores = new Map<number, number>();
  const average = catalogue.averageLength;
  const around = new Float32Array(postings.length * 2);
  for (const place of places) {
    around.fill(0);
    count(catalogue, masks, place, { into: around, words: postings.length, asked: weights.asked });
    const norm = 1 - weights.lengthShare + (weights.lengthShare * catalogue.length(place)) / average;
    let score = 0;
    for (let bit = 0; bit < postings.length; bit++) {
      const own = (masks[place]! >>> bit) & 1;
      const f = own / norm + weights.near * around[bit * 2]! + weights.wide * around[bit * 2 + 1]!;
      if (f > 0) score += (postings[bit]!.weight * f * (weights.saturation + 1)) / (f + weights.saturation);
    }
    if (score > 0) scores.set(place, score);
  }
  return scores;
}

/** Not Math.max(...): a spread of many thousand values overflows the stack. */
function greatest(values: Iterable<number>, least = 1e-9): number {
  let best = least;
  for (const value of values) if (value > best) best = value;
  return best;
}

/** How often each word occurs nearby and a little further away. */
function count(
  catalogue: Catalogue,
  masks: Int32Array,
  place: number,
  { into, words, asked }: { into: Float32Array; words: number; asked: number },
): void {
  for (const step of [-1, 1]) {
    let at = place;
    for (let distance = 1; distance <= WIDE; distance++) {
      at = step < 0 ? catalogue.previous(at) : catalogue.next(at);
      if (!at) break;
      const mask = masks[at]!;
      if (mask === 0) continue;
      const ring = distance <= NEAR ? 0 : 1;
      const many = distance === 1 && step < 0 && catalogue.isQuestion(at) ? 1 + asked : 1;
      for (let bit = 0; bit < words; bit++) if ((mask >>> bit) & 1) into[bit * 2 + ring]! += many;
    }
  }
}

function strongest(hits: readonly number[], masks: Int32Array, postings: readonly Posting[]): number[] {
  const weighed = hits.map((seq) => {
    let weight = 0;
    postings.forEach((posting, bit) => {
      if ((masks[seq]! >>> bit) & 1) weight += posting.weight;
    });
    return { seq, weight };
  });
  weighed.sort((a, b) => b.weight - a.weight || b.seq - a.seq);
  return weighed.slice(0, MOST_HITS).map(({ seq }) => seq);
}

/** Similarity over a small window: a message is meant in the light of the ones around it. */
function smoothed(
  catalogue: Catalogue,
  { similar, hasVector }: Pick<Signals, "similar" | "hasVector">,
  also: Iterable<number>,
  weights: Weights,
): { scores: Map<number, number>; best: number; floor: number } {
  const scores = new Map<number, number>();
  if (similar.size === 0) return { scores, best: 0, floor: 0 };
  // What is not among the nearest is at most as near as the farthest of them.
  const floor = -greatest(
    [...similar.values()].map((value) => -value),
    -1,
  );
  // One whose vector is not made yet may be as near as any: it is neither pushed back nor preferred.
  const unknown = (floor + greatest(similar.values(), floor)) / 2;
  const of = (seq: number) => (seq ? (similar.get(seq) ?? (hasVector(seq) ? floor : unknown)) : floor);
  const at = (seq: number) => {
    const own = of(seq);
    const before = catalogue.previous(seq);
    const after = catalogue.next(seq);
    // A fact that stands alone is not the worse for it; the first and last words of a conversation mostly are.
    if (!before && !after) return own;
    return (own + weights.similarNear * (of(before) + of(after))) / (1 + 2 * weights.similarNear);
  };
  let best = 0;
  for (const seq of new Set([...similar.keys(), ...also])) {
    const score = at(seq);
    scores.set(seq, score);
    best = Math.max(best, score);
  }
  return { scores, best, floor };
}

function hints(catalogue: Catalogue, seq: number, signals: Signals, weights: Weights): number {
  let score = 0;
  if (signals.speakers.has(catalogue.speaker(seq))) score += weights.speaker;
  const tells = signals.asksWhen && catalogue.saysWhen(seq);
  if (tells) score += weights.time;
  const at = catalogue.at(seq);
  if (signals.days && at >= signals.days.from && at < signals.days.to) score += weights.days;
  if (catalogue.isQuestion(seq)) score -= weights.asking;
  // Only among messages: a fact may be three words long. "Last Friday!" is what was asked for.
  if (!tells && catalogue.speaker(seq) >= 0 && catalogue.length(seq) < SHORT_WORDS) score -= weights.short;
  score += weights.recent * 2 ** (-Math.max(0, signals.now - at) / HALF_LIFE_MS);
  score += weights.used * Math.min(1, Math.log2(1 + catalogue.uses(seq)) / 5);
  return score;
}
