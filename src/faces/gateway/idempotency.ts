/** Gives every method that changes something its idempotency key. `chat.send` has its own in the inbox. */
import { METHODS, type MethodName } from "../../core/protocol/index.ts";
import type { Caller, Handlers } from "./ports.ts";

/** Keeps the first result of a call under its key. */
export interface Replays {
  /** Runs once per key; afterwards the kept result. Throws CONFLICT when the key came with other parameters. */
  once<T>(call: {
    principal: string;
    method: string;
    key: string;
    params: unknown;
    run: () => Promise<T>;
    keep?: (result: T) => unknown;
    revive?: (kept: unknown) => T;
  }): Promise<T>;
}

/** How a result with a secret is kept without it, and completed again. */
export interface Keeping {
  keep: (result: unknown) => unknown;
  revive: (kept: unknown) => unknown;
}

type Handler = (params: { idempotencyKey?: string }, caller: Caller) => Promise<unknown>;

export function withKeys(
  handlers: Handlers,
  replays: Replays,
  special: Partial<Record<MethodName, Keeping>>,
): Handlers {
  const out: Record<string, Handler> = {};
  for (const [name, handler] of Object.entries(handlers) as [MethodName, Handler][]) {
    out[name] =
      METHODS[name].mutates && name !== "chat.send" ? makeIdempotent(name, handler, replays, special[name]) : handler;
  }
  return out as unknown as Handlers;
}

function makeIdempotent(method: MethodName, handler: Handler, replays: Replays, keeping: Keeping | undefined): Handler {
  return (params, caller) => {
    const { idempotencyKey: key, ...rest } = params;
    if (!key) return handler(params, caller);
    const run = () => handler(params, caller);
    return replays.once({ principal: caller.principal.id, method, key, params: rest, run, ...keeping });
  };
}
