/** The text with one full stop at its end, unless it ends in a mark of its own. */
export function asSentence(text: string): string {
  const bare = text.trimEnd();
  return /[.!?…]["')\]]?$/.test(bare) ? bare : `${bare}.`;
}
