/** Handlers of the methods about what the model reads of a session. */
import { type AgentId, asId, type SessionKey } from "../../core/domain/index.ts";
import { readLedger } from "../../mind/context/index.ts";
import type { Asks, Methods } from "./parts.ts";

export function makeContextMethods(
  parts: Asks<"sessions" | "nextRequest" | "compactions" | "contexts" | "records">,
): Methods<"context"> {
  return {
    "context.get": ({ session }) => readLedger(parts.instance(), asId<SessionKey>(session)),
    async "context.request"({ session, text }) {
      const { agent } = await parts.instance().sessions.get(session);
      const of = { session: asId<SessionKey>(session), agent: asId<AgentId>(agent), text };
      const { model, api, full, cache, body, ...rest } = await parts.instance().nextRequest(of);
      // Internally a missing mark means none. Clients get a plain boolean.
      const shown = rest.parts.map((part) => ({ ...part, mark: part.mark ?? false }));
      const tokens = shown.reduce((sum, part) => sum + part.tokens, 0);
      const bytes = Buffer.byteLength(body);
      return { session, agent, model, api, tokens, bytes, full, cache, parts: shown, body };
    },
    async "context.compact"({ session, focus }) {
      const { agent } = await parts.instance().sessions.get(session);
      const done = await parts
        .instance()
        .compactions.ask(asId<SessionKey>(session), asId<AgentId>(agent), focus?.trim() || null);
      // Compaction can outlast a request. It goes on in the background and shows up in context.get.
      if (!done) return { state: "going on" };
      if (!done.made) return { state: "nothing" };
      const { how, messages, before, after } = done;
      return { state: "done", how, messages, before, after };
    },
    "context.undo": ({ session }) => parts.instance().compactions.undo(asId<SessionKey>(session)),
  };
}
