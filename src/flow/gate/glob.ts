/**
 * Patterns of rules. `*` and `?` never cross a slash, `**` does; case counts; nothing else is special.
 *
 * The words they are held against are a model's, so there is no regular expression here: all the places a pattern can have
 * reached are followed at once, and a place that a later wildcard makes pointless is dropped. A text is read once.
 */

export function matchesGlob(glob: string, text: string): boolean {
  return matcher(glob)(text);
}

export function hasWildcard(text: string): boolean {
  return /[*?]/.test(text);
}

/** What stands at each place of a pattern: a code point, or one of these. */
const ONE = -1;
const STAR = -2;
const ALL = -3;
/** Any number of whole directories, `**` and a slash; the place behind it means "inside the name of one". */
const FOLDERS = -4;
const IN_FOLDER = -5;

const SLASH = 47;

interface Compiled {
  places: readonly number[];
  /** Which stretch between two slashes a place belongs to. */
  stretch: readonly number[];
}

function matcher(glob: string): (text: string) => boolean {
  if (!hasWildcard(glob)) return (text) => text === glob;
  const compiled = compile(glob);
  const first = glob.search(/[*?]/);
  const [head, tail] = [glob.slice(0, first), glob.slice(lastWildcard(glob) + 1)];
  // Most words already differ at their beginning or end. The slash of `**/` may stand for nothing.
  const end = tail.startsWith("/") ? tail.slice(1) : tail;
  return (text) => text.startsWith(head) && text.endsWith(end) && follow(compiled, text);
}

function lastWildcard(glob: string): number {
  return Math.max(glob.lastIndexOf("*"), glob.lastIndexOf("?"));
}

function compile(glob: string): Compiled {
  const places: number[] = [];
  const stretch: number[] = [];
  let stretches = 0;
  const put = (place: number) => {
    places.push(place);
    stretch.push(stretches);
    // What can take a slash ends a stretch.
    if (place === SLASH || place === ALL || place === IN_FOLDER) stretches++;
  };
  for (let i = 0; i < glob.length; i++) {
    if (glob.startsWith("**/", i)) {
      // `a/**` takes what is below a, not a itself.
      put(FOLDERS);
      put(IN_FOLDER);
      i += 2;
    } else if (glob.startsWith("**", i)) {
      put(ALL);
      i++;
    } else if (glob[i] === "*") put(STAR);
    else if (glob[i] === "?") put(ONE);
    else {
      const point = glob.codePointAt(i)!;
      put(point);
      if (point > 0xffff) i++;
    }
  }
  stretch.push(stretches);
  return { places, stretch };
}

function follow({ places, stretch }: Compiled, text: string): boolean {
  const end = places.length;
  /** In which step a place was reached last. */
  const reached = new Int32Array(end + 1).fill(-1);
  /** The last `*` reached in each stretch: places before it there lead nowhere that it does not lead to. */
  const star = new Int32Array(stretch[end]! + 1);
  const starStep = new Int32Array(stretch[end]! + 1).fill(-1);
  let [now, next]: [number[], number[]] = [[], []];
  let all = -1;
  const reach = (place: number, step: number): void => {
    for (let at = place; reached[at] !== step; ) {
      reached[at] = step;
      next.push(at);
      const sign = places[at];
      if (sign === ALL) all = Math.max(all, at);
      if (sign === STAR) {
        const on = stretch[at]!;
        star[on] = starStep[on] === step ? Math.max(star[on]!, at) : at;
        starStep[on] = step;
      }
      if (sign === STAR || sign === ALL) at++;
      else if (sign === FOLDERS) at += 2;
    }
  };
  reach(0, 0);
  let step = 0;
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i)!;
    if (point > 0xffff) i++;
    [now, next] = [next, now];
    next.length = 0;
    const before = step++;
    for (const at of now) {
      if (at < all || (starStep[stretch[at]!] === before && at < star[stretch[at]!]!)) continue;
      const sign = places[at];
      if (sign === ALL) reach(at, step);
      else if (sign === point) reach(at + 1, step);
      else if (sign === IN_FOLDER) reach(point === SLASH ? at - 1 : at, step);
      else if (point === SLASH) continue;
      else if (sign === STAR) reach(at, step);
      else if (sign === ONE || sign === FOLDERS) reach(at + 1, step);
    }
    if (next.length === 0) return false;
  }
  return reached[end] === step;
}
