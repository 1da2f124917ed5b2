/**
 * Links and empty folders among the copies: kept like files, with a content that says what they are, and a mode that says so too.
 *
 * CHECKPOINTS-8: a link comes back as a link that says the same; where it points is never read or written for it.
 */
import { type NoFile, readMark } from "../../core/files/index.ts";
import { hashContent } from "./blobs.ts";

/** As the operating system has them in a mode. */
const KIND = 0o170000;
const LINK = 0o120000;
const FOLDER = 0o040000;
const LINK_WORDS = "symbolic link\0";
const FOLDER_WORDS = "folder\0";

export interface KeptContent {
  hash: string;
  content: Buffer;
  mode: number;
}

export function keepNoFile(found: NoFile): KeptContent {
  return found.kind === "link" ? keepLink(found.target) : keepFolder(found.mode);
}

/** What a mark of the listing says stood there; nothing for a file, of which the mark has no content. */
export function keepMarked(mark: string): KeptContent | undefined {
  const said = readMark(mark);
  if (!said) return undefined;
  return "link" in said ? keepLink(said.link) : keepFolder(said.folder);
}

/** What to make of a content that comes back. */
export function readKept(content: Buffer, mode: number | null): { link: string } | { folder: number } | undefined {
  if (mode === null) return undefined;
  if ((mode & KIND) === LINK) return { link: content.toString("utf8").slice(LINK_WORDS.length) };
  return (mode & KIND) === FOLDER ? { folder: mode } : undefined;
}

/** Whether this is the mode of a link or a folder. */
export function isNoFileMode(mode: number | null): boolean {
  return mode !== null && ((mode & KIND) === LINK || (mode & KIND) === FOLDER);
}

function keepLink(target: string): KeptContent {
  return kept(`${LINK_WORDS}${target}`, LINK | 0o777);
}

function keepFolder(mode: number): KeptContent {
  return kept(FOLDER_WORDS, FOLDER | (mode & 0o777));
}

function kept(text: string, mode: number): KeptContent {
  const content = Buffer.from(text);
  return { hash: hashContent(content), content, mode };
}
