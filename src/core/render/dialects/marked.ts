/** Markdown and its cousins: CommonMark, Mattermost, Discord, Slack's mrkdwn, WhatsApp. */
import { type Dialect, LINES, quoted, uncalled, unfenced, ZERO } from "../dialect.ts";
import type { Align } from "../tree.ts";

/** Every sign that could begin something; at a line's start also those that begin a block. */
const escaped = (text: string, lineStart: boolean): string => {
  const safe = text.replace(/[\\`*_~|[\]<>#]|&(?=[#\w])/g, "\\$&");
  return lineStart ? safe.replace(/^(\s*)([-+=]|\d{1,9}(?=[.)]))/, startOfLine) : safe;
};
const startOfLine = (_: string, blank: string, sign: string) =>
  /\d/.test(sign) ? `${blank}${sign}${ZERO}` : `${blank}\\${sign}`;
/** In a target, what would end it. */
const target = (url: string) =>
  url.replace(/[()<>\\\s]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
/** How long the runs of ticks in a text are. */
const tickRuns = (text: string): ReadonlySet<number> => new Set((text.match(/`+/g) ?? []).map((run) => run.length));
/** Code between as many ticks as it does not hold. */
const ticked = (text: string): string => {
  const runs = tickRuns(text);
  let ticks = "`";
  while (runs.has(ticks.length)) ticks += "`";
  const pad = /^`|`$/.test(text) || (/^ .* $/.test(text) && text.trim() !== "") ? " " : "";
  return `${ticks}${pad}${text}${pad}${ticks}`;
};
const longFence = (text: string, lang: string): string => {
  let longest = 2;
  for (const run of tickRuns(text)) longest = Math.max(longest, run);
  const fence = "`".repeat(longest + 1);
  return `${fence}${lang}\n${text}\n${fence}`;
};
const pipes = (head: readonly string[], rows: readonly (readonly string[])[], align: readonly Align[]): string => {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("\n", " ")).join(" | ")} |`;
  const rule = align.map((way) => ({ left: "---", right: "--:", center: ":-:" })[way]);
  return [line(head), line(rule), ...rows.map(line)].join("\n");
};

export const commonmark: Dialect = {
  ...LINES,
  name: "commonmark",
  escape: escaped,
  strong: ["**", "**"],
  em: ["*", "*"],
  strike: ["~~", "~~"],
  marksStand: "flanking",
  code: ticked,
  link: (label, url) => `[${label}](${target(url)})`,
  url: (url) => `<${url}>`,
  heading: (inner, level) => `${"#".repeat(level)} ${inner.replaceAll("\n", " ")}`,
  fence: longFence,
  rule: "---",
  lineBreak: "  \n",
  list: {
    marker: ({ number, task }) => {
      const before = number === undefined ? "- " : `${number}. `;
      return task === undefined ? before : `${before}[${task ? "x" : " "}] `;
    },
    item: (marker, blocks, gap) => {
      const by = " ".repeat(/^\d+\. |^- /.exec(marker)![0].length);
      return (
        marker +
        blocks
          .map(({ text, isFlush }, at) => (isFlush && at === 0 ? `\n${text}` : text))
          .join(gap)
          .replaceAll("\n", `\n${by}`)
      );
    },
    wrap: (items) => items.join("\n"),
  },
  table: pipes,
  tableWidth: 60,
  limit: { limit: 16_000, unit: "utf16" },
};

export const mattermost: Dialect = {
  ...commonmark,
  name: "mattermost",
  // It reads @names out of the text after Markdown, so a backslash does not help.
  escape: (text, lineStart) => escaped(uncalled(text), lineStart),
  mention: { id: /^[a-z0-9._-]{1,64}$/, write: (id) => `@${id}` },
  lineBreak: "\n",
  limit: { limit: 16_383, unit: "codepoints" },
};

/** Calls are cut apart also in code: whether Discord's server reads them there is not promised. */
const uncalledAnywhere = (text: string) =>
  text.replace(/@(?=everyone|here)|<(?=[@#:/]|a:|t:|id:)/gi, `$&${ZERO}`).replace(/(?<=<\u200b?)@/g, `@${ZERO}`);

/** An address may not call either. */
const unreachable = (url: string) => url.replace(/@(?=everyone|here)/gi, "%40");

export const discord: Dialect = {
  ...commonmark,
  name: "discord",
  escape: (text, lineStart) => escaped(uncalled(uncalledAnywhere(text)), lineStart),
  code: (text) => ticked(uncalledAnywhere(text)),
  link: (label, url) => `[${label}](${target(unreachable(url))})`,
  url: (url) => unreachable(url),
  mention: { id: /^\d{5,25}$/, write: (id) => `<@${id}>` },
  // It has three levels.
  heading: (inner, level) => `${"#".repeat(Math.min(level, 3))} ${inner.replaceAll("\n", " ")}`,
  fence: (text, lang) => `\`\`\`${lang}\n${unfenced(uncalledAnywhere(text))}\n\`\`\``,
  rule: "———",
  lineBreak: "\n",
  list: {
    ...commonmark.list,
    marker: ({ number, task }) => {
      const before = number === undefined ? "- " : `${number}. `;
      return task === undefined ? before : `${before}${task ? "☑" : "☐"} `;
    },
  },
  table: undefined,
  limit: { limit: 2000, unit: "utf16" },
};

/** Characters that open formatting there, made harmless: there is no escape sign in these two. */
const loosened = (text: string, lineStart: boolean) => {
  // Inside a word they open nothing: a file_name stays as it is, to be copied.
  const safe = text.replace(/(?<![\p{L}\p{N}])[*_~](?=\S)|`(?=\S)/gu, `$&${ZERO}`);
  return lineStart ? safe.replace(/^\s*(?=>|&gt;|[-*•] |\d{1,9}[.)] )/, `${ZERO}$&`) : safe;
};
const angled = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export const slack: Dialect = {
  ...LINES,
  name: "slack",
  // With `<` and `>` escaped nothing can be <!channel>, <@U…> or a link.
  escape: (text, lineStart) => loosened(angled(text), lineStart),
  strong: ["*", "*"],
  em: ["_", "_"],
  strike: ["~", "~"],
  code: (text) => `\`${angled(text).replaceAll("`", "ˋ")}\``,
  link: (label, url) => `<${slackUrl(url)}|${label.replaceAll("|", "¦")}>`,
  url: (url) => `<${slackUrl(url)}>`,
  mention: { id: /^[UW][A-Z0-9]{2,20}$/, write: (id) => `<@${id}>` },
  quote: quoted("> "),
  quotesNest: false,
  // Slack shows a language as the first line of the code, so it is left out.
  fence: (text) => `\`\`\`\n${unfenced(angled(text))}\n\`\`\``,
  tableWidth: 70,
  limit: { limit: 4000, unit: "utf16" },
};
const slackUrl = (url: string) => angled(url.replace(/[|<>\s]/g, (sign) => encodeURIComponent(sign)));

export const whatsapp: Dialect = {
  ...LINES,
  name: "whatsapp",
  escape: loosened,
  strong: ["*", "*"],
  em: ["_", "_"],
  strike: ["~", "~"],
  marksOnCode: false,
  code: (text) => `\`${text.replaceAll("`", "ˋ")}\``,
  quotesNest: false,
  fence: (text) => `\`\`\`${unfenced(text)}\`\`\``,
  tableWidth: 36,
  limit: { limit: 4096, unit: "utf16" },
};
