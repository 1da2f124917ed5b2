/** Handlers of the methods about what wakes an agent. */
import { type AgentId, AppError, asId, type SessionKey } from "../core/domain/index.ts";
import type { Handlers } from "../faces/gateway/index.ts";
import type { HandlerParts } from "./handlers.ts";

type WakeHandlers = Pick<Handlers, `wakes.${string}` & keyof Handlers>;

export function makeWakeHandlers(parts: Pick<HandlerParts, "house" | "config" | "ids">): WakeHandlers {
  return {
    async "wakes.send"({ session: typed, agent: named, text, deliver, idempotencyKey }, caller) {
      const house = parts.house();
      const agent = asId<AgentId>(named ?? parts.config.routing.defaultAgent);
      const session = asId<SessionKey>(typed === "main" ? `agent:${agent}:main` : typed);
      const known = typed === "main" ? undefined : await house.sessions.get(session);
      const owner = asId<AgentId>(known?.agent ?? agent);
      if (!house.agents.exists(owner)) {
        throw new AppError("AGENT_UNKNOWN", {
          message: `There is no agent "${owner}".`,
          hint: "See: lares agents list",
        });
      }
      const key = `wake:${caller.principal.id}:${idempotencyKey ?? parts.ids.next("e")}`;
      const { name, scopes } = caller.principal;
      const { duplicate } = await house.events.tell({
        key,
        kind: "wake",
        source: `wake:${caller.principal.id}`,
        session,
        agent: owner,
        route: deliver ?? { channel: "none", account: "wake", chat: session },
        label: `Woken by ${name}`,
        body: text,
        authority: scopes.has("admin") ? "owner" : "known",
      });
      return { session, event: key, duplicate };
    },
  };
}
