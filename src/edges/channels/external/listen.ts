/** Listening: the program connects to us, so this only shows in the account's status whether one is there. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import type { ExternalState } from "./state.ts";

export async function listen(state: ExternalState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  if (state.peer) door.alive();
  await new Promise<void>((resolve, reject) => {
    state.left = reject;
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  state.peer?.close("the account is stopped or changed");
}
