/**
 * THE fetcher: whatever Lares gets from an address that somebody else may have chosen comes through here.
 *
 * WEB-1: every hop is judged like the first one (reach.ts), and connects to an address that was judged.
 * WEB-2: proxy variables of the environment are not looked at; nothing stands between the judgement and the connection.
 * WEB-3: to another origin go no credentials: only headers that say nothing about who asks, and never a body.
 * WEB-4: bytes are bounded while they come in, after unpacking, and the whole has a deadline.
 */
import { AppError } from "../../../core/domain/index.ts";
import { type Clock, defined, following, systemClock } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";
import { type BodyLimit, readBody } from "./body.ts";
import { failed } from "./failure.ts";
import { type HopRequest, requestOnce } from "./hop.ts";
import { createReach, type Reach, type ReachRules, readHost } from "./reach.ts";

export interface FetchRequest {
  url: string | URL;
  method?: "GET" | "HEAD" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Default 10 MB. */
  maxBytes?: number;
  /** Default `refuse`: half a file is no file. */
  oversize?: BodyLimit["oversize"];
  /** From the first look-up to the last byte. Default 30 s. */
  timeoutMs?: number;
  /** Default 5. */
  maxRedirects?: number;
  /** May this redirect be followed? Default: yes. When not, the answer is the redirect itself, with `location`. */
  follow?: (from: URL, to: URL) => boolean;
}

export interface Fetched {
  status: number;
  /** Where the answer came from, after redirects. */
  url: string;
  /** Lower-case names; repeated headers joined with a comma. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The body goes on past the limit (only with `oversize: "cut"`). */
  cut: boolean;
  /** Set when the answer is a redirect that was not followed: where it leads, checked. */
  location?: string;
  /** The address that answered. */
  address: string;
}

export interface Fetcher {
  /** Throws FORBIDDEN (may not be reached), TOOL_INPUT, NOT_FOUND, BODY_TOO_LARGE, NOT_READY (no answer); the reason of `signal`. */
  fetch(request: FetchRequest, signal?: AbortSignal): Promise<Fetched>;
}

export interface FetcherDeps extends ReachRules {
  clock?: Clock;
  /** Default: `Lares`. */
  userAgent?: string;
}

const MAX_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** Enough for http → https → www → language → page. */
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What may go to an origin it was not meant for. */
const HARMLESS = new Set(["accept", "accept-language", "user-agent"]);

export function createFetcher(deps: FetcherDeps = {}): Fetcher {
  const { clock = systemClock, userAgent = "Lares" } = deps;
  const reach = createReach(deps);
  return {
    async fetch(request, signal) {
      const { timeoutMs = TIMEOUT_MS } = request;
      const own = new AbortController();
      const cancel = clock.after(timeoutMs, () => own.abort(tooSlow(timeoutMs)));
      const both = following(own.signal, ...(signal ? [signal] : []));
      try {
        return await walk(reach, request, userAgent, both.signal);
      } finally {
        both.done();
        cancel();
      }
    },
  };
}

async function walk(reach: Reach, request: FetchRequest, userAgent: string, signal: AbortSignal): Promise<Fetched> {
  const { follow = () => true, maxRedirects = MAX_REDIRECTS, maxBytes = MAX_BYTES, oversize = "refuse" } = request;
  let hop: HopRequest = {
    url: reach.check(request.url),
    method: request.method ?? "GET",
    headers: { "user-agent": userAgent, accept: "*/*", ...lowerCased(request.headers ?? {}) },
    ...defined({ body: request.body }),
  };
  for (let redirects = 0; ; redirects++) {
    signal.throwIfAborted();
    const { answer, address } = await requestOnce(reach, hop, signal);
    const status = answer.statusCode ?? 0;
    const headers = flat(answer.headers);
    const next = REDIRECTS.has(status) && headers.location ? redirected(reach, hop.url, headers.location) : undefined;
    const done = { status, url: hop.url.href, headers, address };
    if (!next) {
      const { body, cut } = await interruptible(readBody(answer, { maxBytes, oversize }), hop.url, signal);
      return { ...done, body, cut };
    }
    answer.destroy();
    if (!follow(hop.url, next)) return { ...done, body: Buffer.alloc(0), cut: false, location: next.href };
    if (redirects >= maxRedirects) throw failed(`${readHost(hop.url)} redirects more than ${maxRedirects} times`);
    hop = nextHop(hop, next, status);
  }
}

function redirected(reach: Reach, from: URL, location: string): URL {
  let to: URL;
  try {
    to = new URL(location, from);
  } catch {
    throw failed(
      `${readHost(from)} redirects to something that is not an address: ${visibleLine(location.slice(0, 100))}`,
    );
  }
  return reach.check(to);
}

function nextHop(hop: HopRequest, to: URL, status: number): HopRequest {
  const becomesGet = hop.method === "POST" && status !== 307 && status !== 308;
  const crosses = hop.url.origin !== to.origin;
  if (crosses && hop.body !== undefined && !becomesGet) {
    throw failed(`${readHost(hop.url)} asks for the request to be sent on to ${readHost(to)}, which Lares doesn't do`);
  }
  const keep = (name: string) => (crosses ? HARMLESS.has(name) : !(becomesGet && name === "content-type"));
  return {
    url: to,
    method: becomesGet ? "GET" : hop.method,
    headers: Object.fromEntries(Object.entries(hop.headers).filter(([name]) => keep(name))),
    ...(hop.body === undefined || becomesGet ? {} : { body: hop.body }),
  };
}

/** A torn connection is ours to explain; an abort is the caller's own reason. */
async function interruptible<T>(reading: Promise<T>, url: URL, signal: AbortSignal): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError) throw error;
    throw failed(`the answer from ${readHost(url)} broke off`, error);
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function flat(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}

function tooSlow(ms: number): AppError {
  return failed(`no complete answer within ${ms / 1000} s`);
}
