/**
 * Markdown that is still being written, for a page that shows the tree itself. Finished blocks stay the same objects, so the
 * page leaves them alone and only the last few lines are parsed again.
 */
import { type Abilities, lower } from "./lower.ts";
import { parseWithStarts } from "./parse.ts";
import { type Block, clean } from "./tree.ts";

/** Takes the whole text so far and returns its blocks. A text that did not grow from the last one starts over. */
export type GrowingText = (text: string) => readonly Block[];

const PAGE: Abilities = { quotesNest: true, table: true, tableWidth: 0, link: true };

export function growingText(): GrowingText {
  let source = "";
  let finished: Block[] = [];
  /** Where the first unfinished block starts. */
  let rest = 0;
  return (given) => {
    const text = clean(given);
    if (!text.startsWith(source)) [finished, rest] = [[], 0];
    source = text;
    const tail = parseWithStarts(text.slice(rest));
    const blocks = lower(tail, { dialect: PAGE, fits: () => true }).blocks;
    const done = finishedBlocks(text, rest, tail.starts);
    finished = [...finished, ...blocks.slice(0, done.count)];
    rest = done.end;
    return [...finished, ...blocks.slice(done.count)];
  };
}

/**
 * A block is finished once the next one is certain to be another block. The line that is still being written can turn out to
 * be anything (`-` is a list until it is `-5 degrees`), and a table needs its second line to be one.
 */
function finishedBlocks(text: string, from: number, starts: readonly number[]): { count: number; end: number } {
  const offsets = [from];
  for (let at = text.indexOf("\n", from); at !== -1; at = text.indexOf("\n", at + 1)) offsets.push(at + 1);
  const whole = offsets.length - 1;
  const next = starts.findLastIndex((line, at) => at > 0 && line + 2 <= whole);
  return next === -1 ? { count: 0, end: from } : { count: next, end: offsets[starts[next]!]! };
}
