/**
 * The one client of the gateway, for every face: a method's name and its parameters in, its result out, typed by the registry.
 * How a question travels is the face's business (`Send`): the command line posts over node:http, the page speaks over its
 * WebSocket (`live.ts`), scripts use fetch. What is the same for all of them is here and nowhere else.
 *
 * PROTOCOL-1: nothing here loads a schema. Types of the registry cost nothing at run time; zod would cost every short command 100 ms
 *     and the page half its weight. This file is the room's second door (test/architecture.test.ts), for those reasons.
 * PROTOCOL-2: every question carries an idempotency key, so asking again after a lost answer cannot act twice. The gateway uses it
 *     for what changes something; a caller that outlives a restart brings its own as a parameter, which wins.
 * PROTOCOL-3: whatever goes wrong is an AppError with the gateway's code and hint, or GATEWAY_DOWN when nobody answered.
 */
import { AppError, type ErrorShape } from "../domain/errors.ts";
import type { MethodName, Params, Result } from "./methods.ts";

export { AppError } from "../domain/errors.ts";
export { isRefused, LiveLine, nextTryMs } from "./live.ts";
export { asCalled } from "./program.ts";

export interface Client {
  call<M extends MethodName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>>;
}

export interface ClientCall {
  method: string;
  params: unknown;
  key: string;
  signal?: AbortSignal;
}
export type ClientAnswer = { ok: true; payload: unknown } | { ok: false; error: Partial<ErrorShape> };
/** Carries one question to the gateway and its answer back. Rejects only when there is no answer. */
export type Send = (asked: ClientCall) => Promise<ClientAnswer>;

export function typedClient(send: Send): Client {
  return {
    async call<M extends MethodName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>> {
      const answer = await send({ method, params, key: newKey(), ...(signal ? { signal } : {}) });
      if (answer.ok) return answer.payload as Result<M>;
      throw failure(method, answer.error);
    },
  };
}

/**
 * A key nobody else has: over 90 random bits. It is no secret (a key counts only for the caller who sent it), so it need not
 * cost the 3 ms that loading a generator of secrets does, which a browser has only on pages that came over TLS.
 */
export function newKey(): string {
  const word = () => Math.random().toString(36).slice(2, 12).padEnd(10, "0");
  return word() + word();
}

/** What an HTTP answer of `POST /rpc/<method>` says. `undefined`: the server that answered isn't Lares. */
export function readHttp(status: number, text: string): ClientAnswer | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (status >= 200 && status < 300) return { ok: true, payload: body };
  const error = (body as { error?: Partial<ErrorShape> } | null)?.error;
  return { ok: false, error: { message: `Lares answered ${status}.`, ...error } };
}

/** What a caller shows: a program its token; a page the proof that goes with its cookie, which the browser sends by itself. */
export interface ShownCredential {
  token?: string;
  proof?: string;
}

/** Which face a person sits at, so that the agent doesn't take them for a program. Words for the model, never a right. */
export const FACE_HEADER = "x-lares-face";
export type Face = "terminal" | "page" | "editor";

/** The headers of `POST /rpc/<method>`. */
export function rpcHeaders(key: string, shown: ShownCredential): Record<string, string> {
  return { "content-type": "application/json", "idempotency-key": key, ...shownHeaders(shown) };
}

export function shownHeaders({ token, proof }: ShownCredential): Record<string, string> {
  if (token) return { authorization: `Bearer ${token}` };
  return proof ? { "x-lares-proof": proof } : {};
}

/** Over fetch: for scripts, and for a page whose network lets no WebSocket through. */
export function fetchSend(at: { url: string; shown: () => ShownCredential; fetch?: typeof fetch }): Send {
  const ask = at.fetch ?? fetch;
  return async ({ method, params, key, signal }) => {
    try {
      const response = await ask(`${at.url}/rpc/${method}`, {
        method: "POST",
        headers: rpcHeaders(key, at.shown()),
        body: JSON.stringify(params),
        ...(signal ? { signal } : {}),
      });
      return readHttp(response.status, await response.text()) ?? strange(at.url, response.status);
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new AppError("GATEWAY_DOWN", {
        message: at.url ? `No Lares answers at ${at.url}.` : "Lares does not answer.",
        hint: "Start it: lares gateway run",
        retry: "later",
        cause,
      });
    }
  };
}

export function strange(url: string, status: number): ClientAnswer {
  // Node's own answer to headers beyond its limit; the token is the only long one of ours.
  if (status === 431) {
    const message = "Lares refused the request's headers as too large: the token is far too long.";
    return { ok: false, error: { code: "UNAUTHORIZED", message, hint: "`lares token` prints the right one." } };
  }
  const message = `The server${url ? ` at ${url}` : ""} doesn't answer like Lares (HTTP ${status}).`;
  return { ok: false, error: { code: "INTERNAL", message, hint: "Check the address." } };
}

/** The gateway's own code and hint pass through. Only an unknown method gets our words: there the two versions differ. */
function failure(method: string, error: Partial<ErrorShape>): AppError {
  if (error.code === "UNKNOWN_METHOD") {
    return new AppError("UNKNOWN_METHOD", {
      message: `The running Lares can't do this (${method}).`,
      hint: "It may be a different version: stop it and run lares gateway run; if this is a page, reload it.",
      retry: "after-change",
    });
  }
  return new AppError(error.code ?? "INTERNAL", {
    message: error.message ?? "Lares gave no reason.",
    retry: error.retry ?? "later",
    ...(error.hint ? { hint: error.hint } : {}),
    ...(error.details ? { details: error.details } : {}),
  });
}
