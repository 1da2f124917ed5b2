/**
 * Messages about what only the owner can put right, found out during a tool call: a login that was lost. Each is sent once, to the
 * place where the owner would be asked about this turn, and never to a guest's chat.
 */
import type { Records, ToolCaller } from "../../core/contracts/index.ts";
import {
  type Authority,
  asId,
  PULLED,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import type { Outbox } from "./outbox.ts";

export interface OwnerNotice {
  /** The same id is the same notice: it is sent once, also over restarts. */
  id: string;
  text: string;
}

export function makeOwnerNotices(parts: {
  records: Records;
  outbox: Pick<Outbox, "intend" | "wake">;
  /** Commands in our own words as they work here. */
  called: (text: string) => string;
  /** Where the owner is asked about what this turn does. */
  where(turn: string, route: ReplyRoute, authority: Authority): Promise<ReplyRoute>;
  /** Where an agent reports by itself, when its owner chose such a place (I7: none is guessed). */
  unattended(agent: string): ReplyRoute | undefined;
}) {
  const { records, outbox } = parts;
  const place = async ({ turn, route, agent, authority = "owner" }: ToolCaller) => {
    if (route.channel === "none") return parts.unattended(agent) ?? route;
    return parts.where(turn, route, authority);
  };
  /** False: nothing is pushed there, so it has to come with the turn's answer. */
  return async (caller: ToolCaller, { id, text }: OwnerNotice): Promise<boolean> => {
    const route = await place(caller);
    if (PULLED.has(route.channel)) return false;
    const [turn, session] = [asId<TurnId>(caller.turn), asId<SessionKey>(caller.session)];
    await records.write((tx) => outbox.intend(tx, { answer: id, turn, session, route, text: parts.called(text) }));
    await outbox.wake(turn);
    return true;
  };
}
