/** Gives every method that changes something its idempotency key. `chat.send` has its own in the inbox. */
import { METHODS, type MethodName } from "../../core/protocol/index.ts";
import { type Handler, type Handlers, mapHandlers } from "./ports.ts";

/** Keeps the first result of a call under its key. */
export interface KeptResults {
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

export function withKeys(
  handlers: Handlers,
  kept: KeptResults,
  special: Partial<Record<MethodName, Keeping>>,
): Handlers {
  return mapHandlers(handlers, (name, handler) =>
    METHODS[name].mutates && name !== "chat.send" ? makeIdempotent(name, handler, kept, special[name]) : handler,
  );
}

function makeIdempotent<M extends MethodName>(
  method: M,
  handler: Handler<M>,
  kept: KeptResults,
  keeping: Keeping | undefined,
): Handler<M> {
  return (params, caller) => {
    const { idempotencyKey: key, ...rest } = params as { idempotencyKey?: string };
    if (!key) return handler(params, caller);
    const run = () => handler(params, caller);
    const call = { principal: caller.principal.id, method, key, params: rest, run, ...keeping };
    return kept.once<unknown>(call) as ReturnType<Handler<M>>;
  };
}
