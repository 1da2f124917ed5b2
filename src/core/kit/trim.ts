/**
 * Cuts given characters off a text's ends. `replace(/x+$/, "")` looks harmless but takes quadratic time: it tries again from
 * every x of every run, also of those in the middle.
 */
export function trimEndCharacters(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

export function trimCharacters(text: string, characters: string): string {
  const cut = trimEndCharacters(text, characters);
  let start = 0;
  while (start < cut.length && characters.includes(cut[start]!)) start++;
  return cut.slice(start);
}
