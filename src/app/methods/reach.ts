/**
 * A caller acts only in conversations it may see: with the right `read` in all of them, without it in its own. The rule stands
 * before every method that changes something and names a conversation or a turn, so that no handler can forget it.
 */
import { type AgentId, AppError, asId } from "../../core/domain/index.ts";
import { METHODS, type MethodName } from "../../core/protocol/index.ts";
import type { Caller, Handlers } from "../../faces/gateway/index.ts";
import { isOwnKey, mayBegin } from "../../flow/access/index.ts";
import { hasSession } from "../../flow/sessions/index.ts";
import { hasSpokenIn, sessionOfTurn } from "../../flow/turns/index.ts";
import type { Instance } from "../instance.ts";

type Reached = Pick<Instance, "records" | "agents">;

/** These begin a conversation that does not exist yet; all others find theirs or say that there is none. */
const BEGINS: readonly MethodName[] = ["chat.send", "goals.add"];

type Handler = (params: { session?: string; turn?: string }, caller: Caller) => Promise<unknown>;

export function withReach(handlers: Handlers, instance: () => Reached): Handlers {
  const out: Record<string, Handler> = {};
  for (const [name, handler] of Object.entries(handlers) as [MethodName, Handler][]) {
    const { scope, mutates } = METHODS[name];
    out[name] = mutates && (scope === "write" || BEGINS.includes(name)) ? guarded(name, handler, instance) : handler;
  }
  return out as unknown as Handlers;
}

function guarded(name: MethodName, handler: Handler, instance: () => Reached): Handler {
  return async (params, caller) => {
    const { session, turn } = params;
    const seesAll = caller.principal.scopes.has("read") || caller.principal.scopes.has("admin");
    if (session !== undefined && (BEGINS.includes(name) || !seesAll))
      await mustReach(name, session, caller, instance());
    if (turn !== undefined && !seesAll) {
      const at = await sessionOfTurn(instance().records.committed, turn);
      if (at === undefined || !(await isOwn(at, caller, instance()))) throw notThere(`turn "${turn}"`);
    }
    return handler(params, caller);
  };
}

/** Refused and not there look the same: a token learns nothing about conversations it may not see. */
async function mustReach(name: MethodName, session: string, caller: Caller, instance: Reached): Promise<void> {
  const { principal } = caller;
  if (await hasSession(instance.records.committed, session)) {
    if (principal.scopes.has("read") || principal.scopes.has("admin")) return;
    if (await isOwn(session, caller, instance)) return;
  } else if (
    BEGINS.includes(name) &&
    mayBegin(session, principal, (agent) => instance.agents.exists(asId<AgentId>(agent)))
  ) {
    return;
  }
  throw notThere(`conversation "${session}"`, "To begin one of your own, give a name as user instead of session.");
}

async function isOwn(session: string, { principal }: Caller, instance: Reached): Promise<boolean> {
  return isOwnKey(session, principal) || hasSpokenIn(instance.records.committed, session, principal.id);
}

function notThere(what: string, more = ""): AppError {
  return new AppError("NOT_FOUND", {
    message: `There is no ${what}, or this token may not act in it.`,
    hint: `Leave it out to talk in your own. ${more}`.trim(),
  });
}
