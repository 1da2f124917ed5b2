/**
 * The protocol on the wire: JSON-RPC and HTTP+JSON, one answer or a stream of them, 1.0 and (as JSON-RPC only) 0.3.
 *
 * Loaded with the first request: the SDK costs nothing where no other agent comes.
 */
import { formatSSEErrorEvent, formatSSEEvent } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { fromJsonRpcErrorResponse, restStatusFor, toRestErrorBody } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { JsonObject } from "../../../core/domain/index.ts";
import type { Principal } from "../../../core/protocol/index.ts";
import type { GatewayParts } from "../ports.ts";
import { makeHandler } from "./handler.ts";
import { type Operation, readOperation } from "./rest.ts";

/** Streams of one peer. The oldest makes room. */
const MOST_STREAMS = 16;
/** Proxies close a silent connection; a comment keeps it open. */
const SIGN_MS = 15_000;

export interface PeerRequest {
  principal: Principal;
  method: string;
  /** Behind the door's own path: empty for JSON-RPC. */
  path: string;
  query: URLSearchParams;
  body: unknown;
  version: string | undefined;
  signal: AbortSignal;
}

interface RpcAnswer {
  jsonrpc: string;
  id: string | number | null;
  result?: unknown;
  error?: unknown;
}
type RpcAnswers = RpcAnswer | AsyncGenerator<RpcAnswer, void, undefined>;

export class A2aFace {
  private readonly parts: GatewayParts;
  /** Open requests by credential, the oldest first. */
  private readonly open = new Map<string, Set<AbortController>>();
  /** Those of them that are streams. */
  private readonly streams = new WeakSet<AbortController>();
  private readonly off: () => void;

  constructor(parts: GatewayParts) {
    this.parts = parts;
    this.off = parts.door.onRevoked((credential) => this.end(credential));
  }

  async handle(request: PeerRequest): Promise<Response> {
    if (request.path !== "" && request.path !== "/") return this.rest(request);
    if (request.method !== "POST") return Response.json(rpcError(-32_600, "Send JSON-RPC by POST."), { status: 405 });
    if (!isVersion(request.version))
      return Response.json(rpcError(-32_009, unknownVersion(request.version), readId(request.body)));
    const answer = await this.answer(request, request.body, "");
    if (!isStream(answer)) return Response.json(answer);
    return this.stream(request, answer, (one) => formatSSEEvent(one));
  }

  close(): void {
    this.off();
    for (const credential of [...this.open.keys()]) this.end(credential);
  }

  /** The other binding: the same operations by path. Its requests go through the same reader, as JSON-RPC. */
  private async rest(request: PeerRequest): Promise<Response> {
    const operation = isVersion(request.version) ? readOperation(request) : "version";
    if (operation === "version") return restError(rpcError(-32_009, unknownVersion(request.version)));
    if (operation === undefined) return restError(rpcError(-32_601, "There is no such operation."), 404);
    const body: JsonObject = { jsonrpc: "2.0", id: 1, method: operation.method, params: operation.params };
    const answer = await this.answer(request, body, operation.tenant);
    if (!isStream(answer)) return answer.error ? restError(answer) : toRest(operation, answer.result);
    return this.stream(request, answer, (one) =>
      one.error ? formatSSEErrorEvent(toBody(one).body) : formatSSEEvent(one.result),
    );
  }

  private async answer({ principal, signal }: PeerRequest, body: unknown, agent: string): Promise<RpcAnswers> {
    const { method } = (body ?? {}) as { method?: unknown };
    const isOlder = typeof method === "string" && method.includes("/");
    const peer = { id: principal.id, name: principal.name };
    const stream = this.begin(principal.credential, signal);
    const handler = makeHandler(this.parts, { peer, agent, signal: stream.signal });
    const context = new ServerCallContext({ requestedVersion: isOlder ? "0.3" : "1.0" });
    const wire = isOlder ? new LegacyJsonRpcTransportHandler(handler) : new JsonRpcTransportHandler(handler);
    try {
      const answer = (await wire.handle(withParams(body), context)) as RpcAnswers;
      if (isStream(answer)) stream.isStream();
      if (isStream(answer)) return await startStream(ended(answer, stream.done), readId(body));
      stream.done();
      return answer;
    } catch (error) {
      stream.done();
      throw error;
    }
  }

  /** Ends with the connection, with the credential (ACCESS-5), or, a stream, when the peer opens too many. */
  private begin(credential: string, signal: AbortSignal) {
    const own = new AbortController();
    const open = this.open.get(credential) ?? new Set();
    this.open.set(credential, open.add(own));
    const isStream = () => {
      this.streams.add(own);
      const all = [...open].filter((one) => this.streams.has(one));
      if (all.length > MOST_STREAMS) all[0]!.abort();
    };
    const leave = () => own.abort();
    signal.addEventListener("abort", leave, { once: true });
    const done = () => {
      signal.removeEventListener("abort", leave);
      open.delete(own);
      if (open.size === 0) this.open.delete(credential);
    };
    own.signal.addEventListener("abort", done, { once: true });
    return { signal: own.signal, isStream, done };
  }

  private end(credential: string): void {
    for (const one of [...(this.open.get(credential) ?? [])]) one.abort();
  }

  private stream(
    { body }: PeerRequest,
    answers: AsyncGenerator<RpcAnswer, void, undefined>,
    write: (one: RpcAnswer) => string,
  ): Response {
    const text = new TextEncoder();
    let sign: NodeJS.Timeout | undefined;
    const events = new ReadableStream<Uint8Array>({
      start(controller) {
        sign = setInterval(() => controller.enqueue(text.encode(": still here\n\n")), SIGN_MS);
        sign.unref();
      },
      async pull(controller) {
        try {
          const { value, done } = await answers.next();
          if (!done) return controller.enqueue(text.encode(write(value)));
        } catch (error) {
          const failed = JsonRpcTransportHandler.mapToJSONRPCError(error);
          controller.enqueue(text.encode(write({ ...rpcError(failed.code, failed.message, readId(body)) })));
        }
        clearInterval(sign);
        controller.close();
      },
      async cancel() {
        clearInterval(sign);
        await answers.return();
      },
    });
    return new Response(events, { headers: { "content-type": "text/event-stream", "cache-control": "no-cache" } });
  }
}

/** A stream once it has something to say. What fails before that is an error like any other, with its own status. */
async function startStream(
  answers: AsyncGenerator<RpcAnswer, void, undefined>,
  id: RpcAnswer["id"],
): Promise<RpcAnswers> {
  try {
    const first = await answers.next();
    if (first.done) return answers;
    if (!first.value.error) return withFirst(first.value, answers);
    await answers.return();
    return first.value;
  } catch (error) {
    const { code, message } = JsonRpcTransportHandler.mapToJSONRPCError(error);
    return rpcError(code, message, id);
  }
}

async function* withFirst<T>(first: T, rest: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return();
  }
}

async function* ended<T>(
  answers: AsyncGenerator<T, void, undefined>,
  done: () => void,
): AsyncGenerator<T, void, undefined> {
  try {
    yield* answers;
  } finally {
    done();
  }
}

function isStream(answer: RpcAnswers): answer is AsyncGenerator<RpcAnswer, void, undefined> {
  return Symbol.asyncIterator in answer;
}

/** The SDK's own, in both versions. */
const METHODS = new Set([
  ...["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask"],
  ...["Create", "Get", "Delete"].map((what) => `${what}TaskPushNotificationConfig`),
  ...["ListTaskPushNotificationConfigs", "GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"],
  ...["message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe"],
  ...["set", "get", "list", "delete"].map((what) => `tasks/pushNotificationConfig/${what}`),
]);

/** The SDK looks at the parameters first, and says of a method that doesn't exist only that it has none. */
function withParams(body: unknown): Record<string, unknown> {
  const given = body as Record<string, unknown>;
  const isUnknown = typeof given?.method === "string" && !METHODS.has(given.method);
  return isUnknown && given.params === undefined ? { ...given, params: {} } : given;
}

/** Left out by many clients: then the method's name says which it is. */
function isVersion(version: string | undefined): boolean {
  return version === undefined || /^(0\.3|1\.0)(\.\d+)?$/.test(version);
}

function unknownVersion(version = ""): string {
  return `Version ${version.slice(0, 20)} of the protocol isn't spoken here: 1.0 and 0.3 are.`;
}

function readId(body: unknown): string | number | null {
  const { id } = (body ?? {}) as { id?: unknown };
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function rpcError(code: number, message: string, id: string | number | null = null): RpcAnswer {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function toRest({ method }: Operation, result: unknown): Response {
  const status = method === "CreateTaskPushNotificationConfig" ? 201 : 200;
  return Response.json(result, { status, headers: { "content-type": "application/a2a+json" } });
}

function restError(answer: RpcAnswer, given?: number): Response {
  const { status, body } = toBody(answer, given);
  return Response.json(body, { status, headers: { "content-type": "application/a2a+json" } });
}

function toBody(answer: RpcAnswer, given?: number) {
  const error = fromJsonRpcErrorResponse(answer as Parameters<typeof fromJsonRpcErrorResponse>[0]);
  const status = given ?? restStatusFor(error);
  return { status, body: toRestErrorBody(error, status) };
}
