/**
 * The words of a page, block by block. A scanner and no parser: a document may be anybody's, nest as deep as it likes and close
 * nothing. Scripts, styles and what is hidden are no text.
 */

export interface HtmlLine {
  text: string;
  isHeading: boolean;
}

/** What holds text of its own. */
const BLOCKS = new Set("h1 h2 h3 h4 h5 h6 p li td th pre blockquote dt dd figcaption".split(" "));
/** What ends a line without holding one. */
const BREAKS = new Set("br hr div section article main header footer ul ol dl table tr tbody thead figure".split(" "));
/** Up to their closing tag everything is theirs, whatever it looks like. */
const RAW = new Set(["script", "style", "title", "textarea"]);
const UNSEEN = new Set(["noscript", "template", "svg", "nav"]);
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));

/** The lines of its blocks; of a page without any, all of its text as one. */
export function htmlLines(html: string): HtmlLine[] {
  const lines: HtmlLine[] = [];
  const loose: string[] = [];
  let held: string[] = [];
  let [blocks, heading] = [0, false];
  /** The element that is not shown, and how many of its name are open in it. */
  let unseen: { name: string; depth: number } | undefined;
  const flush = () => {
    const text = held.join("").replace(/\s+/g, " ").trim();
    held = [];
    if (text !== "") lines.push({ text, isHeading: heading });
  };
  for (const mark of readMarks(html)) {
    if (mark.kind === "text") {
      if (unseen) continue;
      if (blocks > 0) held.push(mark.text);
      else loose.push(mark.text);
    } else if (unseen) {
      if (mark.name === unseen.name) unseen.depth += mark.isClosing ? -1 : 1;
      if (unseen.depth === 0) unseen = undefined;
    } else if (!mark.isClosing && (UNSEEN.has(mark.name) || mark.isHidden)) {
      if (!VOID.has(mark.name)) unseen = { name: mark.name, depth: 1 };
    } else if (BLOCKS.has(mark.name)) {
      flush();
      blocks = Math.max(0, blocks + (mark.isClosing ? -1 : 1));
      heading = !mark.isClosing && /^h\d$/.test(mark.name);
    } else if (BREAKS.has(mark.name)) {
      if (mark.name === "br" || mark.name === "hr") held.push(" ");
      else flush();
      loose.push(" ");
    }
  }
  flush();
  const rest = loose.join("").replace(/\s+/g, " ").trim();
  return lines.length > 0 || rest === "" ? lines : [{ text: rest, isHeading: false }];
}

type Mark = { kind: "text"; text: string } | { kind: "tag"; name: string; isClosing: boolean; isHidden: boolean };

/** Tags and texts in their order. What begins and never ends goes to the end of the page. */
function* readMarks(html: string): Generator<Mark> {
  const lower = html.toLowerCase();
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    const until = open < 0 ? html.length : open;
    if (until > at) yield { kind: "text", text: unescaped(html.slice(at, until)) };
    if (open < 0) return;
    if (html.startsWith("<!--", open)) {
      at = behind(html, "-->", open + 4);
      continue;
    }
    if (!/[a-z/!?]/.test(lower[open + 1] ?? "")) {
      yield { kind: "text", text: "<" };
      at = open + 1;
      continue;
    }
    const end = behind(html, ">", open + 1);
    const tag = lower.slice(open + 1, end - 1);
    const isClosing = tag.startsWith("/");
    const name = /^\/?([a-z][a-z0-9]*)/.exec(tag.slice(0, 20))?.[1] ?? "";
    at = !isClosing && RAW.has(name) ? behind(html, ">", behind(lower, `</${name}`, end)) : end;
    if (name && at === end) yield { kind: "tag", name, isClosing, isHidden: /\shidden(?![\w-])/.test(tag) };
  }
}

function behind(text: string, sign: string, from: number): number {
  const at = text.indexOf(sign, from);
  return at < 0 ? text.length : at + sign.length;
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " " };

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|amp|quot|apos|nbsp));/gi, (_all, ten, hex, name) => {
    if (name) return NAMED[String(name).toLowerCase()]!;
    const code = ten ? Number(ten) : Number.parseInt(String(hex), 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "";
  });
}
