/**
 * JSON-RPC over lines, both ways: the other side's requests are answered, and it is asked. The Agent Client Protocol is spoken this way,
 * by Lares as an agent (`lares acp`) and by Lares with agents (`edges/runtimes/acp`).
 *
 * JSONRPC-1: every request gets exactly one answer, no matter what it contains. Only the end of the input stops the peer.
 */
import { isObject, type Json } from "../../domain/json.ts";
import { defined } from "../defined.ts";
import { isTooDeep, parseJson } from "../json-depth.ts";
import { jsonProblem } from "../json-problem.ts";

/** JSON-RPC's own codes, and those ACP adds. */
export const RPC_CODES = {
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  cancelled: -32_800,
  authRequired: -32_000,
  notFound: -32_002,
} as const;

type RpcId = string | number | null;

/** What a request is answered with instead of a result. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: Json | undefined;
  constructor(code: number, message: string, data?: Json) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** What the other side reads about its own messages. */
export interface RpcWords {
  lineTooLong: string;
  notJson(problem: string | undefined): string;
  notRpc: string;
  unknown(method: string): string;
  initializeFirst: string;
  idInUse: string;
  tooMany: string;
  cancelled: string;
  bug(message: string): string;
}

/** Answers a request. `signal` aborts when the client no longer wants the answer. */
export type RpcHandler = (
  params: Record<string, unknown>,
  call: { id: string | number; signal: AbortSignal; answered: Promise<void> },
) => Promise<object>;

export interface RpcPeerParts {
  words: RpcWords;
  write(line: string): void;
  requests: Readonly<Record<string, RpcHandler>>;
  notifications: Readonly<Record<string, (params: Record<string, unknown>) => void>>;
  /** False: the other side has to introduce itself first. Left out: it needn't. */
  mayAnswer?(method: string): boolean;
  /** A failure of ours in words for the other side; undefined for a bug. */
  explain?(error: Error): RpcFailure | undefined;
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

  /** One line of the other side's; nothing for one that was too long to be read. */
  take(line: string | undefined): void {
    if (line !== undefined && !line.trim()) return;
    try {
      this.dispatch(readMessage(line, this.parts.words));
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      this.fail(null, error);
    }
  }

  /** Asks the other side. Rejects when it refuses, doesn't know the question, or `signal` aborts: then it learns that the question is over. */
  ask(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      const stop = () => {
        if (!this.asked.delete(id)) return;
        this.notify(CANCEL, { requestId: id });
        reject(this.cancelled());
      };
      if (signal.aborted || this.isClosed) return reject(this.cancelled());
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

  /** The other side is gone. */
  close(): void {
    this.isClosed = true;
    for (const running of this.running.values()) running.abort();
    for (const { reject } of this.asked.values()) reject(this.cancelled());
    this.asked.clear();
  }

  private dispatch(message: RpcLine): void {
    const { id, method, params } = message;
    const known = typeof id === "string" || typeof id === "number" ? id : undefined;
    const isAnswer = method === undefined && ("result" in message || "error" in message);
    if (isAnswer && known !== undefined) this.settle(known, message);
    else if (typeof method !== "string" || (id !== undefined && known === undefined)) throw notRpc(this.parts.words);
    else if (known === undefined) this.notified(method, isObject(params) ? params : {});
    else void this.answer(known, method, isObject(params) ? params : {});
  }

  private notified(method: string, params: Record<string, unknown>): void {
    // An unknown notification is ignored: it has no answer.
    if (method === CANCEL) this.running.get(params.requestId as RpcId)?.abort();
    else if (Object.hasOwn(this.parts.notifications, method)) this.parts.notifications[method]!(params);
  }

  private async answer(id: string | number, method: string, params: Record<string, unknown>): Promise<void> {
    const { requests, words, mayAnswer, explain } = this.parts;
    if (!Object.hasOwn(requests, method))
      return this.fail(id, new RpcFailure(RPC_CODES.unknownMethod, words.unknown(method)));
    if (mayAnswer && !mayAnswer(method))
      return this.fail(id, new RpcFailure(RPC_CODES.invalidRequest, words.initializeFirst));
    if (this.running.has(id)) return this.fail(id, new RpcFailure(RPC_CODES.invalidRequest, words.idInUse));
    if (this.running.size >= MOST_UNDER_WAY) return this.fail(id, new RpcFailure(RPC_CODES.internal, words.tooMany));
    const own = new AbortController();
    this.running.set(id, own);
    let answered = () => {};
    const after = new Promise<void>((resolve) => {
      answered = resolve;
    });
    try {
      const result = await requests[method]!(params, { id, signal: own.signal, answered: after });
      this.send({ id, result });
    } catch (error) {
      const thrown = error instanceof Error ? error : new Error(String(error));
      const told = thrown instanceof RpcFailure ? thrown : explain?.(thrown);
      this.fail(id, told ?? new RpcFailure(RPC_CODES.internal, words.bug(thrown.message)));
    } finally {
      this.running.delete(id);
      answered();
    }
  }

  private settle(id: string | number, { result, error }: RpcLine): void {
    const asked = this.asked.get(id as number);
    this.asked.delete(id as number);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new RpcFailure(Number(error?.code ?? RPC_CODES.internal), String(error?.message ?? "")));
  }

  private cancelled(): RpcFailure {
    return new RpcFailure(RPC_CODES.cancelled, this.parts.words.cancelled);
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

function readMessage(line: string | undefined, words: RpcWords): RpcLine {
  if (line === undefined) throw new RpcFailure(RPC_CODES.invalidRequest, words.lineTooLong);
  let message: unknown;
  try {
    message = parseJson(line);
  } catch {
    throw new RpcFailure(RPC_CODES.parse, words.notJson(isTooDeep(line) ? undefined : jsonProblem(line)));
  }
  if (!isObject(message)) throw notRpc(words);
  return message as RpcLine;
}

function notRpc(words: RpcWords): RpcFailure {
  return new RpcFailure(RPC_CODES.invalidRequest, words.notRpc);
}
