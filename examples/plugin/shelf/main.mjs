/**
 * A memory back end as a plugin: keeps a copy of the facts in a file, and finds them and the notes in a folder by their words.
 * Without any dependency. A real one would keep them where its search is: in a graph, or in a vector database.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const data = process.env.PLUGIN_DATA;
const notes = join(data, "notes");
const file = join(data, "facts.json");
mkdirSync(notes, { recursive: true });

/** By id. What is told twice is there once. */
let facts = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};

/** In one step: a kill leaves the file as before or as after. */
function store() {
  writeFileSync(`${file}.new`, JSON.stringify(facts));
  renameSync(`${file}.new`, file);
}

const words = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);

function search({ query, scopes, limit }) {
  const asked = words(query);
  const score = (text) => [...words(text)].filter((word) => asked.has(word)).length;
  const known = Object.values(facts)
    .filter(({ scope }) => !scopes || scopes.includes(scope))
    .map(({ id, text }) => ({ id, score: score(text) }));
  const written = readdirSync(notes).map((name) => {
    const text = readFileSync(join(notes, name), "utf8");
    return { id: name, text, place: name, score: score(text) };
  });
  const found = [...known, ...written].filter((one) => one.score > 0).sort((a, b) => b.score - a.score);
  // A fact needs only its id: Lares has its words.
  return { results: found.slice(0, limit).map(({ score: _, ...one }) => one) };
}

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "shelf", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [] }),
  "memory/search": search,
  "memory/clear"() {
    facts = {};
    store();
    return {};
  },
  "memory/save"(given) {
    for (const fact of given.facts) facts[fact.id] = fact;
    store();
    return {};
  },
  "memory/forget"({ ids }) {
    for (const id of ids) delete facts[id];
    store();
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const run = methods[method];
  const reply = run ? { result: run(params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}
