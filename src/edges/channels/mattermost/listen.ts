/** Listening: the event stream, after what was missed has been read. Each chat keeps its order; a slow file holds up no other chat. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { Lines } from "../lines.ts";
import { catchUp } from "./catch-up.ts";
import { connect } from "./connection.ts";
import { fromStream } from "./events.ts";
import type { MattermostState } from "./state.ts";

export async function listen(state: MattermostState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const { name } = await state.self.refresh(signal);
  door.known(name);
  const life = new AbortController();
  const lines = new Lines((error) => life.abort(error));
  const stop = AbortSignal.any([signal, life.signal]);
  try {
    const { api, config } = state;
    const stream = connect(api.socketUrl, config.token, { alive: () => door.alive(), signal: stop });
    // The stream first: what is posted while the gap is read waits in it.
    await stream.opened;
    const position = await catchUp(state, door, signal);
    for await (const given of stream.events()) {
      const { event, createdAt = 0 } = await fromStream(state, door, given, signal);
      position.since = Math.max(position.since, createdAt);
      const now = { ...position };
      if (event) void lines.push(event.chat.id, async () => void (await door.hear([event], now)));
    }
  } finally {
    lines.end();
    life.abort();
  }
}
