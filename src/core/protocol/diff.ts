/** What changed between two texts, line by line: the longest common run stays, the rest is marked. */
export interface DiffLine {
  mark: "+" | "-" | " ";
  text: string;
}
/** Beyond this the square table would be felt; both sides are then shown whole. */
const MOST = 1500;

export function diff(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  if (a.length > MOST || b.length > MOST) {
    return [...a.map((text) => ({ mark: "-" as const, text })), ...b.map((text) => ({ mark: "+" as const, text }))];
  }
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i * width + j] =
        a[i] === b[j]
          ? best[(i + 1) * width + j + 1]! + 1
          : Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!);
    }
  }
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ mark: " ", text: a[i++]! });
      j++;
    } else if (j >= b.length || (i < a.length && best[(i + 1) * width + j]! >= best[i * width + j + 1]!)) {
      out.push({ mark: "-", text: a[i++]! });
    } else out.push({ mark: "+", text: b[j++]! });
  }
  return out;
}
