/** What a model wrote: answers for every platform, edits, patches, schedules, facts, summaries. */
import { parseHTML } from "linkedom";
import { fitTo } from "../../../src/core/kit/fit.ts";
import { jsonProblem } from "../../../src/core/kit/json-problem.ts";
import { boundedChunks } from "../../../src/core/render/bounded.ts";
import { DIALECTS } from "../../../src/core/render/dialect.ts";
import { parse } from "../../../src/core/render/index.ts";
import { replaceIn } from "../../../src/edges/tools/files/match.ts";
import { fitHunks } from "../../../src/edges/tools/files/patch/fit.ts";
import { parsePatch } from "../../../src/edges/tools/files/patch/parse.ts";
import { globMatcher } from "../../../src/edges/tools/search/glob.ts";
import { createSearch } from "../../../src/edges/tools/search/search.ts";
import { chunk } from "../../../src/flow/outbox/chunk.ts";
import { gather, NO_CARRY } from "../../../src/mind/context/carry.ts";
import { readSummary } from "../../../src/mind/context/summary.ts";
import { readCaptured } from "../../../src/mind/memory/capture/extract.ts";
import { readPlan } from "../../../src/mind/memory/condense/plan.ts";
import { parseWhen } from "../../../src/mind/schedule/when.ts";
import type { Rows } from "./reader.ts";

// By address: the compiler reads the page's sources with other settings than these.
const page = new URL("../../../ui/src/lib/markdown.ts", import.meta.url).href;
const { toBlocks, toNodes } = (await import(page)) as {
  toBlocks(): (text: string) => readonly unknown[];
  toNodes(block: unknown, kind: "chat", document: unknown): unknown;
};
const { document } = parseHTML("<html></html>");
const onThePage = (text: string) => toBlocks()(text).map((block) => toNodes(block, "chat", document));

const AT = Date.UTC(2026, 10, 15, 12);
const caller = { agent: "main", session: "s", turn: "t", route: { channel: "http", account: "a", chat: "c" } };
const place = { agentDir: "/a", workspace: "/a/w", spillDir: "/a/w/s", caller };
const indented = (text: string): string => text.replaceAll("\n", "\n  ");
const half = (text: string): string => text.slice(0, text.length / 2);
const context = (text: string) => ({ kind: " " as const, text });

export const DIALECT_ROWS: Rows = Object.fromEntries(
  DIALECTS.map((name) => [
    `an answer for ${name}`,
    { read: (text: string) => boundedChunks(text, name), markdownOnly: true },
  ]),
);

export const ANSWERS: Rows = {
  "an answer's Markdown": parse,
  "an answer in plain pieces": (text) => chunk(text, 2000),
  "an answer on the page": onThePage,
  // Longer ones are shown as they are.
  "a long answer on the page": (text) => onThePage(text.slice(0, 100_000)),
  "an edit of a hostile file": (text) => replaceIn(text, "a line that is not there\n", "b", false),
  "an edit that quotes the whole file": (text) => replaceIn(text, `${text.slice(1)}!`, "b", false),
  "an edit that quotes half the file": (text) => replaceIn(text, `${half(text)}\t\n!`, "b", false),
  "an edit that begins otherwise": (text) => replaceIn(text, `!${half(text)}`, "b", false),
  "an edit in other white space": (text) => replaceIn(text, indented(text), `${indented(text)}\n  b`, false),
  "an edit of half the file in other white space": (text) => replaceIn(text, indented(half(text)), "b", true),
  "the nearest lines to a long line": (text) => replaceIn(text, `${text.slice(0, 5000)}~`, "b", false),
  "arguments that are no JSON": (text) => jsonProblem(text),
  "an edit with many places": (text) => replaceIn(text, text.slice(0, 2), "b", true),
  "a patch": parsePatch,
  "a patch of many hunks": (text) => {
    const lines = text.split("\n").slice(0, 2000).map(context);
    return fitHunks(
      "a",
      text,
      Array.from({ length: 400 }, (_, n) => ({ title: "@@", lines: [lines[n % lines.length]!] })),
    );
  },
  "a patch of a hostile file": (text) =>
    fitHunks("a", text, [{ title: "@@", lines: [context("not there"), { kind: "-", text: "x" }] }]),
  "a patch that quotes half the file": (text) =>
    fitHunks("a", text, [{ title: "@@", lines: [...half(text).split("\n").map(context), context("not there")] }]),
  "a numbered patch that quotes half the file": (text) =>
    fitHunks("a", text, [{ title: "@@", line: 7, lines: [...half(text).split("\n").map(context), context("no")] }]),
  "a search pattern": { read: (text) => createSearch().plan({ pattern: "a", glob: text }, place), refuses: true },
  // As long as the tool takes them, and as long as a path can be.
  "a search pattern and a path": (text) => globMatcher(text.slice(0, 200))(text.slice(0, 4096)),
  "a path a search finds": (text) =>
    ["*a*b*c", "**/a/**/b", "{a,b}*/**/*.{c,d}"].map((glob) => globMatcher(glob)(text.slice(0, 4096))),
  "a time": { read: (text) => parseWhen({ at: text }, AT, "UTC"), refuses: true },
  "a wait": { read: (text) => parseWhen({ in: text }, AT, "UTC"), refuses: true },
  "a rhythm": { read: (text) => parseWhen({ every: text }, AT, "UTC"), refuses: true },
  "a cron pattern": { read: (text) => parseWhen({ cron: text }, AT, "UTC"), refuses: true },
  "an answer that must fit a schema": (text) => fitTo({ type: "object" }, text),
  "facts a model found": (text) => readCaptured(text, new Set()),
  "a model's plan for memory": (text) => readPlan(text, []),
  "a summary": (text) => readSummary(text, NO_CARRY),
  "a conversation to carry on": (text) => gather(NO_CARRY, [{ role: "user", content: [{ type: "text", text }] }]),
};
