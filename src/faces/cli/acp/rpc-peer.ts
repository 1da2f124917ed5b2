/**
 * JSON-RPC over lines, both ways: the client's requests are answered, and the bridge asks the client for permission.
 *
 * ACP-1: every request gets exactly one answer, no matter what it contains. Only the end of the input stops the bridge.
 */
import { AppError, isObject } from "../../../core/domain/index.ts";
import { defined, isTooDeep, jsonProblem, parseJson } from "../../../core/kit/index.ts";
import { acpWords as words } from "../words/acp.ts";
import { CODES, RpcFailure, type RpcId } from "./wire.ts";

/** Answers a request. `signal` aborts when the client no longer wants the answer. */
export type RpcHandler = (
  params: Record<string, unknown>,
  call: { signal: AbortSignal; answered: Promise<void> },
) => Promise<object>;

export interface RpcPeerParts {
  write(line: string): void;
  requests: Readonly<Record<string, RpcHandler>>;
  notifications: Readonly<Record<string, (params: Record<string, unknown>) => void>>;
  /** False: the client has to introduce itself first. */
  mayAnswer(method: string): boolean;
  /** An AppError of the gateway's, with what to do about it. */
  explain(error: AppError): RpcFailure;
}

interface AskedClient {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Requests of one client under way at the same time: more is no editor. */
const MOST_UNDER_WAY = 1000;
const CANCEL = "$/cancel_request";

export class RpcPeer {
  private readonly parts: RpcPeerParts;
  private readonly running = new Map<RpcId, AbortController>();
  private readonly asked = new Map<number, AskedClient>();
  private next = 0;
  private isClosed = false;

  constructor(parts: RpcPeerParts) {
    this.parts = parts;
  }

  /** One line of the client's; nothing for one that was too long to be read. */
  take(line: string | undefined): void {
    if (line !== undefined && !line.trim()) return;
    try {
      this.dispatch(readMessage(line));
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      this.fail(null, error);
    }
  }

  /** Asks the client. Rejects when it refuses, doesn't know the question, or `signal` aborts: then the client learns that the question is over. */
  ask(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      const stop = () => {
        if (!this.asked.delete(id)) return;
        this.notify(CANCEL, { requestId: id });
        reject(new RpcFailure(CODES.cancelled, words.cancelled));
      };
      if (signal.aborted || this.isClosed) return reject(new RpcFailure(CODES.cancelled, words.cancelled));
      signal.addEventListener("abort", stop, { once: true });
      const done = () => signal.removeEventListener("abort", stop);
      this.asked.set(id, {
        resolve(result) {
          done();
          resolve(result);
        },
        reject(error) {
          done();
          reject(error);
        },
      });
      this.send({ id, method, params });
    });
  }

  notify(method: string, params: object): void {
    this.send({ method, params });
  }

  /** The client is gone. */
  close(): void {
    this.isClosed = true;
    for (const running of this.running.values()) running.abort();
    for (const { reject } of this.asked.values()) reject(new RpcFailure(CODES.cancelled, words.cancelled));
    this.asked.clear();
  }

  private dispatch(message: RpcLine): void {
    const { id, method, params } = message;
    const known = typeof id === "string" || typeof id === "number" ? id : undefined;
    const isAnswer = method === undefined && ("result" in message || "error" in message);
    if (isAnswer && known !== undefined) this.settle(known, message);
    else if (typeof method !== "string" || (id !== undefined && known === undefined)) throw notRpc();
    else if (known === undefined) this.notified(method, isObject(params) ? params : {});
    else void this.answer(known, method, isObject(params) ? params : {});
  }

  private notified(method: string, params: Record<string, unknown>): void {
    // An unknown notification is ignored: it has no answer.
    if (method === CANCEL) this.running.get(params.requestId as RpcId)?.abort();
    else if (Object.hasOwn(this.parts.notifications, method)) this.parts.notifications[method]!(params);
  }

  private async answer(id: string | number, method: string, params: Record<string, unknown>): Promise<void> {
    const { requests, mayAnswer, explain } = this.parts;
    if (!Object.hasOwn(requests, method))
      return this.fail(id, new RpcFailure(CODES.unknownMethod, words.unknown(method)));
    if (!mayAnswer(method)) return this.fail(id, new RpcFailure(CODES.invalidRequest, words.initializeFirst));
    if (this.running.has(id)) return this.fail(id, new RpcFailure(CODES.invalidRequest, words.idInUse));
    if (this.running.size >= MOST_UNDER_WAY) return this.fail(id, new RpcFailure(CODES.internal, words.tooMany));
    const own = new AbortController();
    this.running.set(id, own);
    let answered = () => {};
    const after = new Promise<void>((resolve) => {
      answered = resolve;
    });
    try {
      const result = await requests[method]!(params, { signal: own.signal, answered: after });
      this.send({ id, result });
    } catch (error) {
      if (error instanceof RpcFailure) this.fail(id, error);
      else if (error instanceof AppError) this.fail(id, explain(error));
      else
        this.fail(
          id,
          new RpcFailure(CODES.internal, words.bug(error instanceof Error ? error.message : String(error))),
        );
    } finally {
      this.running.delete(id);
      answered();
    }
  }

  private settle(id: string | number, { result, error }: RpcLine): void {
    const asked = this.asked.get(id as number);
    this.asked.delete(id as number);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new RpcFailure(Number(error?.code ?? CODES.internal), String(error?.message ?? "")));
  }

  private fail(id: RpcId, { code, message, data }: RpcFailure): void {
    this.send({ id, error: { code, message, ...defined({ data }) } });
  }

  private send(message: object): void {
    if (!this.isClosed) this.parts.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

/** A line as JSON; what it says is looked at later. */
interface RpcLine {
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: { code?: unknown; message?: unknown };
}

function readMessage(line: string | undefined): RpcLine {
  if (line === undefined) throw new RpcFailure(CODES.invalidRequest, words.lineTooLong);
  let message: unknown;
  try {
    message = parseJson(line);
  } catch {
    throw new RpcFailure(CODES.parse, words.notJson(isTooDeep(line) ? undefined : jsonProblem(line)));
  }
  if (!isObject(message)) throw notRpc();
  return message as RpcLine;
}

function notRpc(): RpcFailure {
  return new RpcFailure(CODES.invalidRequest, words.notRpc);
}
