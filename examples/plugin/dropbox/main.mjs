/**
 * A channel as a plugin: a text file in `in/` of its data folder is a message from `owner`, and the answer is written to `out/`.
 * It also adds the command /dropbox:note. Without any dependency.
 *
 * Nothing is lost or doubled: a file is deleted after Lares acknowledged it, and an answer is acknowledged after it was written,
 * under a name made from its id.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const data = process.env.PLUGIN_DATA;
const [inbox, outbox] = ["in", "out"].map((name) => join(data, name));
for (const folder of [inbox, outbox]) mkdirSync(folder, { recursive: true });

/** Longest that `channels/take` waits; Lares ends a plugin that is silent for 30 seconds. */
const WAIT_MS = 20_000;
const LOOK_MS = 200;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What Lares has yet to hear beside messages: that an answer was written. */
const acks = [];
/** Files that were passed on and not acknowledged yet. */
const given = new Set();

async function take() {
  for (const until = Date.now() + WAIT_MS; Date.now() < until; await pause(LOOK_MS)) {
    const files = readdirSync(inbox).filter((name) => name.endsWith(".txt") && !given.has(name));
    const frames = [
      ...acks.splice(0),
      ...files.map((name) => ({
        type: "inbound_message",
        id: name,
        userId: "owner",
        content: readFileSync(join(inbox, name), "utf8"),
      })),
    ];
    for (const name of files) given.add(name);
    if (frames.length > 0) return { frames };
  }
  return { frames: [] };
}

function give({ frame }) {
  if (frame.type === "ack") {
    given.delete(frame.id);
    rmSync(join(inbox, frame.id), { force: true });
  }
  if (frame.type === "outbound_message") {
    const name = `${frame.id.replace(/[^\w-]/g, "_")}.txt`;
    writeFileSync(join(outbox, `.${name}`), frame.content);
    renameSync(join(outbox, `.${name}`), join(outbox, name));
    acks.push({ type: "ack", id: frame.id });
  }
  return {};
}

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, prompts: {} },
    serverInfo: { name: "dropbox", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [] }),
  "prompts/list": () => ({
    prompts: [
      {
        name: "note",
        description: "Asks for a note that fits on a card.",
        arguments: [{ name: "topic", required: true }],
      },
    ],
  }),
  "prompts/get": ({ arguments: { topic } }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Write a note about ${topic}, in at most 50 words.` } }],
  }),
  "channels/take": take,
  "channels/give": give,
};

async function answer({ id, method, params }) {
  const run = methods[method];
  const reply = run ? { result: await run(params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}

// Not one after the other: while one request waits for a message, others bring answers.
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id !== undefined) void answer(message);
}
