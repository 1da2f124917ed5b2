/**
 * A memory file as people write it: headings and prose are theirs, each list item at the margin is a fact. Pure.
 *
 * MEMORY-14: whatever is not a list item comes out as it went in.
 */

export interface ViewItem {
  /** The fact's text: the item without its mark, its indented lines joined. */
  text: string;
  /** First line and the one after the last. */
  from: number;
  to: number;
}

const BULLET = /^[-*+]\s+(\S.*)$/;
/** What a new file says where there is nothing: goes when there is. */
const PLACEHOLDER = /^\((?:Nothing yet|Nothing is known yet)\b.*\)$/;

export function parseItems(text: string): ViewItem[] {
  const lines = text.split("\n");
  const items: ViewItem[] = [];
  let fence: string | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.replace(/\r$/, "");
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (mark && fence === undefined) fence = mark;
    else if (fence !== undefined && mark && line.trim().startsWith(fence)) fence = undefined;
    if (fence !== undefined || mark) continue;
    const found = BULLET.exec(line.trimEnd());
    if (!found) continue;
    let to = at + 1;
    const more: string[] = [];
    while (to < lines.length && /^(?: {2}|\t)\s*\S/.test(lines[to]!)) more.push(lines[to++]!.trim());
    items.push({ text: clean([found[1]!, ...more].join(" ")), from: at, to });
    at = to - 1;
  }
  return items;
}

/** The text with items replaced, taken out (`null`) and put in behind the last one. */
export function patched(text: string, change: ReadonlyMap<number, string | null>, added: readonly string[]): string {
  const lines = text.split("\n");
  const items = parseItems(text);
  const out: string[] = [];
  let at = 0;
  let behind = -1;
  for (const item of items) {
    for (; at < item.from; at++) out.push(lines[at]!);
    const now = change.get(item.from);
    if (now === undefined) for (; at < item.to; at++) out.push(lines[at]!);
    else if (now !== null) out.push(`- ${now}`);
    if (now !== null) behind = out.length;
    at = item.to;
  }
  const rest = lines.slice(at);
  if (behind < 0 && added.length > 0) {
    // The first items of a file: behind its prose, in the place of "(Nothing yet.)".
    const all = [...out, ...rest].filter((line) => !PLACEHOLDER.test(line.trim()));
    while (all.length > 0 && all.at(-1)!.trim() === "") all.pop();
    return `${[...all, ...(all.length > 0 ? [""] : []), ...added.map((one) => `- ${one}`)].join("\n")}\n`;
  }
  out.splice(behind < 0 ? out.length : behind, 0, ...added.map((one) => `- ${one}`));
  return [...out, ...rest].join("\n");
}

/** As one line: what a list item can hold. */
export function clean(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Whether two items say the same but for spacing and case. */
export function sameItem(a: string, b: string): boolean {
  return normaliseSaying(a) === normaliseSaying(b);
}

/** What an item says, in one spelling. */
export function normaliseSaying(text: string): string {
  return clean(text).toLowerCase();
}

/** Share of words two texts have in common: an edited item is still mostly the old one. */
export function likeness(a: string, b: string): number {
  return sharedWords(wordsIn(a), wordsIn(b));
}

export function wordsIn(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

export function sharedWords(one: ReadonlySet<string>, two: ReadonlySet<string>): number {
  let both = 0;
  for (const word of one) if (two.has(word)) both++;
  return both / Math.max(1, one.size + two.size - both);
}
