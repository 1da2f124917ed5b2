/** One method, checked and run: the same for HTTP, WebSocket and the OpenAI door. */
import type { Context } from "hono";
import { AppError } from "../../core/domain/index.ts";
import { defined, nearest } from "../../core/kit/index.ts";
import {
  type ChatAnswer,
  FACE_HEADER,
  type Face,
  isMethod,
  METHODS,
  type MethodName,
  type Params,
  type Result,
} from "../../core/protocol/index.ts";
import { type HttpEnv, parse } from "./http.ts";
import { type Caller, type GatewayParts, type Handlers, mapHandlers } from "./ports.ts";

export async function callMethod(parts: GatewayParts, name: string, params: unknown, caller: Caller): Promise<unknown> {
  if (!isMethod(name)) {
    const near = nearest(name, Object.keys(METHODS));
    throw new AppError("UNKNOWN_METHOD", {
      message: `There is no method "${name}".`,
      ...(near ? { hint: `Did you mean "${near}"?` } : { hint: "All methods: docs/PROTOCOL.md" }),
    });
  }
  const method = METHODS[name];
  if (!caller.principal.scopes.has(method.scope)) {
    throw new AppError("FORBIDDEN", {
      message: `"${name}" needs the right "${method.scope}".`,
      hint: "Use a token that has it.",
      details: { missingScope: method.scope },
    });
  }
  const handler = parts.handlers[name] as (params: unknown, caller: Caller) => Promise<unknown>;
  return handler(parse(method.in, params ?? {}), caller);
}

/** A key beside the parameters (HTTP's header, a frame's `key`) is another way to say `idempotencyKey`. */
export function withKey(name: string, params: unknown, key: unknown): unknown {
  if (typeof key !== "string" || !key || !isMethod(name) || !METHODS[name].mutates) return params;
  const isObject = (params ?? {}) instanceof Object && !Array.isArray(params);
  return isObject ? { idempotencyKey: key, ...(params as object | undefined) } : params;
}

/** The same for code that knows the method's name. */
export function call<M extends MethodName>(
  parts: GatewayParts,
  name: M,
  params: Params<M>,
  caller: Caller,
): Promise<Result<M>> {
  return callMethod(parts, name, params, caller) as Promise<Result<M>>;
}

export function toCaller(c: Context<HttpEnv>): Caller {
  const face = readFace(c);
  return { principal: c.get("principal"), channel: "http", ...defined({ face }), signal: c.req.raw.signal };
}

/** A page whose network lets no WebSocket through shows its proof with every request. */
function readFace(c: Context<HttpEnv>): Face | undefined {
  if (c.req.header("x-lares-proof")) return "page";
  const named = c.req.header(FACE_HEADER);
  return named === "terminal" || named === "editor" ? named : undefined;
}

export function answerHeaders(a: ChatAnswer): Record<string, string> {
  return {
    "x-lares-turn": a.turn,
    "x-lares-session": encodeURI(a.session),
    "x-lares-state": a.state,
    ...(a.model ? { "x-lares-model": encodeURI(a.model) } : {}),
    ...(a.practice ? { "x-lares-practice": "true" } : {}),
    ...(a.notices.length ? { "x-lares-notice": spellNotices(a.notices) } : {}),
  };
}

/** Spelt for a header a letter takes up to nine; servers in between commonly take 8 kB of headers. */
const MOST_NOTICE = 500;

function spellNotices(notices: readonly string[]): string {
  // A letter that was cut in half can't be spelt; as bytes and back it becomes a mark.
  return encodeURIComponent(Buffer.from(notices.join(" ").slice(0, MOST_NOTICE)).toString());
}

/** Throws when the caller may not act there. */
export type MustReach = (
  principal: Caller["principal"],
  target: { session?: string | undefined; turn?: string | undefined; begins: boolean },
) => Promise<void>;

/** These change nothing, but are for callers who may not read what others said. */
const OF_ONES_OWN: readonly MethodName[] = ["chat.wait"];

/** These begin a conversation that does not exist yet; all others find theirs or say that there is none. */
const BEGINS: readonly MethodName[] = ["chat.send", "goals.add"];

/**
 * Before every method that changes something and names a conversation or a turn it is asked whether the caller may act there, so
 * that no handler can forget it. The same before a caller waits for what it said itself.
 */
export function withReach(handlers: Handlers, mustReach: MustReach): Handlers {
  return mapHandlers(handlers, (name, handler) => {
    const { scope, mutates } = METHODS[name];
    const begins = BEGINS.includes(name);
    const acts = mutates && (scope === "write" || begins);
    if (!acts && !OF_ONES_OWN.includes(name)) return handler;
    return async (params, caller) => {
      const { session, turn } = params as { session?: string; turn?: string };
      if (session !== undefined || turn !== undefined) await mustReach(caller.principal, { session, turn, begins });
      return handler(params, caller);
    };
  });
}
