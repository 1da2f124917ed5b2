/**
 * The same kind of agent with a model behind it: it calls Chat Completions at `LARES_FAKE_MODEL`, with a
 * tool that reads and one that runs commands, as a real coding agent does. It asks before both. Its quirks (`LARES_FAKE_QUIRKS`) are ways
 * in which real agents fall short.
 *
 * Documentation: https://agentclientprotocol.com/protocol/overview
 * Documentation: https://platform.openai.com/docs/api-reference/chat
 * Acknowledgement: a prompt is done when its response is written. Sessions are files: another process finds them.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

if (process.argv.includes("--version")) {
  process.stdout.write("3.2.1\n");
  process.exit(0);
}

const { LARES_FAKE_HOME: home, LARES_FAKE_MODEL: model, LARES_FAKE_TOKEN: token } = process.env;
const quirks = new Set((process.env.LARES_FAKE_QUIRKS ?? "").split(","));
mkdirSync(home, { recursive: true });
const file = (id) => join(home, `${id}.json`);
const waiting = new Map();
let asked = 0;
let stop = new AbortController();
let cwd = process.cwd();

const field = (name) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
const TOOLS = [
  { type: "function", function: { name: "read_file", parameters: field("path") } },
  { type: "function", function: { name: "bash", parameters: field("command") } },
];

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, one) => send({ method: "session/update", params: { sessionId, update: one } });
const lines = createInterface({ input: process.stdin });
lines.on("close", () => process.exit(0));
lines.on("line", async (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(result);
  if (method === "session/cancel") return quirks.has("deaf") ? undefined : stop.abort();
  if (id === undefined) return;
  try {
    send({ id, result: await METHODS[method](params) });
  } catch (error) {
    send({ id, error: { code: -32603, message: error.message } });
  }
});

const METHODS = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] }),
  authenticate: () => ({}),
  "session/set_mode": () => ({}),
  "session/new"(params) {
    cwd = params.cwd;
    const sessionId = `fake-${process.pid}-${Date.now()}`;
    writeFileSync(file(sessionId), "[]");
    return { sessionId };
  },
  "session/load"(params) {
    cwd = params.cwd;
    if (!existsSync(file(params.sessionId))) throw new Error("no such session");
    if (quirks.has("forgets")) writeFileSync(file(params.sessionId), "[]");
    return {};
  },
  async "session/prompt"({ sessionId, prompt }) {
    if (quirks.has("offline")) throw new Error("no network");
    stop = new AbortController();
    const messages = JSON.parse(readFileSync(file(sessionId), "utf8"));
    messages.push({ role: "user", content: prompt.map((part) => part.text).join("") });
    const used = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    try {
      while (await call(sessionId, messages, used));
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      return { stopReason: "cancelled", usage: used };
    } finally {
      writeFileSync(file(sessionId), JSON.stringify(messages));
    }
    return { stopReason: "end_turn", usage: used };
  },
};

/** One call of the model and what it wants done. False: it had only words. */
async function call(sessionId, messages, used) {
  const response = await fetch(`${model}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: "any", stream: true, messages, tools: TOOLS }),
    signal: stop.signal,
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const said = { role: "assistant", content: "", tool_calls: [] };
  let rest = "";
  for await (const piece of response.body) {
    rest += Buffer.from(piece).toString("utf8");
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const event of events.map((one) => one.slice("data: ".length)).filter((one) => one !== "[DONE]")) {
      const { choices, usage } = JSON.parse(event);
      const { content = "", tool_calls: calls = [] } = choices[0].delta;
      if (content)
        update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: content } });
      said.content += content;
      said.tool_calls.push(...calls);
      if (!usage) continue;
      used.inputTokens += usage.prompt_tokens;
      used.outputTokens += usage.completion_tokens;
      used.totalTokens += usage.total_tokens;
    }
  }
  if (said.tool_calls.length === 0) delete said.tool_calls;
  messages.push(said);
  for (const one of said.tool_calls ?? [])
    messages.push({ role: "tool", tool_call_id: one.id, content: await act(sessionId, one) });
  return said.tool_calls !== undefined;
}

async function act(sessionId, { id, function: { name, arguments: text } }) {
  const input = JSON.parse(text);
  const isRead = name === "read_file";
  const known = {
    toolCallId: id,
    title: input.path ?? input.command,
    kind: isRead ? "read" : "execute",
    rawInput: input,
  };
  update(sessionId, { sessionUpdate: "tool_call", status: "pending", ...known });
  const isUnasked = quirks.has("never-asks") || (isRead && quirks.has("reads-unasked"));
  const isAllowed = isUnasked || (await ask(sessionId, known)) || quirks.has("ignores-no");
  const result = isAllowed ? perform(name, input) : "not allowed";
  const content = [{ type: "content", content: { type: "text", text: result } }];
  update(sessionId, {
    sessionUpdate: "tool_call_update",
    toolCallId: id,
    status: isAllowed ? "completed" : "failed",
    content,
  });
  return result;
}

function perform(name, input) {
  if (name === "read_file") return readFileSync(input.path, "utf8");
  return execFileSync("/bin/sh", ["-c", input.command], { cwd, encoding: "utf8" });
}

async function ask(sessionId, toolCall) {
  const options = [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ];
  const id = `q-${++asked}`;
  send({ id, method: "session/request_permission", params: { sessionId, toolCall, options } });
  const { outcome } = await new Promise((resolve) => waiting.set(id, resolve));
  return outcome.optionId === "yes";
}
