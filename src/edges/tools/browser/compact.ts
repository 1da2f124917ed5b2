/**
 * A page in words, from the driver's snapshot: by default what an agent needs for its next step (brief.ts), and all of it
 * (whole.ts), a part, or the surroundings of some words when asked.
 */
import { brief, WHOLE_CHARS } from "./brief.ts";
import { type Element, parseOutline } from "./outline.ts";
import { flat, lines, takesValue } from "./whole.ts";

export interface Compact {
  text: string;
  /** What each ref of the page is, in words: `button "Log in"`. */
  refs: ReadonlyMap<string, string>;
}

export interface Wanted {
  /** All there is. */
  full?: boolean | undefined;
  /** All there is in this part of the page. */
  ref?: string | undefined;
  /** Only what stands around these words. */
  find?: string | undefined;
  /** That as well, when it is not among the rest. */
  also?: string | undefined;
}

/** Lines before and behind a line with the words. */
const AROUND = { before: 2, behind: 3 };
const MOST_FOUND = 40;

/** Fields that hold one of `secrets` (what stands in password fields) show that they are filled, not with what. */
export function compact(snapshot: string, secrets: ReadonlySet<string> = new Set(), wanted: Wanted = {}): Compact {
  const refs = new Map<string, string>();
  const page = parseOutline(snapshot).map((element) => masked(element, secrets));
  const whole = page.flatMap((element) => lines(element, refs));
  const part = wanted.ref === undefined ? undefined : found(page, wanted.ref);
  if (part) return { text: lines(part, new Map()).join("\n"), refs };
  if (wanted.find) return { text: around(whole, wanted.find), refs };
  const all = whole.join("\n");
  const text = wanted.full || all.length <= WHOLE_CHARS ? all : brief(page, refs);
  const misses = wanted.also && !text.toLowerCase().includes(flat(wanted.also).toLowerCase());
  return { text: misses ? `${around(whole, wanted.also!)}\n…\n${text}` : text, refs };
}

function found(elements: readonly Element[], ref: string): Element | undefined {
  for (const element of elements) {
    const inside = element.ref === ref ? element : found(element.children, ref);
    if (inside) return inside;
  }
  return undefined;
}

function around(all: readonly string[], words: string): string {
  const sought = flat(words).toLowerCase();
  const hits = all.flatMap((line, i) => (line.toLowerCase().includes(sought) ? [i] : []));
  if (hits.length === 0) return `[these words are not on the page, which has ${all.length} lines]`;
  const shown = new Set<number>();
  for (const hit of hits.slice(0, MOST_FOUND)) {
    for (let i = hit - AROUND.before; i <= hit + AROUND.behind; i++) if (all[i] !== undefined) shown.add(i);
  }
  const out: string[] = [];
  let last = -1;
  for (const i of [...shown].sort((a, b) => a - b)) {
    if (i > last + 1) out.push("…");
    out.push(all[i]!);
    last = i;
  }
  if (hits.length > MOST_FOUND) out.push(`[${hits.length - MOST_FOUND} more places with these words]`);
  return out.join("\n");
}

function masked(element: Element, secrets: ReadonlySet<string>): Element {
  if (secrets.size === 0) return element;
  const text = takesValue(element.role) && secrets.has(element.text) ? "••••" : element.text;
  return { ...element, text, children: element.children.map((child) => masked(child, secrets)) };
}
