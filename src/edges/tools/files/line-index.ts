/**
 * The lines of a file as numbers, and where a row of lines stands in it. Knuth, Morris and Pratt: each line of the file is
 * looked at once, however often it repeats. Both the file and the lines that are sought may be made to be slow.
 */
export class LineIndex {
  readonly #numbers = new Map<string, number>();
  readonly #lines: Int32Array;

  constructor(lines: readonly string[]) {
    this.#lines = new Int32Array(lines.length);
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at]!;
      const known = this.#numbers.get(line);
      if (known === undefined) this.#numbers.set(line, this.#numbers.size);
      this.#lines[at] = known ?? this.#numbers.size - 1;
    }
  }

  /** Every place from `from` on where these lines follow one another; places may overlap. */
  places(wanted: readonly string[], from: number): number[] {
    const sought = wanted.map((line) => this.#numbers.get(line) ?? -1);
    if (sought.length === 0 || sought.includes(-1)) return [];
    const back = fallbacks(sought);
    const found: number[] = [];
    let matched = 0;
    for (let at = from; at < this.#lines.length; at++) {
      while (matched > 0 && this.#lines[at] !== sought[matched]) matched = back[matched - 1]!;
      if (this.#lines[at] === sought[matched]) matched++;
      if (matched < sought.length) continue;
      found.push(at - sought.length + 1);
      matched = back[matched - 1]!;
    }
    return found;
  }
}

/** For each beginning of the row, the length of the longest shorter beginning it also ends with. */
function fallbacks(sought: readonly number[]): Int32Array {
  const back = new Int32Array(sought.length);
  for (let at = 1, matched = 0; at < sought.length; at++) {
    while (matched > 0 && sought[at] !== sought[matched]) matched = back[matched - 1]!;
    if (sought[at] === sought[matched]) matched++;
    back[at] = matched;
  }
  return back;
}
