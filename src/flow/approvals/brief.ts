/**
 * What a chat shows of an approval (AP-09). The approval has the full text; a message shows its beginning, its end and the parts
 * that matter, and says how much it leaves out. Characters that a chat would hide or interpret are spelt out.
 */
import { visible } from "../../core/kit/index.ts";

/** What a phone shows without scrolling far. */
export const MOST_LINES = 12;
export const MOST_LETTERS = 1200;
/** Lines shown from the beginning and the end of a long text. */
const HEAD_LINES = 4;
const TAIL_LINES = 4;
/** Characters shown from the beginning and the end of a long line, and around what matters in it. */
const HEAD = 300;
const TAIL = 300;
const AROUND = 40;
const LONGEST_LINE = 700;
/** More places than this are counted, not shown. */
const MOST_PLACES = 8;
/** Runs of blanks serve only to push something out of sight. */
const BLANKS = /[ \t]{12,}/g;

/** `marks` are texts inside that must stay visible: programs, targets. */
export function brief(shown: string, marks: readonly string[] = []): string {
  const seen = visible(shown).replace(BLANKS, (blank) => ` [… ${blank.length} blanks …] `);
  const lines = seen.split("\n");
  if (lines.length <= MOST_LINES && seen.length <= MOST_LETTERS) return seen;
  const wanted = [...new Set(marks.map((mark) => visible(mark)))].filter((mark) => mark.length > 1);
  const kept = chooseLines(lines, wanted);
  const out: string[] = [];
  let at = 0;
  for (const i of kept) {
    if (i > at) out.push(`[… ${i - at} of ${lines.length} lines not shown …]`);
    out.push(shorten(lines[i]!, wanted));
    at = i + 1;
  }
  return out.join("\n");
}

/** Beginning, end, and lines that have something that matters, the rarest first: sixty times `echo` must not hide one `rm`. */
function chooseLines(lines: readonly string[], marks: readonly string[]): number[] {
  if (lines.length <= MOST_LINES) return lines.map((_, i) => i);
  const middle = lines.slice(HEAD_LINES, -TAIL_LINES);
  const counts = marks.map((mark) => ({ mark, n: lines.filter((line) => line.includes(mark)).length }));
  const telling = middle
    .map((line, i) => {
      const found = counts.filter(({ mark }) => line.includes(mark)).map(({ n }) => n);
      return { at: i + HEAD_LINES, rarity: Math.min(...found) };
    })
    .filter(({ rarity }) => rarity <= lines.length / 2)
    .sort((a, b) => a.rarity - b.rarity || a.at - b.at)
    .slice(0, MOST_PLACES)
    .map(({ at }) => at)
    .sort((a, b) => a - b);
  return [...lines.map((_, i) => i).slice(0, HEAD_LINES), ...telling, ...lines.map((_, i) => i).slice(-TAIL_LINES)];
}

function shorten(line: string, marks: readonly string[]): string {
  if (line.length <= LONGEST_LINE) return line;
  const keep: [number, number][] = [
    [0, HEAD],
    [line.length - TAIL, line.length],
  ];
  for (const mark of marks) {
    for (
      let at = line.indexOf(mark), n = 0;
      at >= 0 && n < MOST_PLACES;
      at = line.indexOf(mark, at + mark.length), n++
    ) {
      keep.push([Math.max(0, at - AROUND), Math.min(line.length, at + Math.min(mark.length, 120) + AROUND)]);
    }
  }
  keep.sort((a, b) => a[0] - b[0]);
  let out = "";
  let at = 0;
  for (const [from, to] of keep) {
    if (to <= at) continue;
    if (from > at) out += ` [… ${from - at} of ${line.length} characters not shown …] `;
    out += line.slice(Math.max(from, at), to);
    at = to;
  }
  return out;
}
