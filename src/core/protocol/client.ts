/**
 * `Client` is how every face speaks to the gateway: a method's name and its parameters in, its result out, typed by the registry.
 * The command line implements it over node:http (it starts in 60 ms and loads no schemas), the web page over the WebSocket;
 * `httpClient` is the one for scripts, over fetch. Errors come back with the server's code and hint.
 */
import { AppError, type ErrorCode, type ErrorShape } from "../domain/index.ts";
import type { MethodName, Params, Result } from "./methods.ts";

export interface Client {
  call<M extends MethodName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>>;
}

/** Without a token it is a page of ours: the browser sends its cookie, and the header says that no form sent this. */
export function httpClient(at: { url: string; token?: string; fetch?: typeof fetch }): Client {
  const send = at.fetch ?? fetch;
  return {
    async call(method, params, signal) {
      let response: Response;
      try {
        response = await send(`${at.url}/rpc/${method}`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            ...(at.token ? { authorization: `Bearer ${at.token}` } : { "x-lares-csrf": "1" }),
          },
          body: JSON.stringify(params),
          ...(signal ? { signal } : {}),
        });
      } catch (cause) {
        if (signal?.aborted) throw cause;
        throw new AppError("GATEWAY_DOWN", {
          message: `No Lares answers at ${at.url}.`,
          hint: "Start it: lares gateway run",
          retry: "later",
          cause,
        });
      }
      const body = (await response.json().catch(() => undefined)) as { error?: ErrorShape } | undefined;
      if (response.ok) return body as Result<typeof method>;
      const error = body?.error;
      throw new AppError((error?.code ?? "INTERNAL") as ErrorCode, {
        message: error?.message ?? `Lares answered ${response.status}.`,
        ...(error?.hint ? { hint: error.hint } : {}),
        retry: error?.retry ?? "later",
        ...(error?.details ? { details: error.details } : {}),
      });
    },
  };
}
