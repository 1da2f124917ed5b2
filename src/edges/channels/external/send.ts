/** Sending: to the program, under the message's key, until it is acknowledged (EXTERNAL-2). */
import { type Outgoing, type Peer, SendUncertain } from "../../../core/contracts/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { type ExternalState, nobodyThere, waitFor } from "./state.ts";

/** A program that comes back within this time gets the message at once. Shorter than the outbox waits for a send. */
const PEER_MS = 20_000;
const ACK_MS = 20_000;

export async function send(
  state: ExternalState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string }> {
  const peer = await findPeer(state, signal);
  const { chat, thread } = message.route;
  const acknowledged = waitFor(
    state.clock,
    {
      ms: ACK_MS,
      late: () => new SendUncertain("The program did not acknowledge the message."),
      register: (waiter) => state.acks.set(message.key, waiter),
      forget: () => state.acks.delete(message.key),
    },
    signal,
  );
  peer.send({
    type: "outbound_message",
    id: message.key,
    channelId: state.account,
    target: chat,
    ...truthy({ threadId: thread }),
    content: message.text,
  });
  await acknowledged;
  return { platformId: message.key };
}

async function findPeer(state: ExternalState, signal: AbortSignal): Promise<Peer> {
  while (!state.peer) {
    await waitFor(
      state.clock,
      {
        ms: PEER_MS,
        late: nobodyThere,
        register: (waiter) => state.arrivals.add(waiter),
        forget: (waiter) => state.arrivals.delete(waiter),
      },
      signal,
    );
  }
  return state.peer;
}
