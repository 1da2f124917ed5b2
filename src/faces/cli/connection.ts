/**
 * Where the gateway is and how it is asked. The running gateway leaves a note in its home; it is read again for every call,
 * so that a chat finds a gateway which came back on another port.
 *
 * The client is written on node:http and not on fetch: fetch gives up after five minutes without an answer, which a turn may
 * well take, and loading it costs a third of what a short command may take.
 */
import { readFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { AppError, type ErrorShape } from "../../core/domain/index.ts";
import type { Client, MethodName, Params, Result } from "../../core/protocol/index.ts";
import { usage } from "./exit.ts";

export interface Place {
  url: string;
  token: string;
}

export type FindPlace = () => Promise<Place>;

export interface PlaceOptions {
  home: string;
  url?: string;
  token?: string;
  readToken: (home: string) => string | undefined | Promise<string | undefined>;
}

export async function findPlace(at: PlaceOptions): Promise<Place> {
  const url = at.url === undefined ? await urlFromNote(at.home) : checkedUrl(at.url);
  const token = at.token ?? (await at.readToken(at.home));
  if (!token) {
    throw new AppError("UNAUTHORIZED", {
      message: `No token is known for ${at.home}.`,
      hint: "Name the home with --home, or give the token with --token.",
      retry: "after-change",
    });
  }
  return { url, token };
}

export function notRunning(cause?: unknown): AppError {
  return new AppError("GATEWAY_DOWN", {
    message: "Lares is not running.",
    hint: "Start it: lares gateway run",
    retry: "later",
    cause,
  });
}

export function rpcClient(find: FindPlace, isAsked: boolean): Client {
  return {
    async call<M extends MethodName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>> {
      const place = await find();
      const { status, text } = await post(place, method, JSON.stringify(params), signal).catch((cause: unknown) => {
        if (signal?.aborted) throw cause;
        throw isAsked
          ? new AppError("GATEWAY_DOWN", {
              message: `No Lares answers at ${place.url}.`,
              hint: "Check the address, or start it: lares gateway run",
              retry: "later",
              cause,
            })
          : notRunning(cause);
      });
      return read<Result<M>>(place, method, status, text);
    },
  };
}

function read<T>(place: Place, method: string, status: number, text: string): T {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new AppError("INTERNAL", {
      message: `What answers at ${place.url} does not speak as Lares does (HTTP ${status}).`,
      hint: "Check the address given with --url.",
    });
  }
  if (status >= 200 && status < 300) return body as T;
  const error = (body as { error?: Partial<ErrorShape> } | null)?.error;
  if (error?.code === "UNKNOWN_METHOD") {
    throw new AppError("UNKNOWN_METHOD", {
      message: `The Lares that runs cannot do this (${method}).`,
      hint: "It may be of another version than this command: stop it, then lares gateway run",
      retry: "after-change",
    });
  }
  throw new AppError(error?.code ?? "INTERNAL", {
    message: error?.message ?? `Lares answered ${status}.`,
    retry: error?.retry ?? "later",
    ...(error?.hint ? { hint: error.hint } : {}),
    ...(error?.details ? { details: error.details } : {}),
  });
}

async function post(
  place: Place,
  method: string,
  body: string,
  signal?: AbortSignal,
): Promise<{ status: number; text: string }> {
  const url = new URL(`${place.url}/rpc/${method}`);
  const request = url.protocol === "https:" ? (await import("node:https")).request : httpRequest;
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      authorization: `Bearer ${place.token}`,
    };
    // No agent: a kept connection would hold the process, and break when the gateway restarts.
    const sent = request(url, { method: "POST", headers, agent: false, ...(signal ? { signal } : {}) }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function urlFromNote(home: string): Promise<string> {
  try {
    const note = JSON.parse(await readFile(join(home, "gateway.json"), "utf8")) as { url?: unknown };
    if (typeof note.url === "string") return note.url.replace(/\/+$/, "");
  } catch (cause) {
    throw notRunning(cause);
  }
  throw notRunning();
}

function checkedUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw usage(`"${given}" is not an http or https address.`, "Give one such as --url http://127.0.0.1:7717");
  }
  return given.replace(/\/+$/, "");
}
