/**
 * Our own tools for runs of other runtimes, over the same face that serves other programs. What comes in has shown a run's token
 * already: the door that it came through checked it, and ends what is open here when the run ends.
 *
 * MCPSERVER-11: a run sees its own tools and nothing else of the gateway: no methods, no resources.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import type { RunTools } from "../../../core/contracts/index.ts";
import { AppError, type Json, toErrorShape } from "../../../core/domain/index.ts";
import { parseJsonBody } from "../../../core/kit/index.ts";
import { publicShape, readBody } from "../http.ts";
import type { McpCatalogue } from "./catalogue.ts";
import { bareRequest, mcpError } from "./route.ts";
import { type FaceParts, McpFace } from "./serve.ts";
import { boundUnread } from "./unread.ts";

/** A run that calls. */
export interface RunVisitor {
  /** Names its token, and isn't it. */
  id: string;
  tools: RunTools;
  /** Aborts when the run is over. */
  signal: AbortSignal;
}

type RunFaceParts = FaceParts & { redact(text: string): string; toolsOf(run: string): RunTools | undefined };

/** A call's input: a message, a task, a memory. */
const MOST_BODY_BYTES = 1024 * 1024;
/** Clients give up on a call that shows no sign of life, and a person may take hours. */
const SIGN_OF_LIFE_MS = 10_000;

export class RunToolFace {
  private readonly face: McpFace<RunFaceParts>;
  private readonly runs = new Map<string, RunTools>();
  private readonly revoked = new Set<(credential: string) => void>();
  private readonly redact: (text: string) => string;

  constructor({ version, log, redact }: Pick<RunFaceParts, "version" | "log" | "redact">) {
    this.redact = redact;
    const parts: RunFaceParts = {
      version,
      log,
      redact,
      toolsOf: (run) => this.runs.get(run),
      door: {
        onRevoked: (listener) => {
          this.revoked.add(listener);
          return () => this.revoked.delete(listener);
        },
      },
      events: { on: () => () => {} },
    };
    this.face = new McpFace(parts, runCatalogue);
  }

  /** Answers one request of a run. */
  async serve(incoming: IncomingMessage, outgoing: ServerResponse, visitor: RunVisitor): Promise<void> {
    this.welcome(visitor);
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const answer = () => this.answer(incoming, visitor, AbortSignal.any([gone.signal, visitor.signal]));
    await getRequestListener(answer, { overrideGlobalObjects: false })(incoming, outgoing);
  }

  private async answer(incoming: IncomingMessage, { id }: RunVisitor, signal: AbortSignal): Promise<Response> {
    const { method = "GET", headers } = incoming;
    try {
      const read = method === "POST" ? await readBody({ incoming }, MOST_BODY_BYTES) : undefined;
      const body = read && parseJsonBody(read, "Send one JSON-RPC message.");
      const given = Object.entries(headers).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value]] : [],
      );
      const request = bareRequest({
        url: "http://127.0.0.1/mcp",
        method,
        headers: given as [string, string][],
        signal,
      });
      const principal = { id, name: "run", scopes: new Set<never>(), credential: id };
      return boundUnread(await this.face.handle(request, principal, body), () => incoming.socket.destroy());
    } catch (error) {
      return mcpError(error, error instanceof AppError ? 400 : 500, { redact: this.redact });
    }
  }

  private welcome({ id, tools, signal }: RunVisitor): void {
    if (this.runs.has(id)) return;
    this.runs.set(id, tools);
    const end = () => {
      this.runs.delete(id);
      for (const listener of this.revoked) listener(id);
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  }
}

const runCatalogue: McpCatalogue<RunFaceParts> = {
  options: { capabilities: { tools: {} } },
  isFollowable: () => false,
  register(server, { principal, parts }) {
    const tools = parts.toolsOf(principal.credential);
    if (tools) addRunTools(server, tools, parts);
  },
};

/** With their schemas as they are: the tools check what they get themselves. */
function addRunTools({ server }: McpServer, tools: RunTools, { redact }: RunFaceParts): void {
  server.setRequestHandler("tools/list", () => ({
    tools: tools.specs.map(({ name, description, input }) => ({
      name,
      description,
      inputSchema: { ...input, type: "object" as const },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: input = {} } }, ctx) => {
    const stop = showLife(ctx);
    try {
      const { text, isError } = await tools.call(name, input as Json, ctx.mcpReq.signal);
      return { content: [{ type: "text" as const, text: redact(text) }], isError };
    } catch (error) {
      const { message } = publicShape(toErrorShape(error), redact);
      return { content: [{ type: "text" as const, text: message }], isError: true };
    } finally {
      stop();
    }
  });
}

function showLife({ mcpReq }: ServerContext): () => void {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return () => {};
  let progress = 0;
  const timer = setInterval(() => {
    const params = { progressToken: token, progress: ++progress };
    // The client may be gone; the call goes on without it.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  }, SIGN_OF_LIFE_MS);
  timer.unref();
  return () => clearInterval(timer);
}
