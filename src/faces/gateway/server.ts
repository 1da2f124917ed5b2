/** The gateway: one port, HTTP and WebSocket. Routes here, each translating one door's words into the method registry's. */
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { AppError } from "../../core/domain/index.ts";
import { nearest } from "../../core/kit/index.ts";
import { type ChatAnswer, isMethod, METHODS, type MethodName } from "../../core/protocol/index.ts";
import { chatRoute } from "./chat.ts";
import { guard } from "./guard.ts";
import { bearer, type Env, errorResponse, parse, readBody, readJson } from "./http.ts";
import { openaiRoutes } from "./openai.ts";
import type { Caller, GatewayParts, Principal } from "./ports.ts";
import { attachSockets } from "./sockets.ts";

export interface Gateway {
  url: string;
  port: number;
  close(): Promise<void>;
}

export type App = Hono<Env & { Variables: { principal: Principal } }>;

export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  mayBind(parts);
  const app = routes(parts);
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { maxHeaderSize: 16_384, headersTimeout: 15_000 },
  }) as Server;
  const sockets = attachSockets(server, parts);
  const port = await listen(server, parts);
  const host = parts.config.bind.includes(":") ? `[${parts.config.bind}]` : parts.config.bind;
  return {
    port,
    url: `http://${host}:${port}`,
    async close() {
      sockets.close();
      server.closeIdleConnections();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const patience = setTimeout(() => server.closeAllConnections(), 500);
      await closed;
      clearTimeout(patience);
    },
  };
}

function routes(parts: GatewayParts): App {
  const app: App = new Hono();
  app.onError((error, c) => errorResponse(c as unknown as Context<Env>, error, parts.log));
  app.notFound((c) =>
    c.json({ error: { code: "NOT_FOUND", message: `Nothing is at ${c.req.path}.`, retry: "never" } }, 404),
  );
  app.use(async (c, next) => {
    guard(c.env.incoming, parts.config.bind);
    await next();
  });
  app.get("/healthz", (c) => c.json({ ok: true }));
  app.get("/readyz", (c) => {
    const why = parts.notReady();
    return why ? c.json({ ok: false, why }, 503) : c.json({ ok: true });
  });
  // A signed channel message has its own credential: the signature.
  app.post("/channels/webhook/:account", async (c) => {
    const body = await readBody(c.env.incoming, parts.config.http.maxBodyBytes);
    const headers = {
      timestamp: c.req.header("x-lares-timestamp") ?? "",
      signature: c.req.header("x-lares-signature") ?? "",
    };
    const { turn, duplicate } = await parts.webhook(c.req.param("account"), headers, body);
    return c.json({ turn, duplicate }, 202);
  });
  app.use(async (c, next) => {
    const principal = parts.authenticate(bearer(c.req.header("authorization")) ?? "");
    if (!principal) {
      throw new AppError("UNAUTHORIZED", {
        message: "A token is needed.",
        hint: "Send Authorization: Bearer <token>. `lares token` prints it.",
      });
    }
    c.set("principal", principal);
    await next();
  });
  app.use(async (_c, next) => {
    const why = parts.notReady();
    if (why) throw new AppError("NOT_READY", { message: why, hint: "Try again shortly.", retry: "later" });
    await next();
  });
  chatRoute(app, parts);
  openaiRoutes(app, parts);
  app.post("/rpc/:method", (c) => rpc(c, parts));
  return app;
}

async function rpc(c: Context<Env & { Variables: { principal: Principal } }>, parts: GatewayParts): Promise<Response> {
  const name = c.req.param("method") ?? "";
  const { http } = parts.config;
  const body = await readJson(
    c as unknown as Context<Env>,
    name === "sessions.import" ? http.maxImportBytes : http.maxBodyBytes,
  );
  const key = c.req.header("idempotency-key");
  const result = await callMethod(parts, name, withKey(name, body, key), callerOf(c));
  const headers = name === "chat.send" ? answerHeaders(result as ChatAnswer) : {};
  const status = name === "chat.send" && (result as ChatAnswer).state === "parked" ? 202 : 200;
  return c.json(result as object, status, headers);
}

/** Checks and runs one method: the same for HTTP and WebSocket. */
export async function callMethod(parts: GatewayParts, name: string, params: unknown, caller: Caller): Promise<unknown> {
  if (!isMethod(name)) {
    const near = nearest(name, Object.keys(METHODS));
    throw new AppError("UNKNOWN_METHOD", {
      message: `There is no method "${name}".`,
      ...(near ? { hint: `Did you mean "${near}"?` } : {}),
    });
  }
  const method = METHODS[name];
  if (!caller.principal.scopes.has(method.scope)) {
    throw new AppError("FORBIDDEN", {
      message: `"${name}" needs the right "${method.scope}".`,
      hint: "Use a token that has it.",
      details: { missingScope: method.scope },
    });
  }
  const handler = parts.handlers()[name] as (params: unknown, caller: Caller) => Promise<unknown>;
  return handler(parse(method.in, params ?? {}), caller);
}

/** The header is another way to say `idempotencyKey`. */
function withKey(name: string, body: unknown, key: string | undefined): unknown {
  if (!key || !isMethod(name) || !METHODS[name as MethodName].mutates) return body;
  return body && typeof body === "object" && !Array.isArray(body) ? { idempotencyKey: key, ...body } : body;
}

export function callerOf(c: Context<Env & { Variables: { principal: Principal } }>): Caller {
  return { principal: c.get("principal"), channel: "http", signal: c.req.raw.signal };
}

export function answerHeaders(a: ChatAnswer): Record<string, string> {
  return { "x-lares-turn": a.turn, "x-lares-session": encodeURI(a.session), "x-lares-state": a.state };
}

function mayBind(parts: GatewayParts): void {
  const { bind, exposed } = parts.config;
  if (["127.0.0.1", "::1", "localhost"].includes(bind) || exposed) return;
  throw new AppError("CONFIG_INVALID", {
    message: `Listening on ${bind} would open Lares beyond this machine.`,
    hint: "If that is meant, set gateway.exposed: true in lares.yaml.",
    retry: "after-change",
  });
}

function listen(server: Server, parts: GatewayParts): Promise<number> {
  const { port, bind } = parts.config;
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
