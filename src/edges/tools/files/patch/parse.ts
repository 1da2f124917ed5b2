/**
 * A patch as models write it becomes a list of changes. Two forms: the unified diff (with or without git's lines), and
 * `*** Begin Patch`. Wrong line counts, code fences and missing blanks on empty lines are forgiven; what cannot be meant in
 * one way only is refused with the line.
 */
import { wrongInput } from "../../paths/index.ts";

export interface HunkLine {
  kind: " " | "-" | "+";
  text: string;
}

export interface Hunk {
  /** As the patch has it, for messages. */
  title: string;
  /** Line of the old file where it should begin, from 1; undefined when the patch does not say. */
  line?: number;
  /** A line that stands somewhere before it: what `@@` names in the second form. */
  after?: string;
  lines: HunkLine[];
  /** It must end where the file ends. */
  atEnd?: boolean;
  /** The last line has no line end: before, and afterwards. */
  oldIsOpen?: boolean;
  newIsOpen?: boolean;
}

export type PatchChange =
  | { kind: "add"; path: string; content: string }
  | { kind: "delete"; path: string }
  | { kind: "update"; path: string; moveTo?: string; hunks: Hunk[] };

export function parsePatch(text: string): PatchChange[] {
  const lines = withoutFence(withoutCarriageReturns(text).split("\n"));
  const begin = lines.findIndex((line) => line.trim() === "*** Begin Patch");
  const changes = begin >= 0 ? parseMarked(lines, begin) : parseUnified(lines);
  if (changes.length === 0) {
    throw wrongInput(
      "apply_patch: The patch changes no file.",
      'Begin each file with "--- a/path" and "+++ b/path", or use "*** Begin Patch".',
    );
  }
  return changes;
}

// ---- *** Begin Patch

const SECTION = /^\*\*\* (Add File|Update File|Delete File|Move to|End Patch|End of File)(?::(.*))?$/;

function parseMarked(lines: readonly string[], begin: number): PatchChange[] {
  const changes: PatchChange[] = [];
  let update: Extract<PatchChange, { kind: "update" }> | undefined;
  let added: string[] | undefined;
  const filled = nextFilled(lines);
  const close = () => {
    const last = changes.at(-1);
    if (added && last?.kind === "add") last.content = added.length ? `${added.join("\n")}\n` : "";
    if (update?.hunks.every((hunk) => hunk.lines.length === 0)) update.hunks = [];
    if (update && update.hunks.length === 0 && update.moveTo === undefined) {
      throw wrongInput(
        `apply_patch: The patch updates "${update.path}" but has no hunk for it.`,
        "Add a hunk that begins with @@.",
      );
    }
    if (update) update.hunks = update.hunks.filter((hunk) => hunk.lines.length > 0);
    update = undefined;
    added = undefined;
  };
  for (let at = begin + 1; at < lines.length; at++) {
    const line = lines[at]!;
    const section = SECTION.exec(line.trimEnd());
    if (section) {
      const [word, path] = [section[1]!, section[2]?.trim() ?? ""];
      if (word === "End Patch") break;
      if (word === "End of File") {
        const hunk = update?.hunks.at(-1);
        if (hunk) hunk.atEnd = true;
        continue;
      }
      if (path === "") throw unreadable(at, line, "names no file");
      if (word === "Move to") {
        if (!update || update.hunks.length > 0) throw unreadable(at, line, "must follow the line of the file it moves");
        update.moveTo = path;
        continue;
      }
      close();
      if (word === "Add File") {
        added = [];
        changes.push({ kind: "add", path, content: "" });
      } else if (word === "Delete File") changes.push({ kind: "delete", path });
      else {
        update = { kind: "update", path, hunks: [] };
        changes.push(update);
      }
    } else if (added) {
      if (line.startsWith("+")) added.push(line.slice(1));
      else if (line.trim() !== "") throw unreadable(at, line, 'must begin with "+": it is in a new file');
    } else if (update) {
      markedLine(update, { line, at, next: lines[filled[at]!] });
    } else if (line.trim() !== "") throw unreadable(at, line, "belongs to no file");
  }
  close();
  return changes;
}

function markedLine(
  update: Extract<PatchChange, { kind: "update" }>,
  { line, at, next }: { line: string; at: number; next: string | undefined },
): void {
  if (/^@@/.test(line)) {
    const numbers = /^@@ -(\d+)/.exec(line);
    const name = numbers ? "" : line.replace(/^@@ ?/, "").replace(/ ?@@$/, "");
    update.hunks.push({
      title: line.trim(),
      lines: [],
      ...(numbers ? { line: Number(numbers[1]) } : {}),
      ...(name.trim() ? { after: name } : {}),
    });
    return;
  }
  // An empty line before the next section only separates.
  if (line === "" && (next === undefined || SECTION.test(next.trimEnd()))) return;
  let hunk = update.hunks.at(-1);
  if (!hunk) {
    hunk = { title: "the first hunk", lines: [] };
    update.hunks.push(hunk);
  }
  hunk.lines.push(bodyLine(line, at));
}

/** For each line the index of the next one that is not empty. */
function nextFilled(lines: readonly string[]): readonly number[] {
  const next = new Array<number>(lines.length);
  let filled = lines.length;
  for (let at = lines.length - 1; at >= 0; at--) {
    next[at] = filled;
    if (lines[at] !== "") filled = at;
  }
  return next;
}

// ---- unified diff

interface Header {
  from?: string;
  to?: string;
  renamed?: { from: string; to: string };
  isNew: boolean;
  isDeleted: boolean;
}

function parseUnified(lines: readonly string[]): PatchChange[] {
  const changes: PatchChange[] = [];
  for (let at = 0; at < lines.length; ) {
    if (!startsFile(lines, at)) {
      // Words before the first file are a mail's or a model's; between files they would hide a mistake.
      if (/^@@/.test(lines[at]!)) throw unreadable(at, lines[at]!, "comes before any file is named");
      if (changes.length > 0 && /^[-+]/.test(lines[at]!)) throw unreadable(at, lines[at]!, "belongs to no hunk");
      at++;
      continue;
    }
    const { header, next } = readHeader(lines, at);
    const { hunks, end } = readHunks(lines, next);
    changes.push(toChange(header, hunks, at, lines[at]!));
    at = end;
  }
  return changes;
}

function startsFile(lines: readonly string[], at: number): boolean {
  const line = lines[at]!;
  return line.startsWith("diff --git ") || (/^--- \S/.test(line) && /^\+\+\+ \S/.test(lines[at + 1] ?? ""));
}

function readHeader(lines: readonly string[], start: number): { header: Header; next: number } {
  const header: Header = { isNew: false, isDeleted: false };
  const git = gitNames(lines[start]!);
  let renameFrom: string | undefined;
  let at = git ? start + 1 : start;
  for (; at < lines.length; at++) {
    const line = lines[at]!;
    if (line.startsWith("rename from ")) renameFrom = line.slice(12).trim();
    else if (line.startsWith("rename to ") && renameFrom !== undefined)
      header.renamed = { from: renameFrom, to: line.slice(10).trim() };
    else if (/^new file mode 100/.test(line)) header.isNew = true;
    else if (/^deleted file mode /.test(line)) header.isDeleted = true;
    else if (/^(old|new) mode |^new file mode |^copy (from|to) |^GIT binary patch|^Binary files /.test(line)) {
      throw unreadable(at, line, "cannot be applied: only contents and names of text files change");
    } else if (!/^(index |similarity index |dissimilarity index )/.test(line)) break;
  }
  if (/^--- \S/.test(lines[at] ?? "") && /^\+\+\+ \S/.test(lines[at + 1] ?? "")) {
    const [from, to] = stripped(fileName(lines[at]!), fileName(lines[at + 1]!));
    header.from = from;
    header.to = to;
    at += 2;
  } else if (git && !header.renamed) {
    header.from = header.isNew ? "/dev/null" : git.from;
    header.to = header.isDeleted ? "/dev/null" : git.to;
  }
  return { header, next: at };
}

/** The two names behind `diff --git`, cut at the last blank. */
function gitNames(line: string): { from: string; to: string } | undefined {
  const start = "diff --git ";
  const cut = line.lastIndexOf(" ");
  if (!line.startsWith(start) || cut <= start.length || cut === line.length - 1) return undefined;
  return { from: line.slice(start.length, cut).replace(/^a\//, ""), to: line.slice(cut + 1).replace(/^b\//, "") };
}

/** What follows the three characters, without the time some programs put behind a tab. */
function fileName(line: string): string {
  return line.slice(4).split("\t")[0]!.trim();
}

/** git's `a/` and `b/` go, when both sides have theirs. */
function stripped(from: string, to: string): [string, string] {
  const fits = (name: string, side: string) => name === "/dev/null" || name.startsWith(side);
  if (!fits(from, "a/") || !fits(to, "b/")) return [from, to];
  const bare = (name: string) => (name === "/dev/null" ? name : name.slice(2));
  return [bare(from), bare(to)];
}

function toChange(header: Header, hunks: Hunk[], at: number, line: string): PatchChange {
  const from = header.renamed?.from ?? header.from;
  const to = header.renamed?.to ?? header.to;
  if (from === undefined || to === undefined) throw unreadable(at, line, "names no file");
  if (from === "/dev/null" || header.isNew) {
    if (to === "/dev/null") throw unreadable(at, line, "names no file");
    const old = hunks.flatMap((hunk) => hunk.lines).find((one) => one.kind !== "+");
    if (old)
      throw wrongInput(
        `apply_patch: The patch adds "${to}" as a new file, so every line of it must begin with "+": ${old.text}`,
      );
    const text = hunks.flatMap((hunk) => hunk.lines.map((one) => one.text));
    const isOpen = hunks.at(-1)?.newIsOpen ?? false;
    return { kind: "add", path: to, content: text.length ? text.join("\n") + (isOpen ? "" : "\n") : "" };
  }
  if (to === "/dev/null" || header.isDeleted) return { kind: "delete", path: from };
  if (hunks.length === 0 && from === to)
    throw wrongInput(`apply_patch: The patch names "${to}" but has no hunk for it.`, "Add a hunk that begins with @@.");
  return { kind: "update", path: from, hunks, ...(from === to ? {} : { moveTo: to }) };
}

function readHunks(lines: readonly string[], start: number): { hunks: Hunk[]; end: number } {
  const hunks: Hunk[] = [];
  let at = start;
  while (at < lines.length && /^@@/.test(lines[at]!)) {
    const title = lines[at]!;
    const numbers = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(title);
    const hunk: Hunk = { title: title.trim(), lines: [], ...(numbers ? { line: Number(numbers[1]) } : {}) };
    let oldLeft = numbers ? Number(numbers[2] ?? 1) : 0;
    let newLeft = numbers ? Number(numbers[4] ?? 1) : 0;
    for (at++; at < lines.length; at++) {
      const line = lines[at]!;
      const counted = oldLeft > 0 || newLeft > 0;
      if (/^@@/.test(line) || line.startsWith("diff --git ")) break;
      // Counted lines are the hunk's whatever they look like: `--- x` is the removal of `-- x`.
      if (!counted && startsFile(lines, at)) break;
      if (/^\\ No newline/.test(line)) {
        const last = hunk.lines.at(-1)?.kind;
        if (last !== "+") hunk.oldIsOpen = true;
        if (last !== "-") hunk.newIsOpen = true;
        continue;
      }
      if (line === "" && !goesOn(lines, at, counted)) break;
      if (!counted && !/^[-+ ]/.test(line) && line !== "") break;
      const one = bodyLine(line, at);
      if (one.kind !== "+") oldLeft--;
      if (one.kind !== "-") newLeft--;
      hunk.lines.push(one);
    }
    if (hunk.lines.length === 0) throw unreadable(at - 1, title, "is a hunk without lines");
    hunks.push(hunk);
  }
  return { hunks, end: at };
}

/** An empty line is a line of the hunk when the hunk goes on behind it. */
function goesOn(lines: readonly string[], at: number, counted: boolean): boolean {
  let next = at + 1;
  while (next < lines.length && lines[next] === "") next++;
  const line = lines[next];
  return line !== undefined && /^[-+ ]/.test(line) && (counted || !startsFile(lines, next));
}

// ---- both

function bodyLine(line: string, at: number): HunkLine {
  if (line === "") return { kind: " ", text: "" };
  const kind = line[0];
  if (kind === " " || kind === "-" || kind === "+") return { kind, text: line.slice(1) };
  throw unreadable(at, line, 'must begin with " ", "-" or "+": it is in a hunk');
}

function withoutCarriageReturns(text: string): string {
  return /(^|[^\r])\n/.test(text) ? text : text.replaceAll("\r\n", "\n");
}

function withoutFence(lines: string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  const isFenced = first >= 0 && last > first && /^```\w*$/.test(lines[first]!.trim()) && lines[last]!.trim() === "```";
  return isFenced ? lines.slice(first + 1, last) : lines;
}

function unreadable(at: number, line: string, why: string): Error {
  return wrongInput(`apply_patch: Line ${at + 1} of the patch ("${line.slice(0, 120)}") ${why}. Nothing was changed.`);
}
