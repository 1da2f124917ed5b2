/** How much room text takes on a terminal. Only as exact as cutting and wrapping need. */

const MARKS = /^(\p{M}|\p{Cf})$/u;
// East Asian wide and full-width blocks, and emoji.
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;
const ESCAPE = /\u001b\[[0-9;]*m/g;

export function textWidth(text: string): number {
  const plain = text.replace(ESCAPE, "");
  if (/^[\u0020-\u007e]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const sign of plain) width += countColumns(sign);
  return width;
}

function countColumns(sign: string): number {
  if (MARKS.test(sign)) return 0;
  return WIDE.test(sign) ? 2 : 1;
}

/** Cuts plain text to a width, with … when something is missing. */
export function cut(text: string, most: number): string {
  if (textWidth(text) <= most) return text;
  return most < 1 ? "" : `${head(text, most - 1)}…`;
}

/** As much of the beginning as fits. */
export function head(text: string, most: number): string {
  let width = 0;
  let out = "";
  for (const sign of text) {
    width += textWidth(sign);
    if (width > most) break;
    out += sign;
  }
  return out;
}

/** As much of the end as fits. */
export function tail(text: string, most: number): string {
  let width = 0;
  let from = text.length;
  while (from > 0) {
    const pair = from > 1 && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(from - 2, from));
    const at = from - (pair ? 2 : 1);
    width += textWidth(text.slice(at, from));
    if (width > most) break;
    from = at;
  }
  return text.slice(from);
}

/** Breaks one line at spaces, else where it must. The last row may still grow. */
export function wrap(line: string, most: number): string[] {
  const rows: string[] = [];
  let rest = line;
  while (rest) {
    // Only a row's worth is measured, so that a long line is broken in linear time.
    const fits = head(rest, most) || String.fromCodePoint(rest.codePointAt(0)!);
    if (fits.length === rest.length) break;
    const space = rest[fits.length] === " " ? fits.length : fits.lastIndexOf(" ");
    const at = space > 0 ? space : fits.length;
    rows.push(rest.slice(0, at).trimEnd());
    rest = space > 0 ? rest.slice(at + 1) : rest.slice(at);
  }
  return [...rows, rest];
}
