/**
 * What memory costs when it is large. `npx tsx test/memory/scale.ts [memories] [messages] [dir]`, default 100,000 and 1,000,000.
 * With a dir that was filled before, only the measuring is done. Prints search and save times, resident memory and index sizes. Vectors come from a cheap stand-in with the real dimension, so
 * that the vector path is measured without an hour of embedding; the time a real embedder takes for the question comes on top.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Embedder } from "../../src/core/contracts/index.ts";
import { systemClock } from "../../src/core/kit/index.ts";
import { SessionIndex } from "../../src/mind/memory/index.ts";
import { splitWords } from "../../src/mind/memory/text/analyse.ts";
import { openMemory, removeDir } from "./support.ts";

const [memories, messages] = [Number(process.argv[2] ?? 100_000), Number(process.argv[3] ?? 1_000_000)];

/** Words by their hash: no meaning, the same cost behind it. */
const hashing: Embedder = {
  id: "hash-384",
  dims: 384,
  async embed(texts) {
    return texts.map((text) => {
      const vector = new Float32Array(384);
      for (const word of splitWords(text)) {
        let hash = 2_166_136_261;
        for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 16_777_619);
        for (let i = 0; i < 8; i++) {
          hash = Math.imul(hash ^ (hash >>> 13), 1_540_483_477);
          vector[(hash >>> 0) % 384]! += hash & 1 ? 1 : -1;
        }
      }
      const length = Math.hypot(...vector) || 1;
      return vector.map((part) => part / length);
    });
  },
  async close() {},
};

let state = 42;
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 4_294_967_296;
};
/** Zipf-like over 40,000 words: a few everywhere, most nearly nowhere. */
const word = () => `w${Math.floor(40_000 ** random()).toString(36)}x`;
const NAMES = Array.from({ length: 200 }, (_, n) => `Person${n.toString(36)}`);
const name = () => NAMES[Math.floor(random() * NAMES.length)]!;
const sentence = () => Array.from({ length: 8 + Math.floor(random() * 20) }, word).join(" ");
const rss = () => Math.round(process.memoryUsage().rss / 1e6);
const said = (line: string) => process.stdout.write(`${line}\n`);

const kept = process.argv[4];
const opened = await openMemory({ embedder: hashing, ...(kept ? { dir: kept } : {}) });
const { memory, records, dir } = opened;
const size = () => Math.round((statSync(join(dir, "lares.db")).size + statSync(join(dir, "lares.db-wal")).size) / 1e6);
said(`RSS before: ${rss()} MB`);

const sessions = new SessionIndex({ records, clock: systemClock });
if ((await memory.list({ limit: 1 })).length === 0) await fill();

const question = () => `When did ${name()} ${word()} the ${word()} and ${word()} ${word()}?`;
await memory.search({ query: question() });
await measured("search memories, all scopes", 300, () => memory.search({ query: question() }));
await measured("search memories, one scope", 300, () => memory.search({ query: question(), scope: "scope-1" }));
await measured("search session messages", 300, () => sessions.search({ query: question() }));
await measured("both at once", 300, () => {
  const query = question();
  return Promise.all([memory.search({ query }), sessions.search({ query })]);
});
await measured("save, durable", 300, () =>
  memory.add({ text: `${name()}: ${sentence()}`, source: "live", scope: "scope-1" }),
);
await measured("save a fact, durable", 300, () => memory.add({ text: `${word()} ${sentence()}`, scope: "scope-1" }));
said(`RSS after: ${rss()} MB`);

const sizes = await records
  .all<{ name: string; bytes: number }>(
    "SELECT name, SUM(pgsize) AS bytes FROM dbstat WHERE name LIKE 'mem%' OR name LIKE 'message%' GROUP BY name ORDER BY bytes DESC LIMIT 12",
  )
  .catch(() => []);
for (const { name: table, bytes } of sizes) said(`  ${table.padEnd(28)} ${(bytes / 1e6).toFixed(1)} MB`);
await sessions.stop();
await opened.close();
if (!kept) removeDir(dir);

async function fill(): Promise<void> {
  let started = performance.now();
  for (let n = 0; n < memories; n += 500) {
    const scope = `scope-${Math.floor((n * 5) / memories)}`;
    await Promise.all(
      Array.from({ length: Math.min(500, memories - n) }, (_, i) =>
        memory.add({
          text: `${name()}: ${sentence()}`,
          source: `talk-${Math.floor((n + i) / 40)}`,
          at: 1.7e12 + (n + i) * 60_000,
          scope,
        }),
      ),
    );
  }
  said(`${memories} memories added in ${seconds(started)}, RSS ${rss()} MB, database ${size()} MB`);
  started = performance.now();
  memory.start();
  await memory.settled();
  said(`vectors in ${seconds(started)}, RSS ${rss()} MB, database ${size()} MB`);

  started = performance.now();
  for (let n = 0; n < messages; n += 1000) {
    await records.write((tx) => {
      for (let i = 0; i < Math.min(1000, messages - n); i++) {
        const session = Math.floor((n + i) / 2000);
        tx.run(
          "INSERT INTO message (session, seq, id, turn, role, content, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
          `agent:main:web:local:chat${session}`,
          ((n + i) % 2000) + 1,
          `m${n + i}`,
          `t${n + i}`,
          i % 2 ? "assistant" : "user",
          JSON.stringify([{ type: "text", text: sentence() }]),
          1.7e12 + n + i,
        );
      }
    });
  }
  said(`${messages} messages written in ${seconds(started)}, database ${size()} MB`);
  started = performance.now();
  await sessions.settled();
  said(`…indexed in ${seconds(started)}, RSS ${rss()} MB, database ${size()} MB`);
}

async function measured(title: string, times: number, run: () => Promise<unknown>): Promise<void> {
  const took: number[] = [];
  const before = process.cpuUsage();
  for (let n = 0; n < times; n++) {
    const from = performance.now();
    await run();
    took.push(performance.now() - from);
  }
  const cpu = process.cpuUsage(before);
  const each = ((cpu.user + cpu.system) / 1000 / times).toFixed(1);
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor(share * (took.length - 1))]!.toFixed(1);
  said(`${title.padEnd(30)} p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, max ${at(1)} ms, CPU ${each} ms each`);
}

function seconds(from: number): string {
  return `${((performance.now() - from) / 1000).toFixed(1)} s`;
}
