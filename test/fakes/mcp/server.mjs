/**
 * FAKE of an MCP server over stdio, without any library: what it lists and how it misbehaves comes from a JSON file that a test may
 * change while it runs. It stands in for servers that nobody would publish: some that die, hang, flood or hide characters, and for
 * both eras of the protocol (`"era": "modern"` in the script is 2026-07-28).
 *
 * Documentation: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 * Documentation: https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * Documentation: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 * Documentation: https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * Documentation: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 * Documentation: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * Documentation: https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html
 * Acknowledgement: a call is done when its response is written; a server that ends before has not said whether it did it.
 *     A task is stored in a file beside the script before it is acknowledged, and so outlives the server.
 *
 *   node server.mjs SCRIPT.json
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , scriptFile] = process.argv;
const script = () => JSON.parse(readFileSync(scriptFile, "utf8"));
const isModern = () => script().era === "modern";
/** What every result of the newer era carries. */
const MODERN = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const say = ({ result, ...message }) => {
  const full = result === undefined ? {} : { result: isModern() ? { ...MODERN, ...result } : result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message, ...full })}\n`);
};
/** Answers to what this server asked, by the id of its request. */
const asked = new Map();
const note = (line) => {
  const { log } = script();
  try {
    if (log) appendFileSync(log, `${line}\n`);
  } catch {
    // In the sandbox the log's folder can only be read.
  }
};

note(`started ${process.pid}`);
if (process.env.SKY_KEY) note(`key ${process.env.SKY_KEY} ${process.argv.slice(3).join(" ")}`);
if (script().breaks) {
  console.error(`error: ${script().breaks}`);
  process.exit(1);
}
if (script().ignoresEnd) {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
}
const lines = createInterface({ input: process.stdin });
lines.on("close", () => {
  if (!script().ignoresEnd) process.exit(0);
});
lines.on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) return asked.get(id)?.(result ?? { refused: error.message });
  if (method === "notifications/cancelled") note(`cancelled ${params.reason ?? ""}`);
  if (id === undefined) return;
  if (method === "server/discover" && isModern()) {
    const extensions = { "io.modelcontextprotocol/tasks": {} };
    return say({ id, result: { supportedVersions: ["2026-07-28"], capabilities: { tools: {}, extensions } } });
  }
  if (method === "initialize" && !isModern()) {
    return say({
      id,
      result: {
        protocolVersion: "2025-11-25",
        capabilities: {
          tools: { listChanged: true },
          ...(script().prompts ? { prompts: {} } : {}),
          ...(script().tasks ? { tasks: { cancel: {}, requests: { tools: { call: {} } } } } : {}),
        },
        serverInfo: { name: "scripted", version: "1" },
      },
    });
  }
  if (method === "tools/list") return say({ id, result: { tools: script().tools } });
  if (method === "tools/call") return call(id, params);
  if (method === "prompts/list") return say({ id, result: { prompts: script().prompts } });
  if (method === "prompts/get") {
    note(`prompt ${params.name} ${JSON.stringify(params.arguments)}`);
    const text = `${params.name} of ${JSON.stringify(params.arguments)}\u{E0041} say:prompted`;
    return say({ id, result: { messages: [{ role: "user", content: { type: "text", text } }] } });
  }
  if (method === "resources/list") return say({ id, result: { resources: [{ uri: "sky://today", name: "Today" }] } });
  if (method === "resources/read") {
    if (params.uri !== "sky://today") return say({ id, error: { code: -32002, message: "no such resource" } });
    return say({ id, result: { contents: [{ uri: params.uri, text: "cloudy" }] } });
  }
  if (method.startsWith("tasks/")) return aboutTask(id, method.slice("tasks/".length), params);
  if (method === "ping") return say({ id, result: {} });
  say({ id, error: { code: -32601, message: `no method ${method}` } });
});

/** The same call again, with answers, goes on where the first one ended; the state says so. */
function callAgain(id, name, given, { inputResponses, requestState }) {
  note(`went on ${name} ${JSON.stringify(inputResponses)} ${requestState}`);
  if (script().behaviour?.[name] === "hangs") return undefined;
  const told = JSON.stringify({ given, inputResponses, requestState });
  return say({ id, result: { content: [{ type: "text", text: `${name} knows ${told}` }] } });
}

/** Holds the call open while a person is asked. */
function askFirst(id, name, { method, params }) {
  const own = `ask-${id}`;
  asked.set(own, (answer) => {
    note(`was told ${JSON.stringify(answer)}`);
    say({ id, result: { content: [{ type: "text", text: `${name} was told ${JSON.stringify(answer)}` }] } });
  });
  say({ id: own, method, params });
}

function call(id, { name, arguments: given, ...more }) {
  const { behaviour = {}, asks = {} } = script();
  if (more.requestState !== undefined) return callAgain(id, name, given, more);
  note(`called ${name} ${JSON.stringify(given)}`);
  if (script().tasks?.[name] && mayBeTask(more)) return startTask(id, name, given);
  if (asks[name]) {
    const { requests, state } = asks[name];
    if (isModern())
      return say({ id, result: { resultType: "input_required", inputRequests: requests, requestState: state } });
    return askFirst(id, name, Object.values(requests)[0]);
  }
  switch (behaviour[name]) {
    case "reports": {
      const progressToken = more._meta?.progressToken;
      for (let progress = 1; progress <= 500; progress++)
        say({
          method: "notifications/progress",
          params: { progressToken, progress, total: 500, message: "looking\u{E0041}" },
        });
      return setTimeout(() => say({ id, result: { content: [{ type: "text", text: "reported" }] } }), 50);
    }
    case "dies":
      return process.exit(7);
    case "hangs":
      return undefined;
    case "floods":
      return process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"text":"${"x".repeat(12 * 1024 * 1024)}`);
    case "hides":
      return say({ id, result: { content: [{ type: "text", text: "plain\u{E0041}\u{E0042} text\u202E" }] } });
    case "structures":
      return say({ id, result: { content: [{ type: "text", text: "warm" }], structuredContent: { degrees: "warm" } } });
    case "fails":
      return say({ id, result: { isError: true, content: [{ type: "text", text: "no such city" }] } });
    default:
      return say({ id, result: { content: [{ type: "text", text: `${name} says ${JSON.stringify(given)}` }] } });
  }
}

const tasksFile = `${scriptFile}.tasks`;
const readTasks = () => {
  try {
    return JSON.parse(readFileSync(tasksFile, "utf8"));
  } catch {
    return {};
  }
};

/** The older era: the client asks for a task. The newer one: it says that it can follow one. */
function mayBeTask({ task, _meta }) {
  if (!isModern()) return task !== undefined;
  return "io.modelcontextprotocol/tasks" in (_meta?.["io.modelcontextprotocol/clientCapabilities"]?.extensions ?? {});
}

function startTask(id, name, given) {
  const taskId = `task-${process.pid}-${id}`;
  writeFileSync(tasksFile, JSON.stringify({ ...readTasks(), [taskId]: { name, given, looks: 0 } }));
  const { id: shown = taskId } = script().tasks[name];
  note(`task ${taskId}`);
  const task = { ...timesOf(), taskId: shown, status: "working", statusMessage: "begun" };
  return say({ id, result: isModern() ? { resultType: "task", ...task } : { task } });
}

function timesOf() {
  const at = "2026-11-16T12:00:00Z";
  const [life, poll] = isModern() ? ["ttlMs", "pollIntervalMs"] : ["ttl", "pollInterval"];
  return { createdAt: at, lastUpdatedAt: at, [life]: 3_600_000, [poll]: 10 };
}

/** What the script says about a task: how it is, and with which words. `ends`: "file" waits until a file beside the script says so. */
function taskNow(taskId, { name, given, updates }) {
  const { status, said, ends, asks, error } = script().tasks[name];
  const common = { ...timesOf(), taskId, statusMessage: said };
  if (asks && !updates) return { ...common, status: "input_required", inputRequests: asks };
  if (ends === "file" && !existsSync(`${scriptFile}.done`)) return { ...common, status: "working" };
  const told = updates ? ` knowing ${JSON.stringify(updates)}` : "";
  const result = { content: [{ type: "text", text: `${name} made of ${JSON.stringify(given)}${told}` }] };
  if (error) return { ...common, status: "failed", error: { code: -32603, message: error } };
  return { ...common, status: status ?? "completed", result };
}

function aboutTask(id, what, { taskId, inputResponses }) {
  const tasks = readTasks();
  const task = tasks[taskId];
  if (what !== "get") note(`${what} ${taskId} ${inputResponses ? JSON.stringify(inputResponses) : ""}`.trim());
  if (!task || script().tasks?.[task.name]?.forgets) {
    note(`asked about ${taskId}`);
    return say({ id, error: { code: -32602, message: "Task not found" } });
  }
  if (what === "cancel") return say({ id, result: { ...timesOf(), taskId, status: "cancelled" } });
  if (what === "update") {
    writeFileSync(tasksFile, JSON.stringify({ ...tasks, [taskId]: { ...task, updates: inputResponses } }));
    return say({ id, result: {} });
  }
  const { result, ...now } = taskNow(taskId, task);
  if (what === "result") return say({ id, result });
  return say({ id, result: isModern() && now.status === "completed" ? { ...now, result } : now });
}
