/** Whether the key is one, and how many of the relays can be reached. */
import { connect } from "./relays.ts";
import type { NostrState } from "./state.ts";

export async function check(
  state: NostrState,
  signal: AbortSignal,
): Promise<{ id: string; name: string; note: string }> {
  const keys = await state.loadKeys();
  const npub = keys.npub(keys.me);
  const life = new AbortController();
  try {
    const relays = await connect(state, keys, () => {}, AbortSignal.any([signal, life.signal]));
    return { id: npub, name: npub, note: `${relays.length} of ${state.config.relays.length} relays` };
  } finally {
    life.abort();
  }
}
