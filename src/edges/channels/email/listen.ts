/** Listening: take what is new in the mailbox, wait until the server reports more (IDLE), look again. */
import type { ImapFlow } from "imapflow";
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { following, pause } from "../../../core/kit/index.ts";
import { refused } from "../sending.ts";
import { findPosition, takeNew } from "./catch-up.ts";
import { connect } from "./connection.ts";
import type { EmailState } from "./state.ts";

/** Servers forget to report mail; a look costs one short command. */
const LOOK_MS = 60_000;
/** Keeps a server that can't wait (IDLE ends at once) from being asked without a pause. */
const AGAIN_MS = 100;

export async function listen(state: EmailState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const { config } = state;
  const client = await connect(state, signal);
  state.live = client;
  const watch = watchMailbox(client);
  try {
    await client.mailboxOpen(config.mailbox);
    door.known(config.address);
    let at = await findPosition(state, client, door);
    while (!signal.aborted) {
      // Set before the look: what comes during it wakes us at once.
      const arrived = new Promise<void>((resolve) => {
        watch.wake = resolve;
      });
      at = await takeNew(state, { client, door }, at);
      door.alive();
      if (watch.isClosed) throw closed();
      await waitForMail(state, { client, arrived, wake: watch.wake }, signal);
      if (watch.isClosed && !signal.aborted) throw closed();
    }
  } finally {
    state.live = undefined;
    client.close();
  }
}

function watchMailbox(client: ImapFlow): { isClosed: boolean; wake(): void } {
  const watch = { isClosed: false, wake: () => {} };
  client.on("exists", () => watch.wake());
  client.on("close", () => {
    watch.isClosed = true;
    watch.wake();
  });
  return watch;
}

async function waitForMail(
  { clock }: EmailState,
  { client, arrived, wake }: { client: ImapFlow; arrived: Promise<void>; wake: () => void },
  signal: AbortSignal,
): Promise<void> {
  const rest = new AbortController();
  // A command of ours (storing the copy in Sent) ends the waiting, too: then look again.
  const idle = client.idle().then(() => pause(clock, AGAIN_MS, rest.signal));
  idle.then(wake, wake);
  const both = following(signal, rest.signal);
  await Promise.race([arrived, pause(clock, LOOK_MS, both.signal)]);
  rest.abort();
  both.done();
}

function closed(): Error {
  return refused("The IMAP server closed the connection.", "later");
}
