/** A program at the other end: it proves itself by the token, then its frames are taken in order. */
import type { ChannelHost, Peer, Speaker } from "../../../core/contracts/index.ts";
import { AppError, type JsonObject } from "../../../core/domain/index.ts";
import { firstIssue, isSameSecret, truthy } from "../../../core/kit/index.ts";
import { ackFrame, type InboundFrame, inboundFrame, toEvent } from "./events.ts";
import { arrive, type ExternalState, leave } from "./state.ts";

/** Messages that came and aren't committed yet; a program that lets more pile up waits for nothing. */
const MOST_WAITING = 1000;

export function speak(state: ExternalState, token: string, peer: Peer, door: ChannelHost): Speaker {
  const { token: own } = state.config;
  if (own === undefined || !isSameSecret(token, own)) {
    throw new AppError("UNAUTHORIZED", { message: "The token is wrong." });
  }
  return join(state, peer, door);
}

/** From here on the peer speaks for the account. */
export function join(state: ExternalState, peer: Peer, door: ChannelHost): Speaker {
  arrive(state, peer);
  door.alive();
  door.known(state.account);
  let last = Promise.resolve();
  let waiting = 0;
  return {
    take(frame: JsonObject) {
      const ack = ackFrame.safeParse(frame);
      if (ack.success) return state.acks.get(ack.data.id)?.done();
      const read = readInbound(state.account, frame);
      if ("why" in read) return peer.send(makeError(frame, read.why));
      if (++waiting > MOST_WAITING) return peer.close("too many messages are waiting for their ack");
      last = last.then(async () => {
        await hear(state, { peer, door }, read);
        waiting--;
      });
    },
    gone: () => leave(state, peer),
  };
}

/** Acknowledged after the commit (EXTERNAL-1). */
async function hear(
  { clock, log }: ExternalState,
  { peer, door }: { peer: Peer; door: ChannelHost },
  frame: InboundFrame,
): Promise<void> {
  try {
    const [heard] = await door.hear([toEvent(frame, clock.now())]);
    const { outcome, turn } = heard!;
    peer.send({ type: "ack", id: frame.id, outcome, ...truthy({ turn }) });
  } catch (error) {
    log.warn("a message could not be taken", { error: String(error) });
    peer.close("try again later");
  }
}

function readInbound(account: string, frame: JsonObject): InboundFrame | { why: string } {
  const read = inboundFrame.safeParse(frame);
  if (!read.success) {
    return { why: firstIssue(read.error.issues, frame, "type") };
  }
  const { channelId = account } = read.data;
  return channelId === account ? read.data : { why: `channelId: this socket speaks for ${account}` };
}

function makeError(frame: JsonObject, message: string): JsonObject {
  const named: JsonObject = typeof frame.id === "string" ? { id: frame.id } : {};
  return { type: "error", ...named, error: { code: "BAD_REQUEST", message } };
}
