/**
 * FAKE of an agent that speaks the Agent Client Protocol, without a model: its prompts say what to do. Its quirks are those that real
 * agents were seen to have (`LARES_FAKE_QUIRKS`), so that each of them is tried where those agents aren't installed.
 *
 * Documentation: https://agentclientprotocol.com/protocol/overview
 * Documentation: https://agentclientprotocol.com/protocol/tool-calls
 * Acknowledgement: a prompt is done when its response is written. Sessions are files, as a real agent's are: another process finds them.
 */
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

if (process.argv.includes("--version")) {
  process.stdout.write("a banner of another line\n1.2.3\n");
  process.exit(0);
}

const home = process.env.LARES_FAKE_HOME;
const quirks = new Set((process.env.LARES_FAKE_QUIRKS ?? "").split(","));
mkdirSync(home, { recursive: true });
const sessionFile = (id) => join(home, `${id}.json`);
const waiting = new Map();
let asked = 0;
/** The servers that it was given for the session. */
let servers = [];
let cancelled = () => {};
/** The one that it starts in. */
let mode = "auto";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, one) => send({ method: "session/update", params: { sessionId, update: one } });
const chunk = (sessionId, text, kind = "agent_message_chunk") =>
  update(sessionId, { sessionUpdate: kind, content: { type: "text", text } });

if (quirks.has("silent")) await new Promise((resolve) => setTimeout(resolve, 600_000));
if (quirks.has("noisy")) process.stdout.write("Loaded 3 extensions\n");
if (quirks.has("never-ends")) setInterval(() => {}, 1000);
const lines = createInterface({ input: process.stdin });
lines.on("close", () => {
  if (!quirks.has("never-ends")) process.exit(0);
});
lines.on("line", async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(result, error);
  if (method === "session/cancel") return cancelled();
  if (id === undefined) return;
  try {
    send({ id, result: await METHODS[method](params) });
  } catch (error) {
    send({ id, error: { code: error.code ?? -32603, message: error.message } });
  }
});

const METHODS = {
  initialize: () => ({
    protocolVersion: quirks.has("newer") ? 2 : 1,
    agentCapabilities: { loadSession: true, mcpCapabilities: { http: true } },
    authMethods: [{ id: "key", name: "Key" }],
  }),
  authenticate: () => ({}),
  "session/set_mode"({ modeId }) {
    mode = modeId;
    return {};
  },
  "session/new"({ mcpServers = [] }) {
    servers = mcpServers;
    const sessionId = `fake-${process.pid}-${Date.now()}`;
    writeFileSync(sessionFile(sessionId), "[]");
    return { sessionId };
  },
  "session/load"({ sessionId, mcpServers = [] }) {
    servers = mcpServers;
    if (!existsSync(sessionFile(sessionId))) throw new Error("no such session");
    for (const said of JSON.parse(readFileSync(sessionFile(sessionId), "utf8"))) {
      chunk(sessionId, said, "user_message_chunk");
      chunk(sessionId, `the answer to ${said}`);
      update(sessionId, { sessionUpdate: "tool_call", toolCallId: "old", title: "old", status: "completed" });
    }
    return {};
  },
  async "session/prompt"({ sessionId, prompt }) {
    const text = prompt.map((part) => part.text).join("");
    writeFileSync(join(home, "heard"), text);
    if (quirks.has("asks-host")) await askHost();
    const said = JSON.parse(readFileSync(sessionFile(sessionId), "utf8"));
    writeFileSync(sessionFile(sessionId), JSON.stringify([...said, text]));
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
    return { stopReason: await perform(sessionId, text), usage };
  },
};

async function perform(sessionId, text) {
  // Instructions, a story or Lares' own line may come first: the last order counts.
  const order = text.match(/\{"do":.*\}/g)?.at(-1);
  const { do: deed, words, thought, mark } = order ? JSON.parse(order) : { do: "say", words: "" };
  if (deed === "fail") throw new Error("401 Unauthorized: the key was rejected");
  if (deed === "die") process.exit(3);
  if (deed === "look") return look(sessionId, JSON.parse(order));
  if (deed === "change") return change(sessionId, JSON.parse(order));
  if (deed === "use") return use(sessionId, JSON.parse(order), text);
  if (deed === "pry") return pry(sessionId, JSON.parse(order));
  if (deed === "hang") await new Promise(() => {});
  if (thought) chunk(sessionId, thought, "agent_thought_chunk");
  // As tools do that start a server: it leaves the group and the session, and outlives who started it.
  if (deed === "detach")
    spawn(process.execPath, ["-e", `setTimeout(() => {}, 600_000) // ${mark}`], {
      detached: true,
      stdio: "ignore",
    }).unref();
  if (deed === "forever" || deed === "detach") {
    chunk(sessionId, words);
    const timer = setInterval(() => chunk(sessionId, "."), 5);
    await new Promise((resolve) => (cancelled = resolve));
    clearInterval(timer);
    return "cancelled";
  }
  // Time for somebody to say something, or to die.
  if (quirks.has("slow")) await new Promise((resolve) => setTimeout(resolve, 300));
  if (deed === "act" && !isDone(text, mark)) {
    const outcome = await act(sessionId, mark);
    if (outcome === "cancelled") return "cancelled";
    if (outcome === "denied" && quirks.has("denial-ends")) return "end_turn";
  }
  for (const piece of words.match(/.{1,4}/gs) ?? []) chunk(sessionId, piece);
  return "end_turn";
}

/** Changes a file where it works, and tries what git lets it do there. */
async function change(sessionId, { file, content, words }) {
  if (quirks.has("slow")) await new Promise((resolve) => setTimeout(resolve, 300));
  writeFileSync(file, content);
  const run = (...args) => spawnSync("git", args, { encoding: "utf8" });
  const log = run("log", "--format=%s");
  const { status } = run("config", "core.fsmonitor", "planted");
  chunk(sessionId, `${words}: ${log.stdout.trim()}, ${status === 0 ? "planted" : "closed"}`);
  return "end_turn";
}

/** What it sees of the machine. */
async function look(sessionId, { host, port, path }) {
  const reached = await new Promise((resolve) => {
    const socket = connect({ host, port }, () => resolve("reached"));
    socket.once("error", () => resolve("unreachable"));
  });
  chunk(sessionId, `${reached}, ${existsSync(path) ? "readable" : "unreadable"}`);
  return "end_turn";
}

/**
 * Calls a tool of a server that it was given, and says what came back. `quiet`: without a word about it on the protocol. `once`: as
 * agents do that hear that they have called it already.
 */
async function use(sessionId, { tool, input, quiet = false, once = false }, text) {
  const told = once ? text.match(/You called .*/s)?.[0] : undefined;
  if (told) {
    chunk(sessionId, `told: ${told}`);
    return "end_turn";
  }
  const call = `call-${++asked}`;
  const known = { toolCallId: call, title: `lares_${tool}`, kind: "other" };
  if (!quiet) update(sessionId, { sessionUpdate: "tool_call", status: "in_progress", ...known, rawInput: input });
  const ask = await connectMcp(servers.find(({ name }) => name === "lares"));
  const { tools } = await ask("tools/list", {});
  writeFileSync(join(home, "tools"), JSON.stringify(tools.map(({ name }) => name)));
  const { content, isError } = await ask("tools/call", { name: tool, arguments: input });
  const result = content.map((part) => part.text).join("");
  if (!quiet)
    update(sessionId, {
      sessionUpdate: "tool_call_update",
      toolCallId: call,
      status: isError ? "failed" : "completed",
      content: [{ type: "content", content: { type: "text", text: result } }],
    });
  chunk(sessionId, `${isError ? "failed" : "ok"}: ${result}`);
  return "end_turn";
}

/** What a token for tools opens: this run's own, or the one of an earlier run. */
async function pry(sessionId, { own }) {
  const { url, headers } = own ? servers[0] : JSON.parse(readFileSync(join(home, "server"), "utf8"));
  const knock = async (path) => {
    const more = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const sent = { ...Object.fromEntries(headers.map(({ name, value }) => [name, value])), ...more };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    return (await fetch(new URL(path, url), { method: "POST", headers: sent, body })).status;
  };
  chunk(sessionId, `tools ${await knock(url)}, models ${await knock("/v1/messages")}, at ${new URL(url).port}`);
  return "end_turn";
}

/** As MCP clients of the revision 2025-11-25 do it, over HTTP. */
async function connectMcp({ url, headers: given }) {
  writeFileSync(join(home, "server"), JSON.stringify({ url, headers: given }));
  const headers = {
    ...Object.fromEntries(given.map(({ name, value }) => [name, value])),
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const post = async (message) => {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    const session = response.headers.get("mcp-session-id");
    if (session) headers["mcp-session-id"] = session;
    return (await response.text()).split("\n").map((line) => line.replace(/^data: /, ""));
  };
  let last = 0;
  const ask = async (method, params) => {
    const id = ++last;
    const answers = (await post({ id, method, params }))
      .filter((line) => line.startsWith("{"))
      .map((l) => JSON.parse(l));
    const { result, error } = answers.find((one) => one.id === id);
    if (error) throw new Error(error.message);
    return result;
  };
  const clientInfo = { name: "fake", version: "1" };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  await post({ method: "notifications/initialized" });
  return ask;
}

/** As Qwen does before each turn: it goes on when it is told that nobody knows such a request. */
async function askHost() {
  const id = "drain-1";
  send({ id, method: "craft/drainMidTurnQueue", params: {} });
  const code = await new Promise((resolve) => waiting.set(id, (_, error) => resolve(error?.code)));
  if (code !== -32601) throw new Error(`the host answered with ${code}`);
}

/** As agents do that hear that they were interrupted: they look. */
function isDone(text, mark) {
  const file = join(home, "marks");
  if (!text.includes("check whether it already happened") || !existsSync(file)) return false;
  return readFileSync(file, "utf8").split("\n").includes(`${mark} yes`);
}

async function act(sessionId, mark) {
  const call = `call-${++asked}`;
  const known = { toolCallId: call, title: `mark ${mark}`, kind: "execute" };
  const input = { rawInput: { command: `mark ${mark}` } };
  if (!quirks.has("unannounced"))
    update(sessionId, { sessionUpdate: "tool_call", status: "pending", ...known, rawInput: {} });
  if (quirks.has("numbered-apart"))
    update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: call, ...input });
  const toolCall = { ...known, ...input, toolCallId: quirks.has("numbered-apart") ? `perm-check-${asked}` : call };
  const options = [
    { optionId: "always", name: "Always", kind: "allow_always" },
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ];
  const request = (id) => {
    send({ id, method: "session/request_permission", params: { sessionId, toolCall, options } });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  // As Qwen does in its own mode: something else than the host says yes.
  const decideAlone = async () => ({ outcome: { outcome: "selected", optionId: "yes" } });
  const isAlone = quirks.has("own-mode") && mode !== "default";
  const first = isAlone ? decideAlone() : request(`q-${asked}`);
  const [{ outcome }, again] = await Promise.all([
    first,
    quirks.has("asks-twice") ? request(`q-${asked}-again`) : first,
  ]);
  if (again.outcome.optionId !== outcome.optionId) throw new Error("two answers to one question");
  const isAllowed = outcome.optionId === "yes" || outcome.optionId === "always";
  if (isAllowed) appendFileSync(join(home, "marks"), `${mark} ${outcome.optionId}\n`);
  const content = [{ type: "content", content: { type: "text", text: isAllowed ? "marked" : "not allowed" } }];
  const status = isAllowed ? "completed" : "failed";
  update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: call, status, content });
  if (outcome.outcome === "cancelled") return "cancelled";
  return isAllowed ? "allowed" : "denied";
}
