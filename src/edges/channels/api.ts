/** One call of a platform's JSON API. What it throws says whether the platform may have taken something (CHANNEL-2). */
import { asJson, asObject } from "../../core/domain/index.ts";
import { deadline, textWithin } from "../../core/kit/index.ts";
import { broken, unreached } from "./sending.ts";

export interface ApiCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is, with a content type among the headers (or its own, for a form). */
  body?: Uint8Array | FormData;
  /** A call that only reads can't leave anything behind on the platform. */
  reads?: boolean;
  /** A longer silence means that the connection is dead. */
  patienceMs?: number;
}

export interface ApiAnswer {
  ok: boolean;
  status: number;
  json: Record<string, unknown>;
  headers: Headers;
}

const PATIENCE_MS = 30_000;
/** The largest honest answers are a Matrix sync or a page of a hundred messages with their parts: a few megabytes. */
const MOST_ANSWER_BYTES = 32 * 1_048_576;

/** `where`: the platform's name in messages. Never follows a redirect, which would take the token along. */
export async function callApi(call: ApiCall, where: string, signal: AbortSignal): Promise<ApiAnswer> {
  const body = call.json === undefined ? call.body : JSON.stringify(call.json);
  const within = deadline(signal, call.patienceMs ?? PATIENCE_MS);
  try {
    const response = await fetch(call.url, {
      method: call.method,
      redirect: "error",
      headers: { ...(call.json === undefined ? {} : { "content-type": "application/json" }), ...call.headers },
      ...(body === undefined ? {} : { body: body as NonNullable<RequestInit["body"]> }),
      signal: within.signal,
    });
    const text = await textWithin(response, MOST_ANSWER_BYTES);
    return { ok: response.ok, status: response.status, json: parsed(text), headers: response.headers };
  } catch (error) {
    if (signal.aborted && call.reads) throw signal.reason;
    throw call.reads ? unreached(where, error) : broken(error, where);
  } finally {
    within.done();
  }
}

function parsed(text: string): Record<string, unknown> {
  const value = asJson(text);
  return Array.isArray(value) ? { list: value } : asObject(value);
}
