/**
 * Telegram's HTML as far as a bot meets it: what it refuses, in Telegram's words, and the plain text that is left, which is
 * what the 4096 characters are counted on.
 *
 * Documentation: https://core.telegram.org/bots/api#html-style
 */
const KNOWN = new Set("b strong i em u ins s strike del code pre a blockquote span tg-spoiler tg-emoji".split(" "));
const ENTITY: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"' };

export function parseHtml(html: string): { text: string } | { error: string } {
  const open: string[] = [];
  let text = "";
  for (let i = 0; i < html.length; ) {
    const char = html[i]!;
    if (char === "<") {
      const end = html.indexOf(">", i);
      const offset = Buffer.byteLength(html.slice(0, i));
      if (end < 0) return bad(`Unclosed start tag at byte offset ${offset}`);
      const tag = html.slice(i + 1, end);
      i = end + 1;
      if (tag.startsWith("/")) {
        const name = tag.slice(1).trim().toLowerCase();
        const last = open.pop();
        if (last === undefined) return bad(`Unexpected end tag at byte offset ${offset}`);
        if (last !== name)
          return bad(`Unmatched end tag at byte offset ${offset}, expected "</${last}>", found "</${name}>"`);
        continue;
      }
      const name = /^[a-z-]*/i.exec(tag)![0].toLowerCase();
      if (!KNOWN.has(name)) return bad(`Unsupported start tag "${name}" at byte offset ${offset}`);
      open.push(name);
      continue;
    }
    const entity = char === "&" ? /^&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/i.exec(html.slice(i, i + 12)) : null;
    const value = entity && entityOf(entity);
    if (value) {
      text += value;
      i += entity[0].length;
    } else {
      text += char;
      i++;
    }
  }
  const left = open.pop();
  return left === undefined ? { text } : bad(`Can't find end tag corresponding to start tag "${left}"`);
}

function entityOf([, decimal, hex, name]: RegExpExecArray): string | undefined {
  if (decimal) return String.fromCodePoint(Number(decimal));
  if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
  return ENTITY[name!.toLowerCase()];
}

const bad = (why: string) => ({ error: `Bad Request: can't parse entities: ${why}` });
