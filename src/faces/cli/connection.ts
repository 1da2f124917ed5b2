/**
 * Where the gateway is and how it is asked. The running gateway leaves a note in its home; it is read again for every call,
 * so that a chat finds a gateway which came back on another port.
 *
 * Questions go over node:http and not over fetch: fetch gives up after five minutes without an answer, which a turn may
 * well take, and loading it costs a third of what a short command may take.
 *
 * CLI-6: the token kept in this home goes only to the Lares of this home. Any other address gets the one given for it, or none.
 */

import { readFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { type Clock, defined, trimEndCharacters } from "../../core/kit/index.ts";
import {
  type Client,
  type ClientCall,
  FACE_HEADER,
  type Face,
  readHttp,
  rpcHeaders,
  strange,
  typedClient,
} from "../../core/protocol/client.ts";
import type { MethodName } from "../../core/protocol/index.ts";
import { usage } from "./exit.ts";
import { httpFailure, notRunning, silent } from "./unreachable.ts";
import { commonWords } from "./words/common.ts";
import { reachWords as words } from "./words/reach.ts";

export interface GatewayAccess {
  url: string;
  token: string;
}

export type FindGateway = () => Promise<GatewayAccess>;

export interface GatewayOptions {
  home: string;
  url?: string;
  /** Given for this call: by --token or LARES_TOKEN. */
  token?: string;
  readToken: (home: string) => string | undefined | Promise<string | undefined>;
}

export async function findGateway(at: GatewayOptions): Promise<GatewayAccess> {
  const url = at.url === undefined ? await urlFromNote(at.home) : checkedUrl(at.url);
  if (at.token !== undefined) return { url, token: at.token };
  if (at.url !== undefined && !(await isOwn(at.home, url))) {
    throw new AppError("UNAUTHORIZED", {
      message: words.foreignAddress(new URL(url).origin, at.home),
      hint: words.foreignAddressHint,
      retry: "after-change",
    });
  }
  const token = await at.readToken(at.home);
  if (!token) {
    throw new AppError("UNAUTHORIZED", {
      message: words.noToken(at.home),
      hint: words.noTokenHint,
      retry: "after-change",
    });
  }
  return { url, token };
}

/** How long a question may stay unanswered that Lares answers from what it has at hand. */
const QUICK_MS = 10_000;
const QUICK: ReadonlySet<string> = new Set<MethodName>([
  "status",
  "approvals.list",
  "attention.list",
  "schedule.list",
  "sessions.list",
]);

/** Others take as long as their work, as long as Lares shows that it is alive: it is asked for that in between. */
const ALIVE_MS = 5000;

/** Finds the gateway again for every request. `isAsked`: its address was given, so that is what may be wrong. */
export function rpcClient(find: FindGateway, isAsked: boolean, clock: Clock, face: Face = "terminal"): Client {
  return typedClient(async (asked) => {
    const gateway = await find();
    const body = JSON.stringify(asked.params);
    const { status, text } = await post(gateway, { asked, body, face }, clock).catch((cause: unknown) => {
      if (asked.signal?.aborted || cause instanceof AppError) throw cause;
      throw httpFailure(cause, { url: gateway.url, isAsked, bytes: Buffer.byteLength(body) });
    });
    return readHttp(status, text) ?? strange(gateway.url, status);
  });
}

async function post(
  gateway: GatewayAccess,
  { asked: { method, key, signal }, body, face }: { asked: ClientCall; body: string; face: Face },
  clock: Clock,
): Promise<{ status: number; text: string }> {
  const url = new URL(`${gateway.url}/rpc/${method}`);
  const request = url.protocol === "https:" ? (await import("node:https")).request : httpRequest;
  const headers = {
    ...rpcHeaders(key, { token: gateway.token }),
    [FACE_HEADER]: face,
    "content-length": Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    // A stopped process still accepts connections: the system does it in its place.
    let isOver = false;
    let stop = signal ? () => {} : clock.after(QUICK_MS, () => void late());
    const late = async (): Promise<void> => {
      if (!QUICK.has(method) && sent.socket?.connecting === false && (await isAlive(url, request, clock))) {
        if (!isOver) stop = clock.after(QUICK_MS, () => void late());
      } else sent.destroy(tooLate());
    };
    const tooLate = () => (sent.socket && !sent.socket.connecting ? silent(gateway.url) : new Error("no connection"));
    // No agent: a kept connection would hold the process, and break when the gateway restarts.
    const sent = request(url, { method: "POST", headers, agent: false, ...defined({ signal }) }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.on("close", () => {
      isOver = true;
      stop();
    });
    sent.end(body);
  });
}

/** Any answer will do, from any version: a process that is stopped gives none. */
function isAlive(at: URL, request: typeof httpRequest, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(new URL("/healthz", at), { agent: false }, (response) => {
      response.resume();
      resolve(true);
    });
    const stop = clock.after(ALIVE_MS, () => sent.destroy());
    sent.on("error", () => resolve(false));
    sent.on("close", () => {
      stop();
      resolve(false);
    });
    sent.end();
  });
}

async function isOwn(home: string, url: string): Promise<boolean> {
  const own = await urlFromNote(home).catch(() => undefined);
  return own !== undefined && URL.canParse(own) && new URL(own).origin === new URL(url).origin;
}

async function urlFromNote(home: string): Promise<string> {
  try {
    const note = JSON.parse(await readFile(join(home, "gateway.json"), "utf8")) as { url?: unknown };
    if (typeof note.url === "string") return trimEndCharacters(note.url, "/");
  } catch (cause) {
    throw notRunning(cause);
  }
  throw notRunning();
}

function checkedUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw usage(commonWords.notAnAddress(given), words.notAnAddressHint);
  }
  return trimEndCharacters(given, "/");
}
