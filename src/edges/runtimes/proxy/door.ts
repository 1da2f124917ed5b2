/**
 * The model proxy: a loopback door that children take for their provider. It checks the run's token, sets money aside, passes the call
 * on, streams the answer back byte for byte, and records what it used.
 *
 * PROXY-1: no provider's key comes out of here, and no call goes out that no budget has room for.
 * PROXY-2: a stream takes the same memory however long it is: a piece is read when the one before was taken.
 * PROXY-3: when the child goes, its lease ends or Lares stops, the provider's connection is closed and what was used is settled.
 * PROXY-4: it listens on the loopback address, on a port that the system chooses, and only while there is a lease.
 * PROXY-5: a token for tools opens no models, and a token for models no tools.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ModelApi, ModelInfo, ModelRelay, RunTools } from "../../../core/contracts/index.ts";
import { type Clock, isLoopbackHost, type Log, truthy } from "../../../core/kit/index.ts";
import { type Lease, type LeaseRequest, Leases, MOST_CALLS_AT_ONCE } from "./leases.ts";
import { passOn } from "./pass-on.ts";
import type { ProxyLedger } from "./ports.ts";
import { type AskedPath, guessApi, keepQuery, readBody, readPath } from "./read-request.ts";
import {
  badRequest,
  COMPRESSED,
  NO_SUCH_PATH,
  NO_TOKEN,
  NOT_HERE,
  type Refusal,
  TOO_LARGE,
  TOO_MANY,
} from "./refusals.ts";
import { say, sendText } from "./replies.ts";

export interface ProxyParts {
  relay: ModelRelay;
  ledger: ProxyLedger;
  /** For runtimes that ask which models there are. */
  listModels: () => readonly Pick<ModelInfo, "id">[];
  clock: Clock;
  log: Log;
  /** Answers a run's call of tools of ours. */
  serveTools?: ServeTools;
}

export type ServeTools = (
  request: IncomingMessage,
  response: ServerResponse,
  run: Pick<Lease, "id" | "signal"> & { tools: RunTools },
) => Promise<void>;

/** Where a run finds tools of ours. */
export const TOOLS_PATH = "/mcp";

/** Anthropic's own limit, and the largest of the four. */
const MOST_BODY_BYTES = 32 * 1024 * 1024;

export class ModelProxy {
  private readonly parts: ProxyParts;
  private readonly leases: Leases;
  private server: Promise<Server> | undefined;
  private granted = 0;

  constructor(parts: ProxyParts) {
    this.parts = parts;
    this.leases = new Leases(parts.clock);
  }

  /** A door for one run. `revoke` closes it at once, cutting off calls under way; idempotent. */
  async grant(request: LeaseRequest): Promise<{ baseUrl: string; token: string; revoke(): void }> {
    this.granted++;
    this.server ??= this.listen();
    const server = await this.server;
    const { token, revoke } = this.leases.grant(request);
    let isOver = false;
    return {
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token,
      revoke: () => {
        revoke();
        if (!isOver && --this.granted === 0) void this.stopListening();
        isOver = true;
      },
    };
  }

  /** Revokes every lease and stops listening. */
  async close(): Promise<void> {
    this.leases.revokeAll();
    this.granted = 0;
    await this.stopListening();
  }

  private listen(): Promise<Server> {
    const server = createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        this.parts.log.warn("a runtime's model call failed", { error: String(error) });
        response.destroy();
      });
    });
    // A model may think for minutes before its first word.
    server.requestTimeout = 0;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", () => resolve(server));
    });
  }

  private async stopListening(): Promise<void> {
    const server = await this.server;
    this.server = undefined;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, query } = splitUrl(request.url ?? "/");
    if (path === TOOLS_PATH) return this.answerTools(request, response);
    const asked = readPath(request.method ?? "", path);
    const api = asked?.api ?? guessApi(path);
    const found = this.leases.find(findToken(request, query));
    const lease = found?.tools ? undefined : found;
    const refusal = refuse(request, lease, asked);
    if (refusal || !lease || !asked) return say(response, api, refusal ?? NO_SUCH_PATH);
    if (asked.kind === "list") return sendText(response, 200, JSON.stringify(listing(api, this.parts.listModels())));
    lease.calls++;
    try {
      const raw = await readWhole(request);
      if (!raw) return this.refuseRest(request, response, api);
      const body = readBody(asked, raw);
      if (typeof body === "string") return say(response, api, badRequest(body));
      const call = {
        api,
        kind: asked.kind,
        model: body.model,
        ...truthy({ meant: findMeant(lease, body.model) }),
        stream: body.stream,
        body: raw,
        headers: plainHeaders(request),
        query: keepQuery(query),
      };
      await passOn({ ...this.parts, lease, call, body, response });
    } finally {
      lease.calls--;
    }
  }

  private async answerTools(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { serveTools } = this.parts;
    const lease = this.leases.find(findToken(request, new URLSearchParams()));
    const tools = lease?.tools;
    if (isForeign(request)) return say(response, "openai-chat", NOT_HERE);
    if (!serveTools || !lease || !tools) return say(response, "openai-chat", NO_TOKEN);
    if (lease.calls >= MOST_CALLS_AT_ONCE) return say(response, "openai-chat", TOO_MANY);
    lease.calls++;
    response.once("close", () => lease.calls--);
    await serveTools(request, response, { id: lease.id, signal: lease.signal, tools });
  }

  private refuseRest(request: IncomingMessage, response: ServerResponse, api: ModelApi): void {
    say(response, api, TOO_LARGE);
    this.parts.clock.after(SENDING_ON_MS, () => {
      if (!request.complete) request.destroy();
    });
  }
}

/** How long a child may go on sending what nobody reads. Closing at once would take the answer away with the connection. */
const SENDING_ON_MS = 1000;

function refuse(request: IncomingMessage, lease: Lease | undefined, asked: AskedPath | undefined): Refusal | undefined {
  if (isForeign(request)) return NOT_HERE;
  if (!lease) return NO_TOKEN;
  if (!asked) return NO_SUCH_PATH;
  if (lease.calls >= MOST_CALLS_AT_ONCE) return TOO_MANY;
  const encoding = request.headers["content-encoding"];
  return encoding && encoding !== "identity" ? COMPRESSED : undefined;
}

/** A page in a browser has an Origin; a name that somebody pointed at this machine isn't ours. */
function isForeign(request: IncomingMessage): boolean {
  return request.headers.origin !== undefined || !isOurHost(request);
}

function isOurHost({ headers }: IncomingMessage): boolean {
  const host = headers.host ?? "";
  const colon = host.lastIndexOf(":");
  return isLoopbackHost(colon < 0 ? host : host.slice(0, colon));
}

function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const mark = url.indexOf("?");
  return mark < 0
    ? { path: url, query: new URLSearchParams() }
    : { path: url.slice(0, mark), query: new URLSearchParams(url.slice(mark + 1)) };
}

/** The run's own model by the name that its runtime has for it, e.g. `gpt-5`. Any other name is somebody's own choice. */
function findMeant({ model }: Lease, asked: string): string | undefined {
  return model?.endsWith(`/${asked}`) ? model : undefined;
}

const BEARER = "bearer ";

/** Each format has its own place for the key. */
function findToken({ headers }: IncomingMessage, query: URLSearchParams): string {
  const { authorization = "" } = headers;
  if (authorization.toLowerCase().startsWith(BEARER)) return authorization.slice(BEARER.length).trim();
  for (const name of ["x-api-key", "x-goog-api-key"]) {
    const value = headers[name];
    if (typeof value === "string") return value;
  }
  return query.get("key") ?? "";
}

function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === "string") plain[name] = value;
  return plain;
}

/** The whole body; undefined when it is too much, or the child went away. What is too much is not kept. */
function readWhole(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let parts: Buffer[] = [];
    let bytes = 0;
    request.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes <= MOST_BODY_BYTES) parts.push(part);
      else {
        parts = [];
        resolve(undefined);
      }
    });
    request.once("end", () => resolve(bytes <= MOST_BODY_BYTES ? Buffer.concat(parts, bytes) : undefined));
    request.once("close", () => resolve(undefined));
  });
}

function listing(api: ModelApi, models: readonly Pick<ModelInfo, "id">[]): unknown {
  // Runtimes name a model without its provider.
  const names = models.map(({ id }) => id.slice(id.indexOf("/") + 1));
  if (api === "google") return { models: names.map((name) => ({ name: `models/${name}`, displayName: name })) };
  const data = names.map((id) => ({
    id,
    object: "model",
    type: "model",
    display_name: id,
    created: 0,
    owned_by: "lares",
  }));
  return { object: "list", data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null };
}
