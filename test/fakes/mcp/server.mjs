/**
 * FAKE of an MCP server over stdio, without any library: what it lists and how it misbehaves comes from a JSON file that a test may
 * change while it runs. It stands in for servers that nobody would publish: some that die, hang, flood or hide characters.
 *
 * Documentation: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 * Documentation: https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * Acknowledgement: a call is done when its response is written; a server that ends before has not said whether it did it.
 *
 *   node server.mjs SCRIPT.json
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , scriptFile] = process.argv;
const script = () => JSON.parse(readFileSync(scriptFile, "utf8"));
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const note = (line) => {
  const { log } = script();
  try {
    if (log) appendFileSync(log, `${line}\n`);
  } catch {
    // In the sandbox the log's folder can only be read.
  }
};

note(`started ${process.pid}`);
if (script().ignoresEnd) {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
}
const lines = createInterface({ input: process.stdin });
lines.on("close", () => {
  if (!script().ignoresEnd) process.exit(0);
});
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize") {
    return say({
      id,
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "scripted", version: "1" },
      },
    });
  }
  if (method === "tools/list") return say({ id, result: { tools: script().tools } });
  if (method === "tools/call") return call(id, params);
  if (method === "ping") return say({ id, result: {} });
  say({ id, error: { code: -32601, message: `no method ${method}` } });
});

function call(id, { name, arguments: given }) {
  note(`called ${name} ${JSON.stringify(given)}`);
  const { behaviour = {} } = script();
  switch (behaviour[name]) {
    case "dies":
      return process.exit(7);
    case "hangs":
      return undefined;
    case "floods":
      return process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"text":"${"x".repeat(12 * 1024 * 1024)}`);
    case "hides":
      return say({ id, result: { content: [{ type: "text", text: "plain\u{E0041}\u{E0042} text\u202E" }] } });
    case "fails":
      return say({ id, result: { isError: true, content: [{ type: "text", text: "no such city" }] } });
    default:
      return say({ id, result: { content: [{ type: "text", text: `${name} says ${JSON.stringify(given)}` }] } });
  }
}
