/**
 * The entries of an RSS or Atom text. A scanner and no document parser: it goes once over the text, from mark to mark, so no
 * feed can hang it, and it knows no entities but those of XML itself, so none can blow it up.
 */

/** Of each field the first element counts. */
const FIELDS = new Set("title link guid id pubdate published updated description summary content".split(" "));
/** Longer than any field that is shown; what is beyond it is not kept. */
const MOST_FIELD = 20_000;

/** The texts of one entry by the element's name in lower case; `href` is the address of the first link. */
export type Fields = Readonly<Record<string, string>>;

interface Open {
  fields: Record<string, string>;
  closing: string;
  /** The field being read, and what it has so far. */
  name?: string;
  text: string;
}

export function* entriesIn(xml: string): Generator<Fields> {
  let entry: Open | undefined;
  for (const mark of readMarks(xml)) {
    if (mark.kind === "text") {
      if (entry?.name && entry.text.length < MOST_FIELD) entry.text += mark.text.slice(0, MOST_FIELD);
    } else if (!entry) {
      const name = mark.kind === "open" ? mark.name.toLowerCase() : "";
      if (name === "item" || name === "entry") entry = { fields: {}, closing: name, text: "" };
    } else if (mark.kind === "close" && mark.name.toLowerCase() === entry.closing) {
      yield entry.fields;
      entry = undefined;
    } else inEntry(entry, mark);
  }
}

function inEntry(entry: Open, mark: Tag): void {
  const name = mark.name.toLowerCase();
  if (entry.name === undefined) {
    if (mark.kind === "close" || !FIELDS.has(name)) return;
    if (name === "link") entry.fields.href ??= readHref(mark.rest);
    if (mark.rest.endsWith("/") || entry.fields[name]) return;
    entry.name = name;
    entry.text = "";
  } else if (mark.kind === "close" && name === entry.name) {
    entry.fields[name] = entry.text.trim();
    delete entry.name;
  } else if (entry.text.length < MOST_FIELD) entry.text += " ";
}

type Tag = { kind: "open" | "close"; name: string; rest: string };
type Mark = Tag | { kind: "text"; text: string };

/** Tags and texts in their order. What is not closed is text to the end. */
function* readMarks(xml: string): Generator<Mark> {
  let at = 0;
  while (at < xml.length) {
    const tag = xml.indexOf("<", at);
    const until = tag < 0 ? xml.length : tag;
    if (until > at) yield { kind: "text", text: unescapeXml(xml.slice(at, until)) };
    if (tag < 0) return;
    // "a < b" in a title nobody escaped.
    if (!/[\w/!?:]/.test(xml[tag + 1] ?? "")) {
      yield { kind: "text", text: "<" };
      at = tag + 1;
      continue;
    }
    const [open, close] = BRACKETS.find(([begin]) => xml.startsWith(begin, tag)) ?? ["<", ">"];
    const end = xml.indexOf(close, tag + open.length);
    if (end < 0) return;
    const inner = xml.slice(tag + open.length, end);
    if (close === "]]>") yield { kind: "text", text: inner };
    else if (close === ">") {
      const parts = /^(\/?)([^\s/]*)/.exec(inner)!;
      yield { kind: parts[1] ? "close" : "open", name: parts[2]!, rest: inner.slice(parts[0].length) };
    }
    at = end + close.length;
  }
}

function readHref(attributes: string): string {
  return unescapeXml(/\shref\s*=\s*["']([^"'<>]*)["']/i.exec(attributes.slice(0, MOST_FIELD))?.[1] ?? "");
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|amp|quot|apos));/gi, (_all, ten, hex, name) => {
    if (name) return NAMED[String(name).toLowerCase()]!;
    const code = ten ? Number(ten) : Number.parseInt(String(hex), 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "";
  });
}

/** What is not a tag although it begins like one. */
const BRACKETS = [
  ["<![CDATA[", "]]>"],
  ["<!--", "-->"],
] as const;
