/** HTML, as much of it as each platform takes: Telegram, Matrix, mail, Teams. */
import { type Dialect, LINES, type Part, uncalled, ZERO } from "../dialect.ts";

const tagless = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const attribute = (text: string) => tagless(text).replaceAll('"', "&quot;");
const anchor = (label: string, url: string) => `<a href="${attribute(url)}">${label}</a>`;

/** Only the tags of the Bot API; blocks are lines of text. Its limit counts what is left after reading the tags. */
export const telegram: Dialect = {
  ...LINES,
  name: "telegram",
  // Telegram finds @names in the shown text, over tags.
  escape: (text) => tagless(uncalled(text)),
  strong: ["<b>", "</b>"],
  em: ["<i>", "</i>"],
  strike: ["<s>", "</s>"],
  marksStand: "anywhere",
  marksOnCode: false,
  code: (text) => `<code>${tagless(text)}</code>`,
  link: anchor,
  url: tagless,
  mention: { id: /^\d{1,20}$/, write: (id, label) => anchor(tagless(label), `tg://user?id=${id}`) },
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
  quotesNest: false,
  fence: (text, lang) =>
    lang ? `<pre><code class="language-${lang}">${tagless(text)}</code></pre>` : `<pre>${tagless(text)}</pre>`,
  tableWidth: 36,
  finish: (html): Part => ({ text: shown(html), html }),
  // The Bot API ignores formatting past the hundredth entity.
  mostEntities: 100,
  limit: { limit: 4096, unit: "utf16" },
};

/** The words of HTML written here: tags out, the four references back. */
function shown(html: string): string {
  return html
    .replace(/<[^<>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}

const html: Omit<Dialect, "name" | "limit"> = {
  ...LINES,
  escape: tagless,
  strong: ["<strong>", "</strong>"],
  em: ["<em>", "</em>"],
  strike: ["<del>", "</del>"],
  marksStand: "anywhere",
  code: (text) => `<code>${tagless(text)}</code>`,
  link: anchor,
  url: (url) => anchor(tagless(url.replace(/^mailto:/i, "")), url),
  heading: (inner, level) => `<h${level}>${inner}</h${level}>`,
  paragraph: (inner) => `<p>${inner}</p>`,
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
  fence: (text, lang) => `<pre><code${lang ? ` class="language-${lang}"` : ""}>${tagless(text)}</code></pre>`,
  rule: "<hr>",
  lineBreak: "<br>",
  gap: "",
  list: {
    marker: ({ task }) => (task === undefined ? "" : `${task ? "☑" : "☐"} `),
    item: (marker, blocks) => `<li>${marker}${blocks.map(({ text }) => text).join("")}</li>`,
    wrap: (items, ordered, start) => {
      if (!ordered) return `<ul>${items.join("")}</ul>`;
      return `<ol${start === 1 ? "" : ` start="${start}"`}>${items.join("")}</ol>`;
    },
  },
  table: (head, rows, align) => {
    const row = (cells: readonly string[], tag: string) =>
      `<tr>${cells.map((cell, at) => `<${tag}${align[at] === "left" ? "" : ` align="${align[at]}"`}>${cell}</${tag}>`).join("")}</tr>`;
    const body = rows.map((cells) => row(cells, "td")).join("");
    return `<table><thead>${row(head, "th")}</thead><tbody>${body}</tbody></table>`;
  },
  tableWidth: 80,
  finish: (written, plain) => ({ text: plain(), html: written }),
  counts: "both",
};

export const matrix: Dialect = {
  ...html,
  name: "matrix",
  escape: (text) => tagless(uncalled(text)),
  mention: {
    id: /^@[\w.=/+-]{1,200}:[\w.:-]{1,200}$/,
    write: (id, label) => anchor(tagless(label), `https://matrix.to/#/${encodeURIComponent(id)}`),
  },
  calls: /^https?:\/\/(www\.)?matrix\.to\//i,
  // `@room` is read out of the plain body.
  finish: (written, plain) => ({ text: uncalled(plain()), html: written }),
  // An event has 65,536 bytes as JSON, and quotes and line ends cost two there.
  limit: { limit: 30_000, unit: "bytes" },
};

export const email: Dialect = { ...html, name: "email", limit: { limit: 1_000_000, unit: "bytes" } };

/** Sent with `textFormat: "xml"`. */
export const teams: Dialect = {
  ...html,
  name: "teams",
  escape: (text) => tagless(text).replace(/@(?=everyone|team|channel)/gi, `@${ZERO}`),
  strike: ["<s>", "</s>"],
  counts: "html",
  limit: { limit: 20_000, unit: "bytes" },
};
