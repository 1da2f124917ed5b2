/** The known word nearest to a mistyped one, or nothing when none is near: at most a third of the letters may differ. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  // Nobody mistypes a word this long, and the time grows with its length.
  if (word.length > LONGEST) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const d = distance(word.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (d < bestDistance) {
      best = candidate;
      bestDistance = d;
    }
  }
  return best;
}

const LONGEST = 100;

/**
 * How many letters to add, leave out, change or swap with their neighbour to get from one word to the other; `most + 1` when it
 * takes more than `most`. The time is the shorter of both lengths and twice `most`, times the other length: bound one of them first.
 */
export function distance(a: string, b: string, most = Math.max(a.length, b.length)): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const tooFar = most + 1;
  let before: number[] = [];
  let nearestBefore = 0;
  let row = Array.from({ length: b.length + 1 }, (_, j) => Math.min(j, tooFar));
  for (let i = 1; i <= a.length; i++) {
    const next = new Array<number>(b.length + 1).fill(tooFar);
    next[0] = Math.min(i, tooFar);
    let nearest = next[0];
    // Further from the middle than `most`, the difference in length alone is too much.
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
      let d = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) d = Math.min(d, before[j - 2]! + 1);
      next[j] = Math.min(d, tooFar);
      nearest = Math.min(nearest, next[j]!);
    }
    // A swap looks two rows back.
    if (nearest > most && nearestBefore > most) return tooFar;
    nearestBefore = nearest;
    before = row;
    row = next;
  }
  return row[b.length]!;
}
