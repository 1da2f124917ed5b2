/**
 * A model provider as a plugin: an OpenAI-compatible server (Chat Completions, streamed) on a socket in its data folder. This one
 * repeats the last message; a real one would run a model here, or call one at a host that it was granted. Without any dependency.
 */
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

const socket = join(process.env.PLUGIN_DATA, "model.sock");

const server = createServer(async (request, response) => {
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") return response.writeHead(404).end();
  let body = "";
  for await (const piece of request) body += piece;
  const { model, messages } = JSON.parse(body);
  const last = messages.findLast(({ role }) => role === "user");
  const text = typeof last.content === "string" ? last.content : last.content.map((part) => part.text ?? "").join("\n");
  const words = text.trim().split("\n").at(-1);
  const chunk = (fields) =>
    response.write(
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model, ...fields })}\n\n`,
    );
  response.writeHead(200, { "content-type": "text/event-stream" });
  chunk({ choices: [{ index: 0, delta: { role: "assistant", content: words }, finish_reason: null }] });
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  chunk({
    choices: [],
    usage: { prompt_tokens: body.length >> 2, completion_tokens: words.length >> 2, total_tokens: 0 },
  });
  response.end("data: [DONE]\n\n");
});

/** Lares asks this before each request; only the first has something to do. */
async function start() {
  if (!server.listening) {
    rmSync(socket, { force: true });
    await new Promise((resolve, reject) => server.once("error", reject).listen(socket, resolve));
  }
  return {};
}

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "parrot", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [] }),
  "models/start": start,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const run = methods[method];
  const reply = run ? { result: await run() } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}
