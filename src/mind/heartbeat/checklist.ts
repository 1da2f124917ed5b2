/**
 * HEARTBEAT.md as data. A line is an item; a hint in brackets at its end says when it is worth a look by itself. Pure.
 *
 *   - [ ] Answer the landlord (due 2026-11-20 09:00)
 *   - Look whether the backup ran (every 1 day)
 *   - Keep the summary up to date (when notes.md changes)
 *   - Tell me about anything that failed
 */
import { createHash } from "node:crypto";

export interface Item {
  /** Stays as long as the line does. */
  key: string;
  text: string;
  due?: string;
  every?: string;
  watch?: string;
}

const MOST_ITEMS = 100;

export function readChecklist(markdown: string): Item[] {
  const items: Item[] = [];
  let isComment = false;
  for (const raw of markdown.split("\n")) {
    const line = raw.trim();
    if (line.startsWith("<!--")) isComment = true;
    const skip = isComment || line === "" || line.startsWith("#") || /^\(.*\)$/.test(line) || /^(---|```)/.test(line);
    if (line.includes("-->")) isComment = false;
    if (skip || /^[-*+]\s+\[[xX]\]/.test(line)) continue;
    const text = line.replace(/^[-*+]\s+(\[ \]\s*)?/, "").trim();
    if (text === "") continue;
    items.push({ key: keyOf(text), text, ...hintOf(text) });
    if (items.length === MOST_ITEMS) break;
  }
  return items;
}

function hintOf(text: string): Pick<Item, "due" | "every" | "watch"> {
  const hint = /\(([^()]+)\)\.?$/.exec(text)?.[1]?.trim() ?? "";
  const [, due] = /^due\s+(.+)$/i.exec(hint) ?? [];
  if (due) return { due };
  const [, every] = /^every\s+(.+)$/i.exec(hint) ?? [];
  if (every) return { every };
  const [, watch] = /^when\s+(.+?)\s+changes$/i.exec(hint) ?? [];
  return watch ? { watch } : {};
}

export function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
