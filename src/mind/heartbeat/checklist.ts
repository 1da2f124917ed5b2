/**
 * HEARTBEAT.md as data. A line is an item; a hint in parentheses, anywhere in it, says when it is worth checking on its own.
 * Pure.
 *
 *   - [ ] Answer the landlord (due 2026-11-20 09:00)
 *   - Look whether the backup ran (every 1 day)
 *   - Keep the summary up to date (when notes.md changes)
 *   - Tell me about anything that failed
 */
import { createHash } from "node:crypto";

export interface ChecklistItem {
  /** Stays as long as the line does. */
  key: string;
  text: string;
  due?: string;
  every?: string;
  watch?: string;
  /** A kind of hint that it has twice. */
  twice?: "due" | "every" | "when";
}

const MOST_ITEMS = 100;

export function readChecklist(markdown: string): ChecklistItem[] {
  const items: ChecklistItem[] = [];
  let isComment = false;
  for (const raw of markdown.split("\n")) {
    const line = raw.trim();
    if (line.startsWith("<!--")) isComment = true;
    const skip = isComment || line === "" || line.startsWith("#") || /^\(.*\)$/.test(line) || /^(---|```)/.test(line);
    if (line.includes("-->")) isComment = false;
    if (skip || /^[-*+]\s+\[[xX]\]/.test(line)) continue;
    const text = line.replace(/^[-*+]\s+(\[ \]\s*)?/, "").trim();
    if (text === "") continue;
    items.push({ key: hashItem(text), text, ...readHint(text) });
    if (items.length === MOST_ITEMS) break;
  }
  return items;
}

/** Parses hints in parentheses; of two of the same kind, the first counts and a problem is reported. Other parentheses are plain text. */
function readHint(text: string): Pick<ChecklistItem, "due" | "every" | "watch" | "twice"> {
  const hint: Pick<ChecklistItem, "due" | "every" | "watch" | "twice"> = {};
  const set = (key: "due" | "every" | "watch", word: NonNullable<ChecklistItem["twice"]>, value: string) => {
    if (hint[key] !== undefined) hint.twice ??= word;
    hint[key] ??= value;
  };
  for (const piece of text.split("(").slice(1)) {
    const inside = piece.split(")", 1)[0]!.trim();
    const [first = "", ...rest] = inside.split(/\s+/);
    if (rest.length === 0 || !piece.includes(")")) continue;
    const word = first.toLowerCase();
    if (word === "due" || word === "every") set(word, word, rest.join(" "));
    if (word === "when" && rest.length > 1 && rest.at(-1)!.toLowerCase() === "changes") {
      set("watch", word, rest.slice(0, -1).join(" "));
    }
  }
  return hint;
}

function hashItem(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
