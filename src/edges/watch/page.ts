/** A page's text, and which lines of it came and went. */
import { createHash } from "node:crypto";
import type { Json } from "../../core/domain/index.ts";
import type { Look, LookParts } from "./look.ts";
import { type CacheMarks, getChanged } from "./web.ts";

const MOST_BYTES = 2 * 1024 * 1024;
/** Lines whose coming and going is known one by one; of a longer page only that it changed. */
const MOST_LINES = 2000;
const MOST_SHOWN = 40;
const MOST_LETTERS = 300;

type Cursor = { hash: string; lines: string[]; n: number } & CacheMarks;

export async function lookAtPage(
  parts: LookParts,
  url: string,
  cursor: Json | null,
  signal: AbortSignal,
): Promise<Look> {
  const before = cursor as Cursor | null;
  const got = await getChanged(parts, url, before ?? {}, MOST_BYTES, signal);
  if (!got) return { items: [], cursor };
  const lines = splitLines(got.body.toString("utf8"), got.type);
  const hash = createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 24);
  const isNew = before !== null && before.hash !== hash;
  const n = (before?.n ?? 0) + (isNew ? 1 : 0);
  const next: Cursor = { hash, lines: lines.slice(0, MOST_LINES), n, ...got.marks };
  if (!isNew) return { items: [], cursor: next };
  const body = [url, ...changes(before.lines, next.lines)].join("\n");
  // The page may be again what it was: each change is one of its own.
  return { items: [{ id: `${n}-${hash}`, label: "A watched page changed", body }], cursor: next };
}

/** What a reader would see, line by line. */
export function splitLines(text: string, type: string): string[] {
  const isHtml = /html/i.test(type) || /^\s*<(!doctype html|html)/i.test(text);
  const bare = isHtml
    ? text
        .replace(/<!--[\s\S]*?(?:-->|$)/g, "")
        .replace(/<(script|style|noscript|template)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, "\n")
        .replace(/<[^<>]*>/g, "\n")
    : text;
  return bare
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim().slice(0, MOST_LETTERS))
    .filter(Boolean);
}

function changes(before: readonly string[], after: readonly string[]): string[] {
  const [old, now] = [new Set(before), new Set(after)];
  const came = after.filter((line) => !old.has(line)).map((line) => `+ ${line}`);
  const went = before.filter((line) => !now.has(line)).map((line) => `- ${line}`);
  const all = [...came, ...went];
  if (all.length === 0) return ["(the same lines in another order or number)"];
  const more = all.length > MOST_SHOWN ? [`(and ${all.length - MOST_SHOWN} more lines)`] : [];
  return [...all.slice(0, MOST_SHOWN), ...more];
}
