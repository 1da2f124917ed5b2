import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { connectOver } from "./http.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that answers each request with `answer`, and a connection to it. */
async function connectTo(answer: (method: string, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    response.on("error", () => {});
    request.resume().on("end", () => answer(request.method ?? "", response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const transport = connectOver(`http://127.0.0.1:${port}/mcp`, {}, { isListed: () => false });
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  transport.onerror = () => {};
  await transport.start();
  return { transport, closed };
}

test("a flood of events closes the connection, and it is said why (MC-18, MCP-32)", async () => {
  const event = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: {} })}\n\n`;
  let sent = 0;
  const { transport, closed } = await connectTo((_method, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const flood = () => {
      while (sent < 2_000_000 && response.write(event.repeat(200))) sent += 200;
      if (sent < 2_000_000) response.once("drain", flood);
    };
    flood();
  });
  let seen = 0;
  transport.onmessage = () => seen++;
  await transport.send({ jsonrpc: "2.0", id: 1, method: "tools/call" }).catch(() => {});
  await closed;
  expect(transport.ending?.()).toMatchObject({ isContained: true, why: expect.stringContaining("2000 messages") });
  expect(seen).toBeLessThan(20_000);
});

test("streams that end at once and are to be opened again at once close the connection (MC-18, MCP-32)", async () => {
  let streams = 0;
  const { transport, closed } = await connectTo((method, response) => {
    if (method !== "GET") return void response.writeHead(202).end();
    streams++;
    response.writeHead(200, { "content-type": "text/event-stream" }).end("retry: 0\nid: 1\ndata: \n\n");
  });
  await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  await closed;
  expect(transport.ending?.()).toMatchObject({ isContained: true });
  expect(streams).toBeLessThan(500);
});
