/** A model server that sends far too much, in each of the four protocols. Nothing is kept: it writes as fast as it is read. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createGzip } from "node:zlib";

export type Flood = "line" | "text" | "error" | "gzip";
export const PROTOCOLS = ["anthropic", "openai-chat", "openai-responses", "google"] as const;
type Protocol = (typeof PROTOCOLS)[number];

/** Reported before the flood, where the protocol can. */
const INPUT_TOKENS = 1234;
const CHUNK = "x".repeat(64 * 1024);

export interface FloodServer {
  url: string;
  /** Bytes of the last answer that were taken before the connection went. */
  sent(): number;
  close(): Promise<void>;
}

export async function startFlood(flood: Flood, bytes: number): Promise<FloodServer> {
  let sent = 0;
  const server = createServer(async (request, response) => {
    request.resume();
    // Each wait for the reader also listens for its going away.
    response.setMaxListeners(0);
    sent = 0;
    const protocol = protocolOf(request.url ?? "");
    const write = (text: string) => {
      sent += text.length;
      return send(response, text);
    };
    if (flood === "gzip") {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      const zip = createGzip();
      zip.pipe(response);
      for (let i = 0; i < bytes / CHUNK.length && !response.destroyed; i++) {
        if (!zip.write(CHUNK)) await Promise.race([once(zip, "drain"), once(response, "close")]);
      }
      zip.end();
      return;
    }
    response.writeHead(flood === "error" ? 500 : 200, {
      "content-type": flood === "error" ? "application/json" : "text/event-stream",
    });
    if (flood !== "error") for (const event of beginning(protocol)) await write(frame(event));
    if (flood === "line") await write("data: ");
    if (flood === "error") await write('{"error":{"message":"');
    const piece = flood === "text" ? frame(textEvent(protocol, CHUNK)) : CHUNK;
    while (sent < bytes && !response.destroyed) await write(piece);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Providers of this server for `models.providers`, one for each protocol. */
export function floodProviders(url: string): Record<string, object> {
  const base: Record<Protocol, string> = {
    anthropic: `${url}/v1`,
    "openai-chat": `${url}/v1`,
    "openai-responses": `${url}/v1`,
    google: `${url}/v1beta`,
  };
  return Object.fromEntries(PROTOCOLS.map((api) => [api, { api, baseUrl: base[api], keys: ["not-a-real-key-1234"] }]));
}

function send(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed || response.write(text)) return Promise.resolve();
  return Promise.race([once(response, "drain"), once(response, "close")]);
}

function once(emitter: NodeJS.EventEmitter, event: string): Promise<void> {
  return new Promise((resolve) => emitter.once(event, () => resolve()));
}

function frame(event: unknown): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function protocolOf(path: string): Protocol {
  if (path.includes("/messages")) return "anthropic";
  if (path.includes("/chat/completions")) return "openai-chat";
  return path.includes("/responses") ? "openai-responses" : "google";
}

function beginning(protocol: Protocol): unknown[] {
  switch (protocol) {
    case "anthropic":
      return [
        {
          type: "message_start",
          message: {
            id: "m",
            model: "m",
            role: "assistant",
            content: [],
            usage: { input_tokens: INPUT_TOKENS, output_tokens: 1 },
          },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ];
    case "openai-responses":
      return [
        { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
        { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i" } },
      ];
    default:
      return [textEvent(protocol, "hello")];
  }
}

function textEvent(protocol: Protocol, text: string): unknown {
  switch (protocol) {
    case "anthropic":
      return { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
    case "openai-chat":
      return {
        id: "c",
        choices: [{ index: 0, delta: { role: "assistant", content: text }, finish_reason: null }],
        usage: { prompt_tokens: INPUT_TOKENS, completion_tokens: 1, total_tokens: INPUT_TOKENS + 1 },
      };
    case "openai-responses":
      return { type: "response.output_text.delta", item_id: "i", delta: text };
    case "google":
      return {
        candidates: [{ content: { parts: [{ text }], role: "model" } }],
        usageMetadata: { promptTokenCount: INPUT_TOKENS, candidatesTokenCount: 1 },
      };
  }
}
