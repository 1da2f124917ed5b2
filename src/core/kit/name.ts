/** Names that other people chose, made safe to stand in a line of ours. */

/** Longer ones are cut: a name is a name, not a message. */
const LONGEST_NAME = 40;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
/**
 * Marks our own lines are built with, in every script and width: brackets, quotes, and the dot or bar between their parts. The
 * apostrophe of a name (`O’Brien`) stays.
 */
const MARKS = /(?!’)[\p{Ps}\p{Pe}\p{Pi}\p{Pf}<>＜＞﹤﹥"＂〃″‶`｀·・･•‧∙⋅ꞏ᛫‖|｜∣│┃❘\\＼﹨∖]/gu;

/** In quotes, on one line, without anything that could end the line it stands in or pose as a part of it. */
export function quotedName(name: string, longest = LONGEST_NAME): string {
  const plain = name
    .slice(0, 4 * longest)
    .normalize("NFC")
    .replace(HIDDEN, " ")
    .replace(MARKS, " ")
    .replace(/\s+/gu, " ")
    .trim();
  const letters = [...plain];
  const cut = letters.length > longest ? `${letters.slice(0, longest - 1).join("")}…` : plain;
  return `"${cut || "?"}"`;
}

/** Where a text that must not be altered, such as a command, could no longer stand in a line of ours. */
const UNFIT = /\s{2}|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}[\]·]/u;

/** In quotes, as it is: cut where it is too long or has something that a line of ours can't hold, and never changed. */
export function quotedBeginning(text: string, longest = 60): string {
  const unfit = text.search(UNFIT);
  const letters = [...(unfit < 0 ? text : text.slice(0, unfit)).slice(0, 2 * longest)];
  const begun = letters.slice(0, longest).join("");
  return JSON.stringify(begun === text ? text : `${begun.trimEnd()}…`);
}
