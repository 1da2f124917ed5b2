/**
 * File name patterns for `search`: `*`, `?`, `[a-z]`, `{a,b}`, `**`, and `!` in front to leave out. A pattern without a
 * slash is matched against the name at any depth. No regular expressions: time is bounded by pattern × path.
 */

/** Patterns made by braces, at most; a person writes two or three. */
const MOST_ALTERNATIVES = 64;

export function globMatcher(glob: string): (path: string) => boolean {
  const negated = glob.startsWith("!");
  const patterns = expandBraces(negated ? glob.slice(1) : glob).map((pattern) => {
    const anywhere = !pattern.replace(/\/$/, "").includes("/");
    const words = pattern.replace(/^\//, "").split("/");
    return anywhere ? ["**", ...words] : words;
  });
  return (path) => {
    const names = path.split("/");
    return patterns.some((words) => matchWords(words, names)) !== negated;
  };
}

function expandBraces(glob: string): string[] {
  let done: string[] = [glob];
  for (;;) {
    const next = done.flatMap((pattern) => {
      const found = /\{([^{}]*)\}/.exec(pattern);
      if (!found) return [pattern];
      const [whole, inner = ""] = found;
      return inner.split(",").map((one) => pattern.replace(whole, () => one));
    });
    if (next.length === done.length && next.every((pattern, i) => pattern === done[i])) return done;
    if (next.length > MOST_ALTERNATIVES) return done;
    done = next;
  }
}

/** `**` stands for any number of directories. One row per word: quadratic at worst. */
function matchWords(words: readonly string[], names: readonly string[]): boolean {
  let row = Array.from({ length: names.length + 1 }, (_, i) => i === 0);
  for (const word of words) {
    const next = new Array<boolean>(names.length + 1).fill(false);
    next[0] = word === "**" && row[0]!;
    for (let i = 1; i <= names.length; i++) {
      next[i] = word === "**" ? row[i]! || next[i - 1]! : row[i - 1]! && matchName(word, names[i - 1]!);
    }
    row = next;
  }
  return row[names.length]!;
}

/** One name against `*`, `?`, `[…]`: on a mismatch only the last star gives way. */
function matchName(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let mark = 0;
  while (n < name.length) {
    const step = pattern[p] === "*" ? undefined : matchOne(pattern, p, name[n]!);
    if (step !== undefined) {
      p = step;
      n++;
    } else if (pattern[p] === "*") {
      star = p++;
      mark = n;
    } else if (star >= 0) {
      p = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

/** Where the pattern goes on when its sign at `p` takes `sign`. */
function matchOne(pattern: string, p: number, sign: string): number | undefined {
  const here = pattern[p];
  if (here === undefined) return undefined;
  if (here === "?") return p + 1;
  if (here === "\\" && p + 1 < pattern.length) return pattern[p + 1] === sign ? p + 2 : undefined;
  const close = here === "[" ? pattern.indexOf("]", p + 2) : -1;
  if (close < 0) return here === sign ? p + 1 : undefined;
  const body = pattern.slice(p + 1, close);
  const not = body.startsWith("!") || body.startsWith("^");
  return inSet(not ? body.slice(1) : body, sign) !== not ? close + 1 : undefined;
}

function inSet(set: string, sign: string): boolean {
  for (let i = 0; i < set.length; i++) {
    if (set[i + 1] === "-" && i + 2 < set.length) {
      if (set[i]! <= sign && sign <= set[i + 2]!) return true;
      i += 2;
    } else if (set[i] === sign) {
      return true;
    }
  }
  return false;
}
