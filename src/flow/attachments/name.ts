import { trimCharacters } from "../../core/kit/index.ts";

/** The sender's name for a file: a label for people and never a path. */

/** Long enough for any title, short enough for a chip and a header. */
const MOST_SIGNS = 120;

export function cleanName(raw: string): string {
  const last = raw.normalize("NFC").split(/[\\/]/).at(-1) ?? "";
  // Control and invisible characters could turn the text around; brackets would end the label it is shown in.
  const shown = last.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}[\]<>"`]/gu, "").replace(/\s+/g, " ");
  const plain = trimCharacters(shown, ". ");
  const signs = [...plain];
  if (signs.length <= MOST_SIGNS) return plain || "file";
  const ending = /\.[A-Za-z0-9]{1,8}$/.exec(plain)?.[0] ?? "";
  return `${signs.slice(0, MOST_SIGNS - ending.length - 1).join("")}…${ending}`;
}

/** Short enough that an envelope names it whole, with its folder. */
const MOST_IN_PATH = 48;

/**
 * The same as a file of the workspace: letters, digits and `._-`, nothing a shell reads otherwise. `n`: counts files of the same
 * name.
 */
export function inboxName(label: string, n = 1): string {
  const plain = label
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}._-]/gu, "_")
    .replace(/__+/g, "_");
  const [ending = ""] = /\.[A-Za-z0-9]{1,8}$/.exec(plain) ?? [];
  const stem = trimCharacters(plain.slice(0, plain.length - ending.length), "._-") || "file";
  const suffix = `${n > 1 ? `-${n}` : ""}${ending.toLowerCase()}`;
  const room = MOST_IN_PATH - suffix.length;
  // Some scripts take four bytes a letter; a file system counts bytes.
  return `${[...stem].slice(0, room).join("")}${suffix}`;
}
