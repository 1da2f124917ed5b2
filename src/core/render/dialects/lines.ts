/** Plain text and what is close to it: SMS, Nostr, IRC's control codes, Signal's ranges, XMPP's message styling. */
import { type Dialect, LINES, type Part, type Style, unfenced, ZERO } from "../dialect.ts";

export const plain: Dialect = {
  ...LINES,
  name: "plain",
  limit: { limit: 1600, unit: "utf16" },
};

export const nostr: Dialect = {
  ...LINES,
  name: "nostr",
  // NIP-21/27: clients show these as somebody's name and may tell them.
  escape: (text) => text.replace(/(nostr:|@)(?=(npub|nprofile|note|nevent|naddr)1)/gi, `$1${ZERO}`),
  limit: { limit: 16_000, unit: "bytes" },
};

/** mIRC's codes, each one both opens and closes. A line is a message, so a mark never goes over a line's end. */
const BOLD = "\x02";
const ITALIC = "\x1d";
const STRUCK = "\x1e";
const MONO = "\x11";
export const irc: Dialect = {
  ...LINES,
  name: "irc",
  strong: [BOLD, BOLD],
  em: [ITALIC, ITALIC],
  strike: [STRUCK, STRUCK],
  marksStand: "anywhere",
  code: (text) => `${MONO}${text}${MONO}`,
  fence: (text) => text.replace(/[^\n]+/g, (line) => `${MONO}${line}${MONO}`),
  gap: "\n",
  oneLine: true,
  // 512 with CR LF and ":nick!user@host PRIVMSG #channel :" in front; see `ircRoom`.
  limit: { limit: 350, unit: "bytes" },
};

/** Bytes left for the text of an IRC message: the server puts our whole name in front when it passes it on. */
export function ircRoom(at: { nick: string; target: string; user?: string; host?: string }): number {
  // RFC 2812: a user name has at most 10 characters, a host at most 63.
  const name = `:${at.nick}!${at.user ?? "u".repeat(11)}@${at.host ?? "h".repeat(63)} PRIVMSG ${at.target} :`;
  return 512 - 2 - Buffer.byteLength(name);
}

// Signal takes ranges beside the text. The walker writes noncharacters, which no text can hold (RENDER-8), and they are read off.
const SIGNAL: readonly (readonly [Style["style"], string, string])[] = [
  ["BOLD", "\ufdd0", "\ufdd1"],
  ["ITALIC", "\ufdd2", "\ufdd3"],
  ["STRIKETHROUGH", "\ufdd4", "\ufdd5"],
  ["MONOSPACE", "\ufdd6", "\ufdd7"],
];
const signalPair = (at: number) => [SIGNAL[at]![1], SIGNAL[at]![2]] as const;
const mono = (text: string) => `\ufdd6${text}\ufdd7`;
export const signal: Dialect = {
  ...LINES,
  name: "signal",
  strong: signalPair(0),
  em: signalPair(1),
  strike: signalPair(2),
  marksStand: "anywhere",
  code: mono,
  fence: mono,
  tableWidth: 36,
  finish: readStyles,
  limit: { limit: 2000, unit: "utf16" },
};

function readStyles(written: string): Part {
  const styles: Style[] = [];
  const open = new Map<Style["style"], number>();
  let text = "";
  for (const piece of written.split(/([\ufdd0-\ufdd7])/)) {
    const starts = SIGNAL.find(([, sign]) => sign === piece);
    const ends = SIGNAL.find(([, , sign]) => sign === piece);
    if (starts) open.set(starts[0], text.length);
    else if (ends) {
      const start = open.get(ends[0])!;
      if (text.length > start) styles.push({ style: ends[0], start, length: text.length - start });
    } else text += piece;
  }
  return styles.length > 0 ? { text, styles } : { text };
}

/** XEP-0393. A directive counts only at a line's start or behind a blank; an unseen sign before it takes that away. */
export const xmpp: Dialect = {
  ...LINES,
  name: "xmpp",
  escape: (text, lineStart) => {
    const safe = text.replace(/(?<=^|\s)(?=[*_~`])/g, ZERO).replace(/(?<=[*_~`])(?=[*_~`])/g, ZERO);
    return lineStart ? safe.replace(/^(?=>|```)/, ZERO) : safe;
  },
  strong: ["*", "*"],
  em: ["_", "_"],
  strike: ["~", "~"],
  marksStand: "behind-blanks",
  marksOnCode: false,
  code: (text) => `\`${text.replaceAll("`", "ˋ")}\``,
  fence: (text, lang) => `\`\`\`${lang}\n${unfenced(text)}\n\`\`\``,
  tableWidth: 60,
  limit: { limit: 10_000, unit: "bytes" },
};
