/**
 * The gateway's MCP route with the suite's fixtures behind it, on a free port. The suite can't show a token, so a small proxy in front
 * adds it; everything else arrives as it was sent, Host and Origin included.
 */
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { makeBus, silentLog, systemClock } from "../../src/core/kit/index.ts";
import type { Principal } from "../../src/core/protocol/index.ts";
import { guard } from "../../src/faces/gateway/auth/guard.ts";
import { errorResponse, type HttpApp } from "../../src/faces/gateway/http.ts";
import { EventStream } from "../../src/faces/gateway/live/events.ts";
import { mcpError, mcpRoute } from "../../src/faces/gateway/mcp/route.ts";
import type { GatewayParts } from "../../src/faces/gateway/ports.ts";
import { conformanceCatalogue } from "./fixtures.ts";

const OWNER: Principal = {
  id: "owner",
  name: "owner",
  scopes: new Set(["read", "write", "approvals", "admin"]),
  credential: "owner",
};

export interface Serving {
  url: string;
  close(): Promise<void>;
}

/** With the suite's fixtures. */
export async function serveFixtures(): Promise<Serving> {
  const parts = {
    version: "0.0.0-conformance",
    config: () => ({ http: { maxBodyBytes: 4_194_304 } }),
    door: { onRevoked: () => () => {} },
    events: new EventStream(makeBus(), systemClock),
    log: silentLog,
    redact: (text: string) => text,
    program: "lares",
  } as unknown as GatewayParts;
  const app: HttpApp = new Hono();
  app.onError((error, c) => mcpError(error, errorResponse(c, error, parts).status, parts));
  app.use(async (c, next) => {
    guard(c.env.incoming, { bind: "127.0.0.1", hosts: [] });
    c.set("principal", OWNER);
    await next();
  });
  const mcp = mcpRoute(app, parts, conformanceCatalogue);
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const front = await serveProxy(`http://127.0.0.1:${port}`, "any");
  return {
    url: front.url,
    async close() {
      await front.close();
      await mcp.close();
      server.close();
    },
  };
}

/** In front of a gateway: adds the token that the suite can't show. */
export async function serveProxy(target: string, token: string): Promise<Serving> {
  const at = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    // The suite's own address stands for ours; a foreign one stays as it is, for the guard to refuse.
    const own = (value: string) => value.replace(`:${port}`, `:${at.port}`);
    const passed = {
      ...headers,
      host: own(headers.host ?? ""),
      ...(headers.origin ? { origin: own(headers.origin) } : {}),
      authorization: `Bearer ${token}`,
    };
    const sent = httpRequest({ host: at.hostname, port: at.port, method, path, headers: passed }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      outgoing.flushHeaders();
      response.pipe(outgoing);
    });
    sent.on("error", () => outgoing.destroy());
    outgoing.on("close", () => sent.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
