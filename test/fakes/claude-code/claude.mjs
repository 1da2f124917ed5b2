/**
 * FAKE of Claude Code 2.1.325: it repeats recorded runs of the real one (transcripts/, made by record.mjs with the scripted model behind it)
 * line by line, and waits wherever the real one was waiting for Lares. The first message says which run. A command that was
 * allowed is done, as far as it appends a word to a file. `LARES_FAKE_QUIRKS` makes it misbehave.
 *
 * Documentation: https://code.claude.com/docs/en/headless
 * Documentation: https://code.claude.com/docs/en/cli-reference
 * Acknowledgement: a turn is done when its line of the type "result" is written. Conversations are files below CLAUDE_CONFIG_DIR.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { transcriptName } from "./names.mjs";

const args = process.argv.slice(2);
const quirks = new Set((process.env.LARES_FAKE_QUIRKS ?? "").split(","));
if (args.includes("--version")) {
  process.stdout.write(`${process.env.LARES_FAKE_VERSION ?? "2.1.325 (Claude Code)"}\n`);
  process.exit(0);
}
const session = args[args.findIndex((one) => one === "--session-id" || one === "--resume") + 1];
const isResumed = args.includes("--resume");
const sessions = join(process.env.CLAUDE_CONFIG_DIR, "sessions");
const users = [];

const read = (name) =>
  readFileSync(new URL(`transcripts/${name}`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const fill = (value) =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll("{session}", session)
      .replace(/\{user-(\d+)\}/g, (_, number) => users[Number(number) - 1] ?? "nobody"),
  );
const say = (message) => process.stdout.write(`${JSON.stringify(fill(message))}\n`);

/** What Lares said, in order; null: no more. */
const inbox = [];
let wake = () => {};
createInterface({ input: process.stdin })
  .on("line", (line) => {
    inbox.push(JSON.parse(line));
    wake();
  })
  .on("close", () => {
    inbox.push(null);
    wake();
  });
async function next() {
  while (inbox.length === 0) await new Promise((resolve) => (wake = resolve));
  const message = inbox.shift();
  if (message === null) process.exit(0);
  if (message.type === "user") {
    users.push(message.uuid);
    appendFileSync("heard", `${message.message.content.map((part) => part.text).join("")}\n`);
  }
  return message;
}

const answer = (message, response) =>
  say({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response } });

const GREETINGS = {
  initialize: () => ({ claude_code_version: "2.1.325", session_state: "idle", pending_permission_requests: [] }),
  // As the real one says it of a port where nobody listens.
  mcp_set_servers({ servers }) {
    const gone = Object.keys(servers).filter((name) => servers[name].url.includes(":1/"));
    const why = "ECONNREFUSED: Unable to connect. Is the computer able to access the url?";
    return { added: Object.keys(servers), removed: [], errors: Object.fromEntries(gone.map((name) => [name, why])) };
  },
};

async function main() {
  if (quirks.has("hangs")) await new Promise(() => setInterval(() => {}, 1000));
  if (quirks.has("floods"))
    for (;;) await new Promise((resolve) => process.stdout.write(`${"x".repeat(4000)}\n`, resolve));
  if (quirks.has("long-line")) process.stdout.write("{".repeat(11 * 1024 * 1024));
  if (quirks.has("noisy")) process.stdout.write("Update available!\n[]\n{\n42\n");
  if (isResumed && !existsSync(join(sessions, session))) return replay(read("no-such-conversation.jsonl"));
  if (quirks.has("replays")) {
    const content = [{ type: "text", text: "an answer of long ago" }];
    say({ type: "assistant", message: { id: "old", role: "assistant", content }, parent_tool_use_id: null });
    say({ type: "user", message: { role: "user", content: "old words" }, isReplay: true, parent_tool_use_id: null });
  }
  let message = await next();
  for (; message.type === "control_request"; message = await next())
    answer(message, GREETINGS[message.request.subtype](message.request));
  mkdirSync(sessions, { recursive: true });
  appendFileSync(join(sessions, session), "");
  const text = message.message.content.map((part) => part.text).join("");
  const entries = read(transcriptName(text, isResumed));
  await replay(entries.slice(entries.findIndex(({ lares }) => lares?.type === "user") + 1));
}

async function replay(entries) {
  for (const entry of entries) {
    if (entry.claude) await tell(entry.claude);
    if (entry.lares) await expect(entry.lares);
    // It goes on until its input ends.
    if (entry.exit !== undefined) for (;;) await next();
  }
  for (;;) await next();
}

async function tell(message) {
  if (message.type === "stream_event" && quirks.has("dies")) process.exit(3);
  say(message);
  if (message.type === "result" && quirks.has("twice")) say(message);
  if (message.type !== "control_request") return;
  if (quirks.has("asks-newer"))
    say({ type: "control_request", request_id: "new-1", request: { subtype: "share_screen" } });
  if (quirks.has("asks-twice")) for (const id of [message.request_id, "again"]) say({ ...message, request_id: id });
}

/** Goes on when it comes; what the recorded run had no place for is let go. */
async function expect(kind) {
  for (;;) {
    const message = await next();
    const behavior = message.response?.response?.behavior;
    const isSame =
      message.type === kind.type &&
      (kind.type !== "control_request" || message.request.subtype === kind.subtype) &&
      (kind.type !== "control_response" ||
        (behavior === kind.behavior && !String(message.response.request_id).startsWith("new-")));
    if (!isSame) continue;
    if (behavior === "allow") act(message.response.response.updatedInput);
    return;
  }
}

function act({ command }) {
  const [, word] = /^echo (\S+) >> marks$/.exec(command ?? "") ?? [];
  if (quirks.has("dies-acting")) process.exit(3);
  if (word) appendFileSync("marks", `${word}\n`);
}

await main();
