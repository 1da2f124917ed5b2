/**
 * Many known texts found in one pass. An alternation of thousands of them would try each at every letter; here a letter pair that
 * begins none of them costs one look into a table, and one that does a binary search. So the time goes with the text, and hardly
 * with the number of secrets, even when a text is nothing but beginnings of them.
 */

/** All texts are at least this long: the redactor refuses shorter ones. */
const HEAD = 6;
const TABLE = 65_536;

interface Group {
  texts: string[];
  /** For each text the longest other one it begins with, by index; -1 when there is none. */
  within: number[];
  longest: number;
}

export class KnownTexts {
  private readonly all = new Set<string>();
  private readonly begins = new Uint8Array(TABLE);
  private groups: Map<string, Group> | undefined;

  add(text: string): void {
    if (this.all.has(text)) return;
    this.all.add(text);
    this.begins[slot(text, 0)] = 1;
    this.groups = undefined;
  }

  /** At each place the longest known text goes: one that contains another goes as a whole. */
  replace(text: string, by: string): string {
    const spans = this.find(text);
    if (spans.length === 0) return text;
    let out = "";
    let from = 0;
    for (const [start, end] of spans) {
      out += text.slice(from, start) + by;
      from = end;
    }
    return out + text.slice(from);
  }

  /** Where known texts stand, in order and apart. */
  find(text: string): [from: number, to: number][] {
    if (this.all.size === 0) return [];
    this.groups ??= grouped(this.all);
    const { groups } = this;
    const spans: [number, number][] = [];
    for (let at = 0; at + HEAD <= text.length; ) {
      const length = this.begins[slot(text, at)] ? lengthAt(text, at, groups.get(text.slice(at, at + HEAD))) : 0;
      if (length === 0) {
        at++;
        continue;
      }
      spans.push([at, at + length]);
      at += length;
    }
    return spans;
  }
}

function grouped(all: ReadonlySet<string>): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const text of [...all].sort((a, b) => (a < b ? -1 : 1))) {
    const head = text.slice(0, HEAD);
    const group = groups.get(head) ?? { texts: [], within: [], longest: 0 };
    // In sorted order a text stands after what it begins with; what lies between begins with that too.
    let within = group.texts.length - 1;
    while (within >= 0 && !text.startsWith(group.texts[within]!)) within = group.within[within]!;
    group.texts.push(text);
    group.within.push(within);
    group.longest = Math.max(group.longest, text.length);
    groups.set(head, group);
  }
  return groups;
}

/** The length of the longest text that stands here, or 0: the last one in order that is not behind what stands here, or one of those it begins with. */
function lengthAt(text: string, at: number, group: Group | undefined): number {
  if (!group) return 0;
  const here = text.slice(at, at + group.longest);
  let low = 0;
  let high = group.texts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (group.texts[middle]! <= here) low = middle + 1;
    else high = middle;
  }
  let found = low - 1;
  while (found >= 0 && !here.startsWith(group.texts[found]!)) found = group.within[found]!;
  return found < 0 ? 0 : group.texts[found]!.length;
}

function slot(text: string, at: number): number {
  return (text.charCodeAt(at) * 251 + text.charCodeAt(at + 1)) & (TABLE - 1);
}
