/** The readers of text that others write: pages, models, mails, feeds, files, messages, commands. */
import { parse as parseYaml } from "yaml";
import { visible, visibleLine } from "../../src/core/kit/index.ts";
import { chunks, DIALECTS, parse } from "../../src/core/render/index.ts";
import { eventOf as discordEvent } from "../../src/edges/channels/discord/events.ts";
import { automatic, headersOf, resultsOf, threadOf } from "../../src/edges/channels/email/letter.ts";
import { textOfHtml, writtenText } from "../../src/edges/channels/email/reply.ts";
import { lineOf, personOf, saidIn } from "../../src/edges/channels/irc/line.ts";
import { plainBody } from "../../src/edges/channels/matrix/events.ts";
import { addressedIn } from "../../src/edges/channels/named.ts";
import { eventOf as slackEvent } from "../../src/edges/channels/slack/events.ts";
import { eventsOf as teamsEvents } from "../../src/edges/channels/teams/activity.ts";
import { looseJson } from "../../src/edges/imports/files.ts";
import { agentName, factsIn } from "../../src/edges/imports/items.ts";
import { cleanWords } from "../../src/edges/models/chain/words.ts";
import { matchRule } from "../../src/edges/models/practice/rules.ts";
import { parseOutline } from "../../src/edges/tools/browser/outline.ts";
import { elide } from "../../src/edges/tools/exec/display.ts";
import { analyse } from "../../src/edges/tools/exec/shell/analyse.ts";
import { nearestLines, replaceIn } from "../../src/edges/tools/files/match.ts";
import { fitHunks } from "../../src/edges/tools/files/patch/fit.ts";
import { parsePatch } from "../../src/edges/tools/files/patch/parse.ts";
import { globMatcher } from "../../src/edges/tools/search/glob.ts";
import { contentOf } from "../../src/edges/tools/web/content.ts";
import { entriesOf } from "../../src/edges/watch/feed.ts";
import { textOf as mailText } from "../../src/edges/watch/imap.ts";
import { linesOf } from "../../src/edges/watch/page.ts";
import { cleanName } from "../../src/flow/attachments/name.ts";
import { makeCommands } from "../../src/flow/commands/commands.ts";
import { matchesGlob } from "../../src/flow/gate/glob.ts";
import { hostMatches } from "../../src/flow/gate/rules.ts";
import { createRedactor } from "../../src/ground/observe/redact.ts";
import { readChecklist } from "../../src/mind/heartbeat/checklist.ts";
import {
  bracketed,
  capturedByRules,
  looksLikeInstruction,
  readCaptured,
} from "../../src/mind/memory/capture/extract.ts";
import { markdownParts } from "../../src/mind/memory/documents/parts.ts";
import { topicOf } from "../../src/mind/memory/facts.ts";
import { askedRelation, namesIn, relationsIn } from "../../src/mind/memory/graph.ts";
import { readQuestion } from "../../src/mind/memory/search/question.ts";
import { speakerOf, wordsOf } from "../../src/mind/memory/text/analyse.ts";
import { itemsOf } from "../../src/mind/memory/view/items.ts";
import { duration, moment } from "../../src/mind/schedule/when.ts";
import { readManuscript, splitFront } from "../../src/mind/skills/manuscript.ts";
import { fitTo } from "../../src/mind/teams/fit.ts";

const redactor = createRedactor();
const commands = makeCommands({} as Parameters<typeof makeCommands>[0]);

export const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  "the content of a page": (text) => [
    contentOf(undefined, Buffer.from(text)),
    contentOf("text/html", Buffer.from(text)),
  ],
  "the tree of an answer": parse,
  ...Object.fromEntries(DIALECTS.map((name) => [`an answer in ${name}`, (text: string) => chunks(text, name)])),
  "a shell command": analyse,
  "a shell command in an interpreter": (text) => analyse(`python3 -c '${text.replaceAll("'", "")}'`),
  "a command as it is shown": (text) => elide(text, []),
  "a feed": (text) => entriesOf(`<rss>${text}`),
  "a watched page": (text) => linesOf(text, "text/html"),
  "a watched mail": mailText,
  "a patch": parsePatch,
  "a hunk on a file": (text) =>
    fitHunks("a", text, [
      {
        title: "x",
        lines: text
          .slice(0, 4000)
          .split("\n")
          .map((line) => ({ kind: " " as const, text: line })),
      },
    ]),
  "an edit": (text) => replaceIn(text, `${text.slice(0, text.length / 2)} x`, "y", false),
  "the nearest lines of an edit": (text) => nearestLines(text, `${text.slice(0, text.length / 2)} x`),
  "a file name pattern": (text) => globMatcher(text)("src/a/b.ts"),
  "a path and a file name pattern": (text) => globMatcher("**/*a*b*/*.ts")(text),
  "a rule's pattern on a text": (text) => ["* * * *x", "**a**b**c", "**/a/**/b"].map((glob) => matchesGlob(glob, text)),
  "a rule's host": (text) => hostMatches("*.example.com", text),
  "the snapshot of a page": parseOutline,
  "an imported configuration": looseJson,
  "imported facts": factsIn,
  "an imported agent's name": agentName,
  "an answer that must fit a schema": (text) => fitTo({ type: "object" }, text),
  "the redactor": (text) => redactor.redact(text),
  "a heartbeat's list": readChecklist,
  "a heartbeat's hint": (text) => readChecklist(`- look (when${text.replaceAll("\n", " ")} changes)`),
  "a mail that answers": (text) => writtenText(text, true),
  "a mail in HTML": textOfHtml,
  "a mail's headers": (text) => {
    const headers = headersOf(`From: a@b.c\nSubject: ${text}\n\n`);
    return [headersOf(text), automatic(headers), threadOf(headers, "a@b.c")];
  },
  "a mail's authentication results": resultsOf,
  "a length of time": duration,
  "a moment": (text) => moment(text, 0, "UTC"),
  "a skill's front matter": (text) => [
    splitFront(text),
    splitFront(`---\n${text}`),
    readManuscript(`---\nname: a\n${text}\n---\nx`, "a", bounded),
  ],
  "a message's words in memory": wordsOf,
  "relations in memory": (text) => [relationsIn(text), namesIn(text), speakerOf(text)],
  "a question to memory": (text) => [askedRelation(text), readQuestion(text)],
  "facts said in so many words": (text) => [
    capturedByRules([{ role: "user", text } as never], undefined),
    topicOf(text, undefined),
    looksLikeInstruction(text),
  ],
  "facts a model found": (text) => [readCaptured(text, new Set()), bracketed(text, 0)],
  "a memory file": itemsOf,
  "a document": markdownParts,
  "a file's name": cleanName,
  "a slash command": (text) => commands.run(`/nothing${text}`, {} as never),
  "an error of a provider": (text) => cleanWords(text, []),
  "the practice model": matchRule,
  "what a terminal shows": (text) => [visible(text), visibleLine(text)],
  "an address by name": (text) => addressedIn(text, "lares"),
  "a Slack message": (text) =>
    slackEvent(
      { type: "message", channel: "C1", channel_type: "im", user: "U1", ts: "1.1", text },
      { user: "U2", bot: "B" },
      {} as never,
    ),
  "a Discord message": (text) =>
    discordEvent(
      "MESSAGE_CREATE",
      { id: "1", channel_id: "2", author: { id: "3", username: "a" }, content: text },
      "1",
      "9",
      {} as never,
    ),
  "a Teams message": (text) =>
    teamsEvents({
      type: "message",
      id: "1",
      text,
      from: { id: "2" },
      conversation: { id: "3" },
      recipient: { id: "4" },
    }),
  "a Matrix message": (text) =>
    plainBody({ msgtype: "m.text", body: text, "m.relates_to": { "m.in_reply_to": { event_id: "$a" } } }),
  "a line of IRC": (text) => {
    const line = lineOf(text);
    return [line && personOf(line), saidIn(text)];
  },
};

/** As the program reads front matter. */
function bounded(text: string): unknown {
  return parseYaml(text.slice(0, 1000));
}
