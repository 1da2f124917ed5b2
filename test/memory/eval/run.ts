/**
 * `npm run eval:memory`: share of the evidence that is found, over long conversations.
 *
 *   npm run eval:memory                          our own set, each part by itself
 *   npm run eval:memory -- --set file.json       another set in the format of docs/MEMORY.md
 *   npm run eval:memory -- --one-scope           all conversations under no scope at all, as if nobody had told them apart
 *   npm run eval:memory -- --no-vectors          without the embedder
 *   npm run eval:memory -- --dir DIR             keeps the filled database there for the next run
 *   npm run eval:memory -- --only hybrid --weights '{"similar":0.5}'
 *   npm run eval:memory -- --misses              lists the questions whose evidence was not among the first ten
 *
 * Everything goes through the real Memory on a real database: `add` per message in order, then `search`.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { systemClock } from "../../../src/core/kit/index.ts";
import { OfflineEmbedder } from "../../../src/edges/embedder/index.ts";
import { type Memory, WEIGHTS } from "../../../src/mind/memory/index.ts";
import { openMemory, removeDir } from "../support.ts";
import { type EvalSet, evalSet, type Question } from "./set.ts";

const { values: options } = parseArgs({
  options: {
    set: { type: "string" },
    "one-scope": { type: "boolean" },
    "no-vectors": { type: "boolean" },
    misses: { type: "boolean" },
    dir: { type: "string" },
    only: { type: "string" },
    weights: { type: "string" },
  },
});
const file = options.set ?? fileURLToPath(new URL("set.json", import.meta.url));
const set = evalSet.parse(JSON.parse(readFileSync(file, "utf8")));
const withVectors = !options["no-vectors"];

/** Nothing but the parts a baseline has. */
const NO_HINTS = { speaker: 0, time: 0, days: 0, asking: 0, short: 0, recent: 0, used: 0 };
const chosen = { ...WEIGHTS, ...(JSON.parse(options.weights ?? "{}") as Partial<typeof WEIGHTS>) };
const ways = [
  {
    name: "keyword",
    vectors: false,
    weights: { ...WEIGHTS, ...NO_HINTS, near: 0, wide: 0, similar: 0, lengthShare: 0.75 },
  },
  {
    name: "vector",
    vectors: true,
    weights: { ...WEIGHTS, ...NO_HINTS, words: 0, similarNear: 0, near: 0, wide: 0 },
  },
  { name: "hybrid, no vectors", vectors: false, weights: { ...chosen, similar: 0 } },
  { name: "hybrid", vectors: true, weights: chosen },
].filter((way) => (withVectors || !way.vectors) && (!options.only || way.name === options.only));

const base = await filled(set);
if (withVectors) {
  process.stdout.write("Embedding…\n");
  const started = performance.now();
  base.memory.start();
  await base.memory.settled();
  process.stdout.write(`…done in ${((performance.now() - started) / 1000).toFixed(0)} s\n\n`);
}
await base.close();

/** A set of several parts is shown part by part. */
const parts = [...new Set(set.conversations.map(({ part }) => part ?? "all conversations"))];
for (const title of parts) {
  const isIn = (index: number) => (set.conversations[index]!.part ?? title) === title;
  for (const oneStore of options["one-scope"] ? [true] : [false, true]) {
    process.stdout.write(`${set.name}, ${title}, ${oneStore ? "all conversations in one store" : "a scope each"}\n`);
    const rows: string[][] = [];
    for (const way of ways) rows.push(await measure(way, oneStore, isIn));
    print(rows);
  }
}
if (!options.dir) removeDir(base.dir);

async function filled(of: EvalSet) {
  const opened = await openMemory({
    ...(withVectors ? { embedder: new OfflineEmbedder({ clock: systemClock }) } : {}),
    ...(options.dir ? { dir: options.dir } : {}),
  });
  if ((await opened.memory.list({ limit: 1 })).length > 0) return opened;
  for (const conversation of of.conversations) {
    for (const message of conversation.messages) {
      // A session's name as source: what stands before the message's own number.
      const source = message.id.replace(/[/:]\d+$/, "");
      const at = Date.parse(message.at);
      const scope = options["one-scope"] ? {} : { scope: conversation.id };
      await opened.memory.add({ text: `${message.speaker}: ${message.text}`, source, at, ...scope });
    }
  }
  return opened;
}

interface Tally {
  questions: number;
  at5: number;
  at10: number;
  at20: number;
  mrr: number;
}

async function measure(
  way: (typeof ways)[number],
  oneStore: boolean,
  isIn: (index: number) => boolean,
): Promise<string[]> {
  const embedder = way.vectors ? new OfflineEmbedder({ clock: systemClock }) : undefined;
  const opened = await openMemory({
    dir: base.dir,
    weights: way.weights,
    // Recall is measured here, not waiting.
    config: { queryBudgetMs: 5000 },
    ...(embedder ? { embedder } : {}),
  });
  const all: Tally = { questions: 0, at5: 0, at10: 0, at20: 0, mrr: 0 };
  const kinds = new Map<string, Tally>();
  let took = 0;
  for (const [index, conversation] of set.conversations.entries()) {
    if (!isIn(index)) continue;
    const said = new Map(conversation.messages.map((m) => [`${m.speaker}: ${m.text}\n${Date.parse(m.at)}`, m.id]));
    for (const question of conversation.questions) {
      const scope = oneStore ? undefined : conversation.id;
      const started = performance.now();
      const found = await ask(opened.memory, question.question, scope);
      took += performance.now() - started;
      const ids = found.map((hit) => said.get(`${hit.text}\n${hit.at}`) ?? "");
      const kind = kinds.get(question.kind) ?? { questions: 0, at5: 0, at10: 0, at20: 0, mrr: 0 };
      kinds.set(question.kind, kind);
      for (const tally of [all, kind]) count(tally, question, ids);
      if (options.misses && way.name === "hybrid" && share(question, ids, 10) < 1) {
        process.stdout.write(`  missed: ${question.kind}: ${question.question}\n`);
      }
    }
  }
  await opened.close();
  const percent = (n: number, of: Tally) => ((100 * n) / of.questions).toFixed(1);
  return [
    way.name,
    percent(all.at5, all),
    percent(all.at10, all),
    percent(all.at20, all),
    (all.mrr / all.questions).toFixed(3),
    (took / all.questions).toFixed(1),
    ...[...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, tally]) => `${name} ${percent(tally.at10, tally)}`),
  ];
}

async function ask(memory: Memory, query: string, scope: string | undefined) {
  return memory.search({ query, limit: 20, ...(scope === undefined ? {} : { scope }) });
}

function share(question: Question, ids: readonly string[], first: number): number {
  const top = new Set(ids.slice(0, first));
  return question.evidence.filter((id) => top.has(id)).length / question.evidence.length;
}

function count(tally: Tally, question: Question, ids: readonly string[]): void {
  tally.questions++;
  tally.at5 += share(question, ids, 5);
  tally.at10 += share(question, ids, 10);
  tally.at20 += share(question, ids, 20);
  const first = ids.findIndex((id) => question.evidence.includes(id));
  if (first >= 0) tally.mrr += 1 / (first + 1);
}

function print(rows: string[][]): void {
  const head = ["", "recall@5", "@10", "@20", "MRR", "ms"];
  const widths = head.map((title, n) => Math.max(title.length, ...rows.map((row) => row[n]!.length)));
  const line = (cells: string[]) =>
    cells.map((cell, n) => (n === 0 ? cell.padEnd(widths[n]!) : cell.padStart(widths[n]!))).join("  ");
  process.stdout.write(`${line(head)}   recall@10 by kind\n`);
  for (const row of rows) process.stdout.write(`${line(row.slice(0, 6))}   ${row.slice(6).join(", ")}\n`);
  process.stdout.write("\n");
}
