/**
 * Before every method that changes something and names a conversation or a turn it is asked whether the caller may act there, so
 * that no handler can forget it.
 */
import { METHODS, type MethodName } from "../../core/protocol/index.ts";
import type { Caller, Handlers } from "./ports.ts";

/** Throws when the caller may not act there. */
export type MustReach = (
  principal: Caller["principal"],
  wish: { session?: string | undefined; turn?: string | undefined; begins: boolean },
) => Promise<void>;

/** These begin a conversation that does not exist yet; all others find theirs or say that there is none. */
const BEGINS: readonly MethodName[] = ["chat.send", "goals.add"];

type Handler = (params: { session?: string; turn?: string }, caller: Caller) => Promise<unknown>;

export function withReach(handlers: Handlers, mustReach: MustReach): Handlers {
  const out: Record<string, Handler> = {};
  for (const [name, handler] of Object.entries(handlers) as [MethodName, Handler][]) {
    const { scope, mutates } = METHODS[name];
    const begins = BEGINS.includes(name);
    out[name] = handler;
    if (!mutates || (scope !== "write" && !begins)) continue;
    out[name] = async (params, caller) => {
      const { session, turn } = params;
      await mustReach(caller.principal, { session, turn, begins });
      return handler(params, caller);
    };
  }
  return out as unknown as Handlers;
}
