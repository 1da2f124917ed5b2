/** The account's relays taken together: connecting to them, and publishing to all of them. */
import { SendUncertain } from "../../../core/contracts/index.ts";
import type { AppError } from "../../../core/domain/index.ts";
import { refused } from "../sending.ts";
import { type NostrEvent, Relay } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { type NostrState, nowInSeconds } from "./state.ts";

/** The answer to a relay's challenge (NIP-42). */
const LOGIN = 22_242;
/** Where a key wants to get its messages (NIP-17). */
const INBOX_RELAYS = 10_050;

/** Those that can be reached: at least one, or it throws. */
export async function connect(state: NostrState, keys: Keys, alive: () => void, signal: AbortSignal): Promise<Relay[]> {
  const all = state.config.relays.map((url) => {
    const login = (challenge: string) => {
      const tags = [
        ["relay", url],
        ["challenge", challenge],
      ];
      return keys.sign({ kind: LOGIN, created_at: nowInSeconds(state), tags, content: "" });
    };
    return new Relay(url, { login, alive, signal });
  });
  const opened = await Promise.allSettled(all.map((relay) => relay.opened));
  const reached = all.filter((_relay, i) => opened[i]!.status === "fulfilled");
  if (!reached.length) throw noneReached(opened);
  if (reached.length < all.length)
    state.log.warn("some relays cannot be reached", { reached: reached.length, of: all.length });
  return reached;
}

/** With one relay its own failure says more. */
function noneReached(opened: readonly PromiseSettledResult<void>[]): unknown {
  const why = opened.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  return why.length === 1 ? why[0] : refused("None of the relays can be reached.", "later", why[0]);
}

/** So that others know where to write. A relay that doesn't take the list is still good for messages. */
export async function announceRelays(state: NostrState, relays: readonly Relay[], keys: Keys): Promise<void> {
  const tags = state.config.relays.map((url) => ["relay", url]);
  const list = keys.sign({ kind: INBOX_RELAYS, created_at: nowInSeconds(state), tags, content: "" });
  await Promise.allSettled(relays.map((relay) => relay.publish(list)));
}

/** One relay that has the event is enough. When none has, the most hopeful failure counts. */
export async function publish(relays: readonly Relay[], event: NostrEvent): Promise<void> {
  const fates = await Promise.allSettled(relays.map((relay) => relay.publish(event)));
  if (fates.some((one) => one.status === "fulfilled")) return;
  const why = fates.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  throw (
    why.find((one) => one instanceof SendUncertain) ?? why.find((one) => (one as AppError).retry === "later") ?? why[0]
  );
}
