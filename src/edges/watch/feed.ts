/**
 * RSS and Atom feeds. A feed is read by a small scanner and not by a document parser: entries, and a few elements in each. It
 * goes once over the text, so no feed can hang it, and knows no entities but those of XML itself, so none can blow it up.
 */
import { createHash } from "node:crypto";
import { AppError, type Json } from "../../core/domain/index.ts";
import type { Item, Look, LookParts } from "./look.ts";
import { getChanged, type Marks } from "./web.ts";

const MOST_BYTES = 4 * 1024 * 1024;
/** Entries of one feed that count; others keep ten to a hundred. */
const MOST_ENTRIES = 500;
/** Ids remembered after they left the feed: some feeds show an old entry again. */
const MOST_SEEN = 2000;
const MOST_SUMMARY = 600;

type Cursor = { seen: string[] } & Marks;

export async function lookAtFeed(
  parts: LookParts,
  url: string,
  cursor: Json | null,
  signal: AbortSignal,
): Promise<Look> {
  const before = cursor as Cursor | null;
  const got = await getChanged(parts, url, before ?? {}, MOST_BYTES, signal);
  if (!got) return { items: [], cursor };
  const entries = entriesOf(got.body.toString("utf8"));
  if (!entries) {
    throw new AppError("NOT_READY", {
      message: `${new URL(url).host} gave no feed.`,
      hint: "Give the address of the RSS or Atom feed itself.",
      retry: "after-change",
    });
  }
  const known = new Set(before?.seen ?? []);
  const fresh = before ? entries.filter((entry) => !known.has(entry.id)) : [];
  const now = entries.map((entry) => entry.id);
  const here = new Set(now);
  const seen = [...now, ...(before?.seen ?? []).filter((id) => !here.has(id))].slice(0, MOST_SEEN);
  return { items: fresh.reverse(), cursor: { seen, ...got.marks } };
}

/** The entries in the order of the feed, which is newest first; undefined when this is no feed. */
export function entriesOf(xml: string): Item[] | undefined {
  if (!/<(rss|feed|rdf:RDF)[\s>]/i.test(xml.slice(0, 4096))) return undefined;
  const items: Item[] = [];
  const ids = new Set<string>();
  for (const block of blocks(xml)) {
    const title = textOf(block, "title") || "(without a title)";
    const link = textOf(block, "link") || attribute(block, "link", "href") || "";
    const stamp = textOf(block, "guid") || textOf(block, "id") || link || `${title} ${textOf(block, "pubDate")}`;
    const id = createHash("sha256").update(stamp).digest("hex").slice(0, 24);
    if (ids.has(id)) continue;
    ids.add(id);
    const when = textOf(block, "pubDate") || textOf(block, "published") || textOf(block, "updated");
    const summary = plain(textOf(block, "description") || textOf(block, "summary") || textOf(block, "content"));
    const lines = [title, link, when, summary.slice(0, MOST_SUMMARY)].filter(Boolean);
    items.push({ id, label: "New in the feed", body: lines.join("\n") });
    if (items.length >= MOST_ENTRIES) break;
  }
  return items;
}

function* blocks(xml: string): Generator<string> {
  const opening = /<(item|entry)(?:\s[^<>]*)?>/gi;
  for (let found = opening.exec(xml); found; found = opening.exec(xml)) {
    const end = xml.indexOf(`</${found[1]}>`, opening.lastIndex);
    if (end < 0) return;
    yield xml.slice(opening.lastIndex, end);
    opening.lastIndex = end;
  }
}

/** The text of the first element of this name. */
function textOf(block: string, name: string): string {
  const open = new RegExp(`<${name}(?:\\s[^<>]*)?>`, "i").exec(block);
  if (!open || open[0].endsWith("/>")) return "";
  const from = open.index + open[0].length;
  const end = block.toLowerCase().indexOf(`</${name.toLowerCase()}>`, from);
  return end < 0 ? "" : unescapeXml(block.slice(from, end)).trim();
}

function attribute(block: string, name: string, key: string): string {
  const tag = new RegExp(`<${name}\\s[^<>]*>`, "i").exec(block)?.[0] ?? "";
  return unescapeXml(new RegExp(`\\s${key}\\s*=\\s*["']([^"'<>]*)["']`, "i").exec(tag)?.[1] ?? "");
}

function unescapeXml(text: string): string {
  const named: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
  return text
    .split(/(<!\[CDATA\[[\s\S]*?\]\]>)/)
    .map((part) =>
      part.startsWith("<![CDATA[")
        ? part.slice(9, -3)
        : part.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|amp|quot|apos));/gi, (_all, ten, hex, name) => {
            if (name) return named[String(name).toLowerCase()]!;
            const code = ten ? Number(ten) : Number.parseInt(String(hex), 16);
            return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "";
          }),
    )
    .join("");
}

/** A summary is often HTML. */
function plain(html: string): string {
  return html
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
