/** In a group without real mentions: "lares: do this", "@lares do this", or the name somewhere in it. */
export function addressedIn(text: string, nick: string): { text: string; addressed: boolean } {
  const name = nick.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const first = new RegExp(`^@?${name}(?:[:,]\\s*|\\s+)`, "i").exec(text);
  if (first) return { text: text.slice(first[0].length), addressed: true };
  return { text, addressed: new RegExp(`(?<![\\w-])${name}(?![\\w-])`, "i").test(text) };
}
