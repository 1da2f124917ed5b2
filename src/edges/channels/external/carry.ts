/**
 * A plugin at the other end (EXTERNAL-4): `channels/give` hands it a frame, `channels/take` waits for what it has to say. It is started by the
 * first request, and when it ends or fails, so does `run`: the account tries again after a wait.
 */
import { z } from "zod";
import type { ChannelHost, Peer } from "../../../core/contracts/index.ts";
import type { JsonObject } from "../../../core/domain/index.ts";
import { join } from "./speak.ts";
import { type ExternalState, nobodyThere } from "./state.ts";

const MOST_FRAMES = 1000;
const taken = z.object({ frames: z.array(z.record(z.string(), z.unknown())).max(MOST_FRAMES).default([]) });

export async function carry(state: ExternalState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const to = { plugin: state.config.plugin!, right: "channel" } as const;
  const { account, askPlugin } = state;
  if (!askPlugin) throw nobodyThere();
  const life = new AbortController();
  const end = () => life.abort();
  signal.addEventListener("abort", end, { once: true });
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const ask = (method: string, params: object) => askPlugin(to, method, { account, ...params }, life.signal);
  const peer: Peer = {
    send: (frame) => void ask("channels/give", { frame }).catch(fail),
    close: (why) => fail(new Error(why)),
  };
  const speaker = join(state, peer, door);
  const take = async () => {
    while (!life.signal.aborted) {
      const { frames } = taken.parse(await ask("channels/take", {}));
      door.alive();
      for (const frame of frames) speaker.take(frame as JsonObject);
    }
  };
  try {
    await Promise.race([take(), failed]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    end();
    signal.removeEventListener("abort", end);
    speaker.gone();
  }
}
