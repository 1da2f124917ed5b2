/** Patterns with stars, matched without trying every way to share the name among them: each star gives up only what comes after the last one. */
export function fitsWildcards<Token>(
  pattern: ArrayLike<Token>,
  name: ArrayLike<string>,
  { isStar, takes }: { isStar: (token: Token) => boolean; takes: (token: Token, letter: string) => boolean },
): boolean {
  let [p, n, star, mark] = [0, 0, -1, 0];
  const isStarAt = (at: number) => at < pattern.length && isStar(pattern[at]!);
  while (n < name.length) {
    if (isStarAt(p)) {
      star = p++;
      mark = n;
    } else if (p < pattern.length && takes(pattern[p]!, name[n]!)) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++mark;
    } else return false;
  }
  while (isStarAt(p)) p++;
  return p === pattern.length;
}
