/** An MCP server over HTTP with one tool, `note`, that keeps what it was called with: as Lares' own tools are lent to a run. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface NotesServer {
  url: string;
  token: string;
  kept: readonly string[];
  close(): Promise<void>;
}

const NOTE = {
  name: "note",
  description: "Keeps a note.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

interface Message {
  id?: string | number;
  method?: string;
  params?: { protocolVersion?: string; arguments?: { text?: string } };
}

export async function startNotes(): Promise<NotesServer> {
  const token = randomUUID();
  const kept: string[] = [];
  const answers: Record<string, (params: NonNullable<Message["params"]>) => object> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "notes", version: "1" },
    }),
    "tools/list": () => ({ tools: [NOTE] }),
    "tools/call": ({ arguments: given }) => {
      kept.push(given?.text ?? "");
      return { content: [{ type: "text", text: `kept: ${given?.text}` }] };
    },
    ping: () => ({}),
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method = "", params = {} } = JSON.parse(body) as Message;
    if (id === undefined) return void response.writeHead(202).end();
    const answer = answers[method];
    const said = answer ? { result: answer(params) } : { error: { code: -32_601, message: "unknown" } };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    token,
    kept,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
