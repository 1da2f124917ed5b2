/**
 * The practice model in the real program: what a new user would type, for every built-in tool. A tool without a row here fails,
 * and so does a sentence that calls another tool, or one with an input that the tool refuses.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RULES } from "../../src/edges/models/practice/rules/index.ts";
import { ON_DEMAND_TOOLS } from "../../src/edges/tools/index.ts";
import { everyTool } from "../support/every-tool.ts";
import { type Lares, startLares, until } from "../support/index.ts";

const PATCH = "*** Begin Patch\n*** Add File: patched.txt\n+hello\n*** End Patch";

/** What is said first, for words that mean what was made before. */
const REMINDER = "remind me in 2 hours to drink water";
const HELPER = "ask a sub-agent to wait 200 seconds";
const TASK = "add a task: water the plants";
const COMMAND = "run sleep 100 in the background";

type Sentence = string | { first: string; words: string };

const SENTENCES: Readonly<Record<string, readonly [Sentence, Sentence, ...Sentence[]]>> = {
  read: ["read notes.txt", "show me notes.txt", "What does notes.txt say?", "please open the file notes.txt"],
  write: ["write hello to new.txt", "create a file todo.txt with buy milk", 'save "milk" in shopping.txt'],
  edit: ["replace kettle with pot in notes.txt", "in notes.txt, change kettle to pot"],
  apply_patch: [`apply this patch:\n${PATCH}`, PATCH],
  list: ["list files", "what files are here?", "show me the files in docs", "What's in the folder docs?"],
  search: ["search for kettle", "find kettle in my files", "which files mention kettle?", "find files named *.txt"],
  exec: ["run date", "please run the command: uname -a", "execute `ls`", COMMAND],
  process: [
    "what is running?",
    { first: COMMAND, words: "show the output of the command" },
    { first: COMMAND, words: "stop the process" },
  ],
  web_fetch: [
    "fetch https://example.invalid",
    "what does https://example.invalid say?",
    "read the page example.invalid",
  ],
  web_search: ["search the web for tide tables", "look up tide tables online", "google tide tables"],
  browser: [
    "open https://example.invalid in the browser",
    "browse example.invalid",
    "can you open example.invalid in a browser?",
    "close the browser",
  ],
  message: ["send me a message: the kettle is on", "message me the kettle is on"],
  memory_save: ["remember that I like green tea", "don't forget that my sister is called Ann"],
  memory_search: ["what do you remember about tea?", "what do you know about me?", "what did I tell you about tea?"],
  memory_forget: [
    "forget that I like green tea",
    "forget about tea",
    "forget everything about tea",
    { first: "remember that I like green tea", words: "forget that" },
  ],
  schedule_add: [REMINDER, "remind me to call Ann tomorrow at 9am", "set a reminder for tomorrow at 9am to call Ann"],
  schedule_list: ["what is scheduled?", "show my reminders", "which reminders do I have?", "cancel the reminder"],
  schedule_remove: [
    { first: REMINDER, words: "cancel the reminder" },
    { first: REMINDER, words: "delete my water reminder" },
    { first: REMINDER, words: "Cancel the reminder about water, please." },
  ],
  schedule_update: [
    { first: REMINDER, words: "pause the reminder" },
    { first: REMINDER, words: "move the water reminder to tomorrow at 9am" },
  ],
  schedule_snooze: [
    { first: REMINDER, words: "snooze it for 10 minutes" },
    { first: REMINDER, words: "remind me again in an hour" },
  ],
  sessions_spawn: ["ask a sub-agent to list the files", "have another agent run date", "delegate: list files"],
  sessions_list: ["list the sub-agents", "what are my helpers doing?", "stop the sub-agent"],
  sessions_history: [
    { first: HELPER, words: "what did the sub-agent say?" },
    { first: HELPER, words: "what has the helper done so far?" },
  ],
  sessions_send: [
    { first: HELPER, words: "tell the sub-agent to hurry" },
    { first: HELPER, words: "tell the helper list files" },
  ],
  sessions_stop: [
    { first: HELPER, words: "stop the sub-agent" },
    { first: HELPER, words: "cancel the helper" },
  ],
  board_list: ["what's on the board?", "show me the tasks"],
  board_get: [
    { first: TASK, words: "show task 1" },
    { first: TASK, words: "read the task #1" },
  ],
  board_create: [TASK, 'add a task to the board: "call Ann"'],
  board_comment: [
    { first: TASK, words: "comment on task 1: it's urgent" },
    { first: TASK, words: "comment on the task #1: hurry" },
  ],
  board_hand_in: ["hand in the task: the plants are watered", "hand in: done"],
  room_post: ["write in the room: dinner is ready", "post in the team's room: hello"],
  room_read: ["what's new in the room?", "read the room"],
  wait: ["wait 1 second", "wait for the sub-agents", "wait until the command is done"],
  tool_search: ["find a tool for schedules", "which tools do you have?"],
  tool_run: ["run the tool schedule_list", 'use the tool memory_forget with {"about":"tea"}'],
};

let lares: Lares;
/** What the practice model is offered: read off its own request. */
let offered: string[];
beforeAll(async () => {
  lares = await startLares({
    config: {
      policy: { mode: "record" },
      gateway: { http: { wait: 0.3 } },
      web: { search: { provider: "searxng", baseUrl: "http://127.0.0.1:9" } },
    },
  });
  await lares.chat("list", "hello");
  const { parts } = await lares.rpc("context.request", { session: sessionOf("list") });
  offered = parts.flatMap((part) => (part.kind === "tool" ? [part.name!] : []));
  mkdirSync(join(lares.workspace(), "docs"), { recursive: true });
});
afterAll(() => lares?.dispose());

const sessionOf = (user: string) => `agent:main:http:owner:${user}`;

/** Every call so far, as the tool that was meant, with its result. */
async function callsIn(user: string) {
  const { messages } = await lares.rpc("chat.history", { session: sessionOf(user), limit: 50 });
  const parts = messages.flatMap((message) => message.content);
  const results = new Map(parts.flatMap((part) => (part.type === "tool-result" ? [[part.id, part.text]] : [])));
  return parts.flatMap((part) => {
    if (part.type !== "tool-call") return [];
    const input = part.input as { name?: string };
    return [{ name: part.name, ran: part.name === "tool_run" ? input.name : part.name, result: results.get(part.id) }];
  });
}

const said = (one: Sentence) => (typeof one === "string" ? { first: undefined, words: one } : one);
const table = [
  ...Object.entries(SENTENCES).flatMap(([tool, sentences]) => sentences.map((one) => ({ ...said(one), tool }))),
].map((one, at) => ({ ...one, user: `words-${at}`, name: one.first ? `${one.first}; ${one.words}` : one.words }));

test("every built-in tool has sentences, and every rule is for a tool that is there", () => {
  const builtIn = [...offered, ...ON_DEMAND_TOOLS].sort();
  expect(Object.keys(SENTENCES).sort()).toEqual(builtIn);
  // What is checked of every tool's description is checked of what the program has.
  const { registry, bound } = everyTool();
  const checked = [...registry.specs(), ...bound.map(({ spec }) => spec)].map(({ name }) => name);
  expect([...new Set(checked)].sort()).toEqual(builtIn);
  // Offered only where a turn may end without an answer.
  const endings = ["nothing_to_report", "stay_silent"];
  expect([...new Set(RULES.map(({ tool }) => tool))].sort()).toEqual([...builtIn, ...endings].sort());
});

describe("what a new user types", () => {
  test.each(table)("$name → $tool", { timeout: 30_000 }, async ({ first, words, tool, user }) => {
    writeFileSync(join(lares.workspace(), "notes.txt"), "the kettle is on\n");
    if (first) {
      await lares.chat(user, first);
      await until("the first call's result", async () => (await callsIn(user)).every(({ result }) => result));
    }
    const before = (await callsIn(user)).length;
    const { turn } = await lares.chat(user, words);
    const call = await until("the call", async () => (await callsIn(user))[before]);
    expect(tool === "tool_run" ? call.name : call.ran).toBe(tool);
    const { result } = await until("its result", async () => {
      const [now] = (await callsIn(user)).slice(before);
      return now?.result === undefined ? undefined : now;
    });
    expect(result).not.toMatch(
      /Field "|Unknown field|needs |no tool|You have no (?!sub-agents)|There is no (?!host|Chromium)/,
    );
    await lares.rpc("chat.abort", { turn }).catch(() => {});
  });
});

describe("what it has no rule for", () => {
  test.each(["write me a poem about autumn", "why is the sky blue?"])("%s", async (words) => {
    const { response, practice } = await lares.chat("unknown", words);
    expect(practice).toBe(true);
    expect(response).toContain("I am the practice model: a list of rules inside Lares, not a language model.");
    expect(response).toContain(`I have no rule for "${words}". Try "list files"`);
    expect(response).toContain(
      "To connect a real model, open Settings, Models in the web page, or run `lares onboard`",
    );
  });
});
