/** Questions to the word index. Scopes are words too, of characters that no text can bring in. */

/** Unicode's private use area: the analyser lets only letters, digits and marks through. */
const SCOPE_SIGN = "\u{e000}";

/** The word under which everything of a scope is indexed. Two scopes may share one; rows are checked once more. */
export function scopeWord(scope: string): string {
  // FNV-1a, 32 bits.
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(scope)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return SCOPE_SIGN + hash.toString(36);
}

/** Every one of the words, in one of the scopes. Analysed words hold no quotes. */
export function matchAll(words: readonly string[], scopeWords: readonly string[] | undefined): string {
  return within(words.map((word) => `"${word}"`).join(" AND "), scopeWords);
}

function within(wanted: string, scopeWords: readonly string[] | undefined): string {
  if (!scopeWords) return wanted;
  return `${wanted} AND (${scopeWords.map((word) => `"${word}"`).join(" OR ")})`;
}
