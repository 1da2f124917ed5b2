/** What the server face offers, apart from how it is served. The gateway has one catalogue, runs of other runtimes another; the conformance tests bring their own. */
import type { McpServer, McpServerOptions, ServerContext } from "@modelcontextprotocol/server";
import type { z } from "zod";
import { AppError, type Json, toErrorShape } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import type { MethodName, Params, Principal, Result, Scope } from "../../../core/protocol/index.ts";
import { call } from "../call.ts";
import { mapTexts, publicShape } from "../http.ts";
import type { Caller, GatewayParts } from "../ports.ts";

export interface McpCatalogue<P = GatewayParts> {
  options: McpServerOptions;
  /** Whether a client can subscribe to it. */
  isFollowable(uri: string): boolean;
  /** Adds what this client may use. Called for every server that is built. */
  register(server: McpServer, client: McpVisitor<P>): void;
}

export interface McpVisitor<P = GatewayParts> {
  principal: Principal;
  parts: P;
}

/** One call of a tool: what it may do, and how long. */
export interface ToolCall {
  call<M extends MethodName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>>;
  /** Under this key a repeated call is the same call: the client's header, when it sent one. */
  key: string | undefined;
  /** Aborts when the client cancels or goes away. */
  signal: AbortSignal;
  /** Says how far it is, to a client that wants to know. */
  progress(message: string): void;
  events: GatewayParts["events"];
}

export interface ServedTool<In extends z.ZodObject = z.ZodObject, Out extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  scope: Scope;
  in: In;
  out: Out;
  hints: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean };
  run(input: z.output<In>, at: ToolCall): Promise<z.input<Out>>;
  /** What the model reads; the structured result as JSON when it is left out. */
  text?(result: z.input<Out>): string;
}

export function tool<In extends z.ZodObject, Out extends z.ZodObject>(one: ServedTool<In, Out>): ServedTool {
  return one;
}

/**
 * Registers a tool, unless the client's token lacks the right for it.
 *
 * MCPSERVER-2: results pass the log's redactor, like everything else that leaves the instance (LK-05).
 */
export function addTool(server: McpServer, { principal, parts }: McpVisitor, one: ServedTool): void {
  if (!principal.scopes.has(one.scope)) return;
  const { name, title, description, hints } = one;
  server.registerTool(
    name,
    { title, description, inputSchema: one.in, outputSchema: one.out, annotations: hints },
    async (input, ctx) => {
      try {
        const result = hidden(await one.run(input, makeCall(parts, principal, ctx)), parts);
        const text = one.text?.(result) ?? JSON.stringify(result);
        return { content: [{ type: "text", text }], structuredContent: result };
      } catch (error) {
        return { content: [{ type: "text", text: explain(error, parts) }], isError: true };
      }
    },
  );
}

/**
 * Whose words a client brings (I12). A program that holds the owner's own right speaks for the owner. Any other brings text that
 * Lares did not write and the owner has not seen.
 */
export function toMcpCaller(principal: Principal, signal: AbortSignal): Caller {
  return { principal, channel: "http", signal, ...(principal.scopes.has("admin") ? {} : { outside: true }) };
}

function makeCall(parts: GatewayParts, principal: Principal, ctx: ServerContext): ToolCall {
  const { signal, _meta: meta } = ctx.mcpReq;
  const token = meta?.progressToken;
  let steps = 0;
  return {
    call: (method, params, until = signal) => call(parts, method, params, toMcpCaller(principal, until)),
    key: ctx.http?.req?.headers.get("idempotency-key") ?? undefined,
    signal,
    progress(message) {
      if (token === undefined) return;
      const params = { progressToken: token, progress: ++steps, message };
      // The client may be gone; the call goes on without it.
      ctx.mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    },
    events: parts.events,
  };
}

export function hidden<T>(value: T, { redact }: Pick<GatewayParts, "redact">): T {
  return mapTexts(value as Json, redact) as T;
}

export function explain(error: unknown, { redact, log }: Pick<GatewayParts, "redact" | "log">): string {
  const shape = toErrorShape(error);
  if (!(error instanceof AppError))
    log.error("an MCP call broke", { error: error instanceof Error ? (error.stack ?? "") : String(error) });
  const { message, hint } = publicShape(shape, redact);
  return Object.values(defined({ message, hint })).join(" ");
}
