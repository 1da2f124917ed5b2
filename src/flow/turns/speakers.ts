/** Who wrote which message, for a caller of the gateway. */
import type { Reads } from "../../core/contracts/index.ts";
import { type HistoryEntry, type ReplyRoute, readInputId } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { WrittenBy } from "../../core/protocol/index.ts";
import { listSpeakers } from "./store.ts";

/** Those whose turn is gone, as after an import, have nobody. */
export async function findSpeakers(db: Reads, caller: string, messages: readonly HistoryEntry[]) {
  const readTurn = (m: HistoryEntry) => (m.role === "user" && m.person ? readInputId(m.id) : undefined);
  const turns = await listSpeakers(
    db,
    messages.flatMap((m) => readTurn(m) ?? []),
  );
  return (m: HistoryEntry): WrittenBy | undefined => {
    const found = turns.get(readTurn(m) ?? "");
    return found && toSpeaker(found, caller);
  };
}

/** `caller`: whose page it is. What they wrote on a platform is theirs, too, but only the platform can edit it. */
export function toSpeaker({ route, name }: { route: ReplyRoute; name: string | null }, caller: string): WrittenBy {
  const { channel, account } = route;
  return { channel, own: (channel === "ws" || channel === "http") && account === caller, ...truthy({ name }) };
}
