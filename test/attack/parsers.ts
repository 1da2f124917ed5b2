/** Readers of text that others write: pages, mails, feeds, patches, answers, messages. */
import { headersOf } from "../../src/edges/channels/email/letter.ts";
import { textOfHtml, writtenText } from "../../src/edges/channels/email/reply.ts";
import { addressedIn } from "../../src/edges/channels/named.ts";
import { factsIn } from "../../src/edges/imports/items.ts";
import { analyse } from "../../src/edges/tools/exec/shell/analyse.ts";
import { parsePatch } from "../../src/edges/tools/files/patch/parse.ts";
import { contentOf } from "../../src/edges/tools/web/content.ts";
import { entriesOf } from "../../src/edges/watch/feed.ts";
import { linesOf } from "../../src/edges/watch/page.ts";
import { createRedactor } from "../../src/ground/observe/redact.ts";
import { readChecklist } from "../../src/mind/heartbeat/checklist.ts";
import { splitFront } from "../../src/mind/skills/manuscript.ts";
import { fitTo } from "../../src/mind/teams/fit.ts";

const redactor = createRedactor();

export const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  "the content of a page": (text) => contentOf("text/html", Buffer.from(text)),
  "an untyped page": (text) => contentOf(undefined, Buffer.from(text)),
  "a shell command": analyse,
  "a feed": (text) => entriesOf(`<rss>${text}`),
  "a watched page": (text) => linesOf(text, "text/html"),
  "a patch": parsePatch,
  "imported facts": factsIn,
  "an answer that must fit a schema": (text) => fitTo({ type: "object" }, text),
  "the redactor": (text) => redactor.redact(text),
  "a heartbeat's list": readChecklist,
  "a mail that answers": (text) => writtenText(text, true),
  "a mail in HTML": textOfHtml,
  "a mail's headers": headersOf,
  "a skill's front matter": (text) => splitFront(`---\n${text}`),
  "an address by name": (text) => addressedIn(text, "lares"),
};
