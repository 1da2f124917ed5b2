/** Mattermost calls emoji by words. The ones Lares uses, and the ones people answer questions with, are translated. */
const EMOJI: Readonly<Record<string, string>> = {
  "+1": "👍",
  "-1": "👎",
  white_check_mark: "✅",
  x: "❌",
  eyes: "👀",
  hourglass_flowing_sand: "⏳",
};

export function fromEmojiName(name: string): string {
  return EMOJI[name] ?? name;
}

export function toEmojiName(emoji: string): string {
  return Object.entries(EMOJI).find(([, sign]) => sign === emoji)?.[0] ?? emoji.replaceAll(":", "");
}
