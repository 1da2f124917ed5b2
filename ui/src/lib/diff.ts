/** What changed between two texts, and texts that already are a diff. */
import type { DiffLine } from "../../../src/core/protocol/diff.ts";

export { type DiffLine, diff } from "../../../src/core/protocol/diff.ts";

/** Reads a text that already is a diff, as an approval shows an edit. */
export function readDiff(text: string): DiffLine[] | undefined {
  const lines = text.split("\n");
  const marked = lines.filter((line) => /^[+-] /.test(line)).length;
  if (marked < 2 || marked < lines.length / 2) return undefined;
  return lines.map((line) =>
    /^[+-] /.test(line) ? { mark: line[0] as "+" | "-", text: line.slice(2) } : { mark: " ", text: line },
  );
}
