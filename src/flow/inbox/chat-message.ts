/** What a caller of the gateway asked for, as the message the inbox admits. */
import { type AgentId, asId, type InboundMessage, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import { type IdMaker, sha256, truthy } from "../../core/kit/index.ts";
import type { Principal } from "../../core/protocol/index.ts";

export interface ChatAsk extends Pick<InboundMessage, "mode" | "model" | "idempotencyKey" | "given"> {
  message: string;
  session?: string;
  user?: string;
  agent?: string;
  once?: boolean;
  replaces?: string;
  attachments?: string[];
}

export interface ChatCaller extends Pick<InboundMessage, "face" | "outside"> {
  principal: Pick<Principal, "id" | "scopes">;
  channel: "http" | "ws";
}

export function makeChatMessage(ask: ChatAsk, caller: ChatCaller, ids: IdMaker): InboundMessage {
  const { principal, channel, face, outside } = caller;
  // A key must find the same place again, so a separate conversation is named after it.
  const user = ask.once ? `once-${ask.idempotencyKey ?? ids.next("o")}` : (ask.user ?? "owner");
  return {
    route: { channel, account: principal.id, chat: user },
    sender: { id: user },
    // What is not said to the model is a label for people.
    ...(ask.given?.silent
      ? { text: "", about: { label: { kind: "results", text: ask.message } } }
      : { text: ask.message }),
    mayApprove: principal.scopes.has("approvals") && !outside,
    authority: principal.scopes.has("admin") ? "owner" : "known",
    ...(ask.session ? { session: asId<SessionKey>(ask.session) } : {}),
    ...(ask.agent ? { agent: asId<AgentId>(ask.agent) } : {}),
    ...truthy({ mode: ask.mode, model: ask.model }),
    ...(ask.once ? { brief: true } : {}),
    ...truthy({ given: ask.given, face, outside }),
    ...(ask.replaces ? { replaces: asId<TurnId>(ask.replaces) } : {}),
    ...(ask.attachments?.length ? { attachments: { ids: ask.attachments, by: principal.id } } : {}),
    ...(ask.idempotencyKey ? { idempotencyKey: ask.idempotencyKey, fingerprint: makeFingerprint(ask, user) } : {}),
  };
}

/** Without the attachments: a request of `/v1` that is sent again uploads its pictures again. */
function makeFingerprint(ask: ChatAsk, user: string): string {
  const asked = [ask.message, user, ask.model ?? null, ask.replaces ?? null, ask.given ?? null];
  return sha256(JSON.stringify(asked));
}
