/**
 * A client of the MCP face that keeps its stream open and never reads. The gateway's route runs in this process, so that events come
 * by the hundred thousand and the memory can be measured; connections are real.
 */
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as breathe } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { expect, it, onTestFinished } from "vitest";
import { type ApprovalId, asId, type SessionKey, type TurnId } from "../../src/core/domain/index.ts";
import { makeBus, silentLog, systemClock } from "../../src/core/kit/index.ts";
import type { Principal } from "../../src/core/protocol/index.ts";
import type { HttpApp } from "../../src/faces/gateway/http.ts";
import { EventStream } from "../../src/faces/gateway/live/events.ts";
import { mcpRoute } from "../../src/faces/gateway/mcp/route.ts";
import type { GatewayParts } from "../../src/faces/gateway/ports.ts";
import { until } from "../support/index.ts";
import { ERAS, type Era, openMcp } from "../support/mcp-client.ts";
import { pretend } from "../support/pretend.ts";

const MB = 1024 * 1024;
const URI = "lares://approvals";
const READER: Principal = { id: "r", name: "reader", scopes: new Set(["read"]), credential: "r" };
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function serve() {
  const bus = makeBus();
  const parts = pretend<GatewayParts>({
    version: "0.0.0",
    config: () => ({ http: { maxBodyBytes: MB } }),
    door: { onRevoked: () => () => {} },
    events: new EventStream(bus, systemClock),
    log: silentLog,
    redact: (text: string) => text,
    program: "lares",
  });
  const app: HttpApp = new Hono();
  app.use(async (c, next) => {
    c.set("principal", READER);
    await next();
  });
  const mcp = mcpRoute(app, parts);
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await mcp.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const ids = { session: asId<SessionKey>("s"), turn: asId<TurnId>("t") };
  const event = (n: number) =>
    bus.emit({
      event: "approval.answered",
      ...ids,
      approval: asId<ApprovalId>(`ap_${n}`),
      state: "allowed",
      by: "owner",
    });
  return { port, url: `http://127.0.0.1:${port}`, event };
}

/** The bytes of a request that opens a stream on approvals. */
async function streamRequest(url: string, era: Era): Promise<string> {
  const head = (method: string, headers: Record<string, string>) =>
    [`${method} /mcp HTTP/1.1`, "host: 127.0.0.1", "authorization: Bearer x"]
      .concat(Object.entries(headers).map(([name, value]) => `${name}: ${value}`))
      .join("\r\n");
  if (era === "legacy") {
    const version = { "mcp-protocol-version": "2025-11-25" };
    const post = (method: string, params: object, headers: object = {}) =>
      fetch(`${url}/mcp`, {
        method: "POST",
        headers: { ...HEADERS, authorization: "Bearer x", ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
    const clientInfo = { name: "x", version: "1" };
    const hello = await post("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    const session = { "mcp-session-id": hello.headers.get("mcp-session-id")! };
    await hello.text();
    await (await post("resources/subscribe", { uri: URI }, { ...session, ...version })).text();
    return `${head("GET", { accept: "text/event-stream", ...session, ...version })}\r\n\r\n`;
  }
  const name = "io.modelcontextprotocol/";
  const meta = {
    [`${name}protocolVersion`]: "2026-07-28",
    [`${name}clientInfo`]: { name: "x", version: "1" },
    [`${name}clientCapabilities`]: {},
  };
  const params = { notifications: { resourceSubscriptions: [URI] }, _meta: meta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params });
  const more = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" };
  return `${head("POST", { ...HEADERS, ...more, "content-length": String(body.length) })}\r\n\r\n${body}`;
}

/** Waits for the first bytes of the stream, then never reads again. */
async function openUnread(port: number, request: string): Promise<{ socket: Socket; first: string }> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(request);
  const first = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  socket.pause();
  return { socket, first: String(first) };
}

function used(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

it.each(ERAS)(
  "a stream that nobody reads costs bounded memory and is closed, and others are served (%s era, MCPSERVER-10)",
  async (era) => {
    const { port, url, event } = await serve();
    const good = await openMcp(url, "x", "modern");
    onTestFinished(() => good.close().catch(() => {}));
    const { socket, first } = await openUnread(port, await streamRequest(url, era));
    expect(first).toMatch(/^HTTP\/1.1 200 [\s\S]*text\/event-stream/);
    for (let n = 0; n < 1000; n++) event(n);
    const before = used();
    for (let n = 0; n < 300_000; n++) {
      event(n);
      if (n % 1000 === 0) await breathe();
    }
    expect((used() - before) / MB).toBeLessThan(20);
    // Reading at last, the client finds an end behind what its own machine had kept for it.
    let ended = false;
    socket.on("close", () => {
      ended = true;
    });
    socket.resume();
    await until("the connection is closed", () => ended);
    expect((await good.client.listResources()).resources.map(({ uri }) => uri)).toContain(URI);
  },
);
