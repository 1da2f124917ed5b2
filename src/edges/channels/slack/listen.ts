/** Listening: in socket mode over a connection of ours; otherwise Slack posts its events, and only what was missed is read here. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { untilAborted } from "../../../core/kit/index.ts";
import { Lines } from "../lines.ts";
import { catchUp } from "./catch-up.ts";
import { connect } from "./connection.ts";
import type { SlackMe } from "./events.ts";
import { hear, readEnvelope } from "./hear.ts";
import { askForSocket, type SlackState } from "./state.ts";

export async function listen(state: SlackState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const me = await state.self.get(signal);
  door.known(`@${me.name} in ${me.team}`);
  let fail = (_: unknown): void => {};
  const lines = new Lines((error) => fail(error));
  await catchUp(state, door, { lines, me }, signal);
  const { appToken } = state.config;
  const line = appToken ? openLine(state, door, { appToken, lines, me }, signal) : standBy(door, signal);
  fail = line.fail;
  await line.done;
}

interface Connection {
  done: Promise<void>;
  /** Ends it from outside: a message could not be taken. */
  fail(error: unknown): void;
}

function openLine(
  state: SlackState,
  door: ChannelHost,
  { appToken, lines, me }: { appToken: string; lines: Lines; me: SlackMe },
  signal: AbortSignal,
): Connection {
  return connect(
    {
      clock: state.clock,
      alive: () => door.alive(),
      open: (on) => askForSocket(state, appToken, on),
      take: (envelope, acknowledge) => {
        const event = readEnvelope(state, door, envelope, me);
        if (!event) return acknowledge();
        void lines.push(event.chat.id, async () => {
          await hear(state, door, event);
          acknowledge();
        });
      },
    },
    signal,
  );
}

/** Events come by themselves, so nothing is held open. */
function standBy(door: ChannelHost, signal: AbortSignal): Connection {
  door.alive();
  let fail = (_: unknown): void => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  return { done: Promise.race([untilAborted(signal), failed]), fail };
}
