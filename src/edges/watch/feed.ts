/** RSS and Atom feeds: what is new since the last look. */
import { createHash } from "node:crypto";
import { AppError, type Json } from "../../core/domain/index.ts";
import { entriesIn } from "./feed-xml.ts";
import type { Look, LookParts, WatchedItem } from "./look.ts";
import { type CacheMarks, getChanged } from "./web.ts";

const MOST_BYTES = 4 * 1024 * 1024;
/** Entries of one feed that count; others keep ten to a hundred. */
const MOST_ENTRIES = 500;
/** Ids remembered after they left the feed: some feeds show an old entry again. */
const MOST_SEEN = 2000;
const MOST_SUMMARY = 600;
const MOST_TITLE = 500;
const MOST_LINK = 2048;
const MOST_WHEN = 100;

type Cursor = { seen: string[] } & CacheMarks;

export async function lookAtFeed(
  parts: LookParts,
  url: string,
  cursor: Json | null,
  signal: AbortSignal,
): Promise<Look> {
  const before = cursor as Cursor | null;
  const got = await getChanged(parts, url, before ?? {}, MOST_BYTES, signal);
  if (!got) return { items: [], cursor };
  const entries = parseEntries(got.body.toString("utf8"));
  if (!entries) {
    throw new AppError("NOT_READY", {
      message: `${new URL(url).host} doesn't return a feed.`,
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
export function parseEntries(xml: string): WatchedItem[] | undefined {
  if (!/<(rss|feed|rdf:RDF)[\s>]/i.test(xml.slice(0, 4096))) return undefined;
  const items: WatchedItem[] = [];
  const ids = new Set<string>();
  for (const entry of entriesIn(xml)) {
    const title = entry.title?.slice(0, MOST_TITLE) || "(without a title)";
    const link = (entry.link || entry.href || "").slice(0, MOST_LINK);
    const stamp = entry.guid || entry.id || link || `${title} ${entry.pubdate ?? ""}`;
    const id = createHash("sha256").update(stamp).digest("hex").slice(0, 24);
    if (ids.has(id)) continue;
    ids.add(id);
    const when = (entry.pubdate || entry.published || entry.updated || "").slice(0, MOST_WHEN);
    const summary = plain(entry.description || entry.summary || entry.content || "");
    const lines = [title, link, when, summary.slice(0, MOST_SUMMARY)].filter(Boolean);
    items.push({ id, label: "New in the feed", body: lines.join("\n") });
    if (items.length >= MOST_ENTRIES) break;
  }
  return items;
}

/** A summary is often HTML. */
function plain(html: string): string {
  return html
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
