/** What an answer is, by its header and its first bytes: a page, other text, or something that is not text. */
import { binaryKind } from "../files/content.ts";

export type WebContent =
  | { kind: "html"; type: string; text: string }
  | { kind: "text"; type: string; text: string }
  | { kind: "binary"; type: string; what: string };

/** The header is believed unless the bytes prove it wrong: text has no NUL and does not begin like an archive. */
export function toContent(header: string | undefined, body: Buffer): WebContent {
  const [declared = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim());
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(declared) ? declared.toLowerCase() : "";
  const charset = parameters.map((part) => /^charset="?([\w:-]+)"?$/i.exec(part)?.[1]).find(Boolean);
  const wide = /^utf-?16/i.test(charset ?? "") || byteOrder(body)?.startsWith("utf-16");
  const binary = wide ? undefined : binaryKind(body);
  if (binary) return { kind: "binary", type: type || "application/octet-stream", what: binary };
  if (BINARY_TYPES.test(type) && !isTextual(type)) {
    // Servers call many a text `application/octet-stream`; it is text when it reads as text.
    if (type !== "application/octet-stream" || !readsAsText(body)) return { kind: "binary", type, what: type };
  }
  const looksHtml = startsAsHtml(body.subarray(0, 1024).toString("latin1"));
  const isHtml = type === "text/html" || type === "application/xhtml+xml" || (looksHtml && !type.startsWith("text/"));
  const text = decode(body, charset ?? (isHtml ? metaCharset(body) : undefined));
  return { kind: isHtml ? "html" : "text", type: type || (isHtml ? "text/html" : "text/plain"), text };
}

/** Behind blanks and comments, the first tag of a page. A scanner: an expression for this was once exponential. */
function startsAsHtml(text: string): boolean {
  let at = text.startsWith("\xef\xbb\xbf") ? 3 : 0;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at++;
    if (!text.startsWith("<!--", at)) break;
    const end = text.indexOf("-->", at + 4);
    if (end < 0) return false;
    at = end + 3;
  }
  return /^<(?:!doctype html|html|head|body)[\s>]/i.test(text.slice(at, at + 20));
}

const BINARY_TYPES = /^(?:image|audio|video|font|application)\//;

function isTextual(type: string): boolean {
  return /^application\/(?:.*\+)?(?:json|xml|yaml|javascript|x-javascript|ecmascript|x-ndjson|ndjson|json5|toml|x-yaml|x-sh|sql|graphql|rtf|x-www-form-urlencoded|xhtml\+xml)$|^image\/svg\+xml$/.test(
    type,
  );
}

function readsAsText(body: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(body.subarray(0, 8192), { stream: true });
    return true;
  } catch {
    return false;
  }
}

function decode(body: Buffer, charset: string | undefined): string {
  for (const label of [byteOrder(body), charset, "utf-8"]) {
    if (!label) continue;
    try {
      return new TextDecoder(label).decode(body);
    } catch {
      // A label nobody knows; the next guess is better than none.
    }
  }
  return body.toString("latin1");
}

function byteOrder(body: Buffer): string | undefined {
  const hex = body.subarray(0, 3).toString("hex");
  if (hex === "efbbbf") return "utf-8";
  if (hex.startsWith("feff")) return "utf-16be";
  if (hex.startsWith("fffe")) return "utf-16le";
  return undefined;
}

function metaCharset(body: Buffer): string | undefined {
  const tags =
    body
      .subarray(0, 2048)
      .toString("latin1")
      .match(/<meta[^<>]*/gi) ?? [];
  return tags.map((tag) => /charset\s*=\s*["']?([\w:-]+)/i.exec(tag)?.[1]).find(Boolean);
}
