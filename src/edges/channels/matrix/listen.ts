/** Listening: one long poll after another. The next one begins after the batch, and the position behind it, was handed over. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { asText } from "../../../core/domain/index.ts";
import { Batches, Lines } from "../lines.ts";
import { toEvents } from "./batch.ts";
import { answerInvites } from "./invites.ts";
import type { MatrixState } from "./state.ts";

export async function listen(state: MatrixState, door: ChannelHost, stop: AbortSignal): Promise<void> {
  const broken = new AbortController();
  const lines = new Lines((error) => broken.abort(error));
  try {
    await poll(state, door, new Batches(door, lines), AbortSignal.any([stop, broken.signal]));
  } finally {
    lines.end();
  }
}

async function poll(state: MatrixState, door: ChannelHost, batches: Batches, signal: AbortSignal): Promise<void> {
  const me = await state.self.refresh(signal);
  door.known(me.id);
  door.alive();
  let since = (await door.cursor()) as string | undefined;
  while (!signal.aborted) {
    const batch = await state.api.sync(since, signal);
    door.alive();
    const next = asText(batch.next_batch);
    if (!next) throw new Error("The Matrix homeserver's answer has no position.");
    // What was said before this account was added isn't ours to answer.
    const events = since === undefined ? [] : await toEvents(state, door, { batch, since, me }, signal);
    if (events.length || next !== since) await batches.take(events, next);
    await answerInvites(state, door, { batch, me }, signal);
    since = next;
  }
}
