/** The gateway: one port, HTTP and WebSocket. Routes here, each translating one door's words into the method registry's. */

import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { AppError } from "../../core/domain/index.ts";
import { isLoopbackBind } from "../../core/kit/index.ts";
import { A2A_PATH } from "./a2a/card.ts";
import { a2aError, a2aRoute, cardRoutes } from "./a2a/route.ts";
import { attachmentRoutes } from "./attachments.ts";
import { Failures } from "./auth/failures.ts";
import { guard, type ServedHosts } from "./auth/guard.ts";
import { type Identifier, makeIdentifier } from "./auth/identify.ts";
import { loginRoutes } from "./auth/login.ts";
import { sayOnce } from "./auth/once.ts";
import { chatRoute } from "./chat.ts";
import { Connections } from "./connections.ts";
import { errorResponse, type HttpApp, type HttpEnv, mustBeReady, WITHOUT_RECORDS } from "./http.ts";
import { attachSockets } from "./live/sockets.ts";
import { loginEndRoute } from "./mcp/login-end.ts";
import { MCP_PATH, mcpError, mcpRoute } from "./mcp/route.ts";
import { openaiError } from "./openai/errors.ts";
import { openaiRoutes } from "./openai/routes.ts";
import type { GatewayParts } from "./ports.ts";
import { rpcRoute } from "./rpc.ts";
import { everyAnswer } from "./static/headers.ts";
import { staticRoutes } from "./static/routes.ts";
import { channelRoute, hookRoute } from "./unattended.ts";

export interface Gateway {
  url: string;
  port: number;
  /** Open WebSockets, signed in or not. */
  sockets(): number;
  close(): Promise<void>;
}

/**
 * Connections at the same time. Beyond it new ones are dropped at once, before they cost anything (DO-01). Those without a credential
 * never get this far: they have their own, smaller bound (`connections.ts`).
 */
const MOST_CONNECTIONS = 4096;

export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { bind, hosts } = parts.config();
  mayBind(parts);
  const doors: ServedHosts = { bind, hosts };
  const failures = new Failures(() => parts.clock.now());
  const who = makeIdentifier(parts.door, failures);
  const refused = sayOnce(parts.log);
  const connections = new Connections(parts.config().trustedProxies);
  const { app, mcp, a2a } = routes(parts, { doors, who, failures, refused, connections });
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { maxHeaderSize: 16_384, headersTimeout: 15_000, connectionsCheckingInterval: 5000 },
  }) as Server;
  server.maxConnections = MOST_CONNECTIONS;
  server.maxHeadersCount = 100;
  connections.watch(server);
  const sockets = attachSockets(server, parts, { doors, who, refused });
  const port = await listen(server, parts);
  const host = bind.includes(":") ? `[${bind}]` : bind;
  return {
    port,
    url: `http://${host}:${port}`,
    sockets: () => sockets.count(),
    async close() {
      sockets.close();
      connections.close();
      await mcp.close();
      a2a.close();
      server.closeIdleConnections();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const patience = setTimeout(() => server.closeAllConnections(), 500);
      await closed;
      clearTimeout(patience);
    },
  };
}

interface Security {
  doors: ServedHosts;
  who: Identifier;
  failures: Failures;
  refused: ReturnType<typeof sayOnce>;
  connections: Connections;
}

function routes(parts: GatewayParts, { doors, who, failures, refused, connections }: Security) {
  const app: HttpApp = new Hono();
  app.onError((error, c) => answerError(c, error, parts));
  app.notFound((c) => answerError(c, notHere(c), parts));
  app.use(async (c, next) => {
    everyAnswer(c.env.outgoing);
    try {
      guard(c.env.incoming, doors);
    } catch (error) {
      refused("a request was refused", refusalFacts(c, error));
      throw error;
    }
    await next();
  });
  app.get("/healthz", (c) => c.json({ ok: true }));
  // For the page before anybody signed in: the command it tells people to run.
  app.get("/program", (c) => c.json({ program: parts.program }));
  app.get("/readyz", (c) => {
    const why = parts.notReady();
    return why ? c.json({ ok: false, why: why.message }, 503) : c.json({ ok: true });
  });
  channelRoute(app, parts);
  hookRoute(app, parts);
  loginRoutes(app, parts, who, failures);
  loginEndRoute(app, parts);
  cardRoutes(app, parts);
  staticRoutes(app, parts);
  app.use(async (c, next) => {
    try {
      c.set("principal", who.identify(c.env.incoming));
      connections.proven(c.env.incoming.socket);
    } catch (error) {
      refused("a credential was refused", refusalFacts(c, error));
      throw error;
    }
    // What went wrong must be readable while nothing else works.
    if (!WITHOUT_RECORDS.has(c.req.path.replace(/^\/rpc\//, ""))) mustBeReady(parts);
    await next();
  });
  chatRoute(app, parts);
  rpcRoute(app, parts);
  attachmentRoutes(app, parts);
  openaiRoutes(app, parts);
  const mcp = mcpRoute(app, parts);
  const a2a = a2aRoute(app, parts);
  app.get("/metrics", async (c) => {
    if (!c.get("principal").scopes.has("read"))
      throw new AppError("FORBIDDEN", { message: 'Metrics need the right "read".' });
    return c.body(await parts.metrics(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  });
  return { app, mcp, a2a };
}

function answerError(c: Context<HttpEnv>, error: unknown, parts: GatewayParts): Response {
  if (c.req.path.startsWith("/v1/")) return openaiError(c, error, parts);
  const answer = errorResponse(c, error, parts);
  if (c.req.path === MCP_PATH) return mcpError(error, answer.status, parts);
  return c.req.path.startsWith(A2A_PATH) ? a2aError(error, answer.status, parts) : answer;
}

function notHere(c: Context<HttpEnv>): AppError {
  return new AppError("NOT_FOUND", {
    message: `Nothing answers ${c.req.method} ${c.req.path}.`,
    hint: "See docs/PROTOCOL.md.",
  });
}

/** What the log says about a refusal: where it came from, never what was shown. */
function refusalFacts(c: Context<HttpEnv>, error: unknown): Record<string, string> {
  const { headers } = c.env.incoming;
  return {
    why: error instanceof Error ? error.message : String(error),
    ...(headers.origin ? { origin: headers.origin.slice(0, 200) } : {}),
    ...(headers.host ? { host: headers.host.slice(0, 200) } : {}),
  };
}

function mayBind(parts: GatewayParts): void {
  const { bind, exposed } = parts.config();
  if (isLoopbackBind(bind) || exposed) return;
  throw new AppError("CONFIG_INVALID", {
    message: `Listening on ${bind} would open Lares beyond this machine.`,
    hint: "If you want that, set gateway.exposed: true in lares.yaml.",
    retry: "after-change",
  });
}

function listen(server: Server, parts: GatewayParts): Promise<number> {
  const { port, bind } = parts.config();
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === "EADDRINUSE";
      reject(
        new AppError("CONFLICT", {
          message: taken ? `Port ${port} on ${bind} is taken.` : `Cannot listen on ${bind}:${port}: ${cause.message}.`,
          hint: "Choose another: lares gateway run --port N",
          retry: "after-change",
          cause,
        }),
      );
    });
    server.listen(port, bind, () => {
      const at = server.address();
      resolve(typeof at === "object" && at ? at.port : port);
    });
  });
}
