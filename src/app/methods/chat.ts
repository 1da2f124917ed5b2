/** Handlers of `chat.*`. */
import { CANCEL } from "../../core/contracts/index.ts";
import { asId, resumeIds, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { ChatAnswer } from "../../core/protocol/index.ts";
import type { EventStream } from "../../faces/gateway/index.ts";
import { makeChatMessage, waitingIn } from "../../flow/inbox/index.ts";
import {
  findSpeakers,
  listRestartsIn,
  listTurns,
  readUsage,
  type TurnRow,
  textSoFar,
  toLive,
} from "../../flow/turns/index.ts";
import { wireApproval } from "./approvals.ts";
import { type Asks, type MethodParts, type Methods, notFound } from "./parts.ts";
import { toLine } from "./sessions.ts";
import { readState } from "./turns.ts";

interface ChatParts
  extends Asks<"inbox" | "turnEnds" | "engine" | "currentTurn" | "sessions" | "approvals" | "records">,
    Pick<MethodParts, "config" | "ids"> {
  events: EventStream;
}
type WaitParts = Asks<"turnEnds" | "engine" | "approvals" | "records"> & Pick<MethodParts, "config">;

export function makeChatMethods(parts: ChatParts): Methods<"chat"> {
  const committed = () => parts.instance().records.committed;
  return {
    async "chat.send"(p, caller) {
      const admitted = await parts.instance().inbox.admit(makeChatMessage(p, caller, parts.ids));
      // Durable is enough for this caller: the events tell it the rest.
      if (p.wait === false) {
        const row = await parts.instance().turnEnds.read(admitted.turn);
        return toAnswer(parts, admitted.turn, row, admitted.duplicate);
      }
      return waitFor(parts, admitted.turn, admitted.duplicate, caller.signal);
    },
    "chat.wait": (p, caller) => waitFor(parts, asId<TurnId>(p.turn), false, caller.signal),
    async "chat.abort"(p) {
      // People stop what is running; only programs know turn ids.
      const turn = p.turn ?? (p.session && (await parts.instance().currentTurn(asId<SessionKey>(p.session))));
      if (!turn) return { stopped: false };
      // The id derives from the turn: stopping twice is one event.
      const stop = { id: resumeIds.abort(turn), name: CANCEL, value: { why: "chat.abort" } };
      const taken = await parts.instance().engine.resume(asId<TurnId>(turn), stop);
      // A turn that has already ended is no error: the caller wanted it stopped, and it is.
      if (taken === "unknown") throw notFound("turn", turn);
      return { stopped: taken === "taken", turn };
    },
    async "chat.history"(p, caller) {
      const { messages, more } = await parts.instance().sessions.history({
        session: p.session,
        limit: p.limit ?? 100,
        ...defined({ before: p.before }),
      });
      const speakers = await findSpeakers(committed(), caller.principal.id, messages);
      return {
        session: p.session,
        messages: messages.map((m) => ({ ...toLine(m), ...truthy({ speaker: speakers(m) }) })),
        more,
        restarts: await listRestartsIn(committed(), p.session),
      };
    },
    async "chat.live"({ session }, caller) {
      const rows = await listTurns(committed(), { session, open: true, limit: 50 });
      const waiting = await waitingIn(committed(), asId<SessionKey>(session));
      // Last and without a wait in between, so that the texts and the number belong together.
      const { seq, boot, turns } = parts.events.live(session);
      const shown = rows.reverse().map((row) =>
        toLive(row, readState(parts, row), {
          live: turns.find((t) => t.turn === row.id),
          said: waiting.find((m) => m.turn === row.id),
          caller: caller.principal.id,
        }),
      );
      return { session, seq, boot, turns: shown };
    },
  };
}

/**
 * Waits a bounded time. A parked turn can take days, and the caller then gets an interim answer and asks again with turns.wait.
 */
export async function waitFor(
  parts: WaitParts,
  turn: TurnId,
  duplicate: boolean,
  gone: AbortSignal,
): Promise<ChatAnswer> {
  const row = await parts.instance().turnEnds.untilEnd(turn, parts.config.gateway.http.wait * 1000, gone);
  return toAnswer(parts, turn, row, duplicate);
}

/** A turn as chat.send, turns.wait and the OpenAI routes answer with it. */
async function toAnswer(
  parts: WaitParts,
  turn: TurnId,
  row: TurnRow | undefined,
  duplicate: boolean,
): Promise<ChatAnswer> {
  if (!row) throw notFound("turn", turn);
  const { result } = row;
  const state = readState(parts, row);
  const [asked] =
    state === "parked" ? await parts.instance().approvals.list({ pendingOnly: true, turn: row.id, limit: 1 }) : [];
  return {
    turn,
    session: row.session,
    agent: row.agent,
    state,
    response: result ? result.text || result.reason || "" : textSoFar(state, asked),
    notices: result?.notices ?? [],
    duplicate,
    ...truthy({ reason: result?.reason, model: result?.model, practice: result?.practice, failure: result?.failure }),
    ...truthy({ cut: result?.cut, toolCalls: result?.callerCalls }),
    ...truthy({ usage: await readUsage(parts.instance().records.committed, row) }),
    // Its message was carried by another turn, whose answer this is.
    ...(row.id === turn ? {} : { joined: row.id }),
    ...(asked ? { approval: await wireApproval(parts, asked) } : {}),
  };
}
