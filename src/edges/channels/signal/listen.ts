/** Listening: what the listener process wrote down is read batch by batch, and the daemon is asked now and then whether it lives. */
import type { ChannelHost, PlatformEvent, RemoteFile } from "../../../core/contracts/index.ts";
import { asText } from "../../../core/domain/index.ts";
import { Batches, Lines } from "../lines.ts";
import { refused } from "../sending.ts";
import type { SignalRpc } from "./api.ts";
import { mapEnvelope, type SignalFile } from "./events.ts";
import { Mailbox } from "./mailbox.ts";
import type { SignalState } from "./state.ts";

/** A quiet stream is not a dead one, so the daemon itself is asked this often. */
const ASK_MS = 30_000;

export async function listen(state: SignalState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const { rpc, config, folder } = state;
  await rpc.call("version", {}, signal, true);
  door.known(config.number);
  const mailbox = new Mailbox(folder(), rpc.events, await door.cursor());
  await mailbox.open(signal);
  door.alive();
  const broken = new AbortController();
  const lines = new Lines((error) => broken.abort(error));
  const taking = new Batches(door, lines);
  const ask = setInterval(() => {
    rpc.call("version", {}, signal, true).then(
      () => door.alive(),
      (error: unknown) => broken.abort(error),
    );
  }, ASK_MS);
  try {
    const ends = AbortSignal.any([signal, broken.signal]);
    for await (const { said, cursor } of mailbox.batches(() => door.cursor(), ends)) {
      door.alive();
      const events = said.flatMap(
        (one) => door.read({ kind: "envelope", id: undefined, value: one }, () => toEvents(state, one)) ?? [],
      );
      await taking.take(events, cursor);
    }
  } finally {
    lines.end();
    clearInterval(ask);
  }
}

/** A daemon may serve several numbers; only ours counts. */
function toEvents({ rpc, config }: SignalState, said: Record<string, unknown>): PlatformEvent[] {
  if (said.account !== undefined && said.account !== config.number) return [];
  const mapped = mapEnvelope(said.envelope, config.number);
  if (!mapped) return [];
  const { event, files } = mapped;
  if (event.kind === "message" && files.length) event.files = files.map((file) => toRemoteFile(rpc, file, event.chat));
  return [event];
}

function toRemoteFile(rpc: SignalRpc, { id, ...about }: SignalFile, chat: PlatformEvent["chat"]): RemoteFile {
  const from = chat.kind === "group" ? { groupId: chat.id } : { recipient: chat.id };
  const open = async (signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
    const data = asText((await rpc.call("getAttachment", { id, ...from }, signal, true)).data);
    if (data === undefined) throw refused("signal-cli doesn't have this file.", "never");
    return (async function* () {
      yield Buffer.from(data, "base64");
    })();
  };
  return { ...about, open };
}
