/** Whether a word is one of these long options, whole or cut short: many programs take `--upl=x` for `--upload-pack=x`. */
export function isCutShort(word: string, names: readonly string[]): boolean {
  if (!word.startsWith("--")) return false;
  const option = word.slice(2).split("=", 1)[0]!;
  return option !== "" && names.some((name) => name.startsWith(option));
}
