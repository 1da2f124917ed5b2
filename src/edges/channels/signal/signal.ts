/**
 * Signal, through a signal-cli daemon.
 *
 * In: signal-cli confirms to Signal by itself, before we have committed, and forgets what it has handed over. So a small process that
 * outlives a kill of Lares holds the stream and writes down what comes (listener.ts); we read what it wrote and commit how far
 * (mailbox.ts). With `--receive-mode=on-connection` messages wait at Signal while nobody listens.
 * Out: `send` takes no key and is never repeated when its outcome is unknown.
 */
import type { Channel, Door, Outgoing, Placed, PlatformEvent } from "../../../core/contracts/index.ts";
import type { ReplyRoute } from "../../../core/domain/index.ts";
import type { AdapterParts } from "../account.ts";
import { asList, asNumber, asObject, asText } from "../api.ts";
import { Batches, Lines } from "../lines.ts";
import { failedIfUncertain, refused } from "../sending.ts";
import { SignalRpc } from "./api.ts";
import type { SignalAccount } from "./config.ts";
import { mapEnvelope, type SignalFile } from "./events.ts";
import { Mailbox } from "./mailbox.ts";

/** A quiet stream is not a dead one: the daemon itself is asked this often. */
const ASK_MS = 30_000;

export function create({ account, config, folder }: AdapterParts<SignalAccount>): Channel {
  const rpc = new SignalRpc(config.url, config.number);

  async function run(door: Door, signal: AbortSignal): Promise<void> {
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
        await taking.take(
          said.flatMap((one) => door.read({ kind: "envelope", id: undefined, value: one }, () => toEvents(one)) ?? []),
          cursor,
        );
      }
    } finally {
      lines.end();
      clearInterval(ask);
    }
  }

  /** A daemon may serve several numbers. */
  function toEvents(said: Record<string, unknown>): PlatformEvent[] {
    if (said.account !== undefined && said.account !== config.number) return [];
    const mapped = mapEnvelope(said.envelope, config.number);
    if (!mapped) return [];
    const { event, files } = mapped;
    if (event.kind === "message" && files.length) event.files = files.map((file) => remote(file, event.chat));
    return [event];
  }

  function remote({ id, ...about }: SignalFile, chat: { id: string; kind: "direct" | "group" }) {
    const from = chat.kind === "group" ? { groupId: chat.id } : { recipient: chat.id };
    const open = async (signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
      const data = asText((await rpc.call("getAttachment", { id, ...from }, signal, true)).data);
      if (data === undefined) throw refused("signal-cli does not have this file.", "never");
      return (async function* () {
        yield Buffer.from(data, "base64");
      })();
    };
    return { ...about, open };
  }

  async function deliver(
    message: Outgoing,
    more: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<string | null> {
    const styles = asList(message.styles).map(asObject);
    const textStyle = styles.map((s) => `${asNumber(s.start)}:${asNumber(s.length)}:${asText(s.style)}`);
    const params = { ...to(message.route), message: message.text, ...(textStyle.length ? { textStyle } : {}), ...more };
    const timestamp = asNumber((await rpc.call("send", params, signal)).timestamp);
    return timestamp === undefined ? null : String(timestamp);
  }

  async function reaction(at: Placed, params: { emoji: string; remove?: true }, signal: AbortSignal): Promise<void> {
    const isOurs = !at.platformId.includes(":");
    const [author, timestamp] = isOurs ? [config.number, at.platformId] : at.platformId.split(":");
    const target = { targetAuthor: author, targetTimestamp: Number(timestamp) };
    await rpc.call("sendReaction", { ...to(at.route), ...params, ...target }, signal);
  }

  return {
    name: "signal",
    account,
    run,
    async check(signal) {
      const { version } = await rpc.call("version", {}, signal, true);
      return { id: config.number, name: config.number, note: `signal-cli ${asText(version) ?? ""}`.trim() };
    },

    async send(message, signal) {
      const attachments: string[] = [];
      for (const file of message.files ?? []) {
        const data = Buffer.from(await file.read()).toString("base64");
        attachments.push(`data:${file.mediaType};filename=${encodeURIComponent(file.name)};base64,${data}`);
      }
      return { platformId: await deliver(message, attachments.length ? { attachments } : {}, signal) };
    },

    async edit(at, message, signal) {
      await deliver(message, { editTimestamp: Number(at.platformId) }, signal).catch(failedIfUncertain);
    },

    async remove(at, signal) {
      await rpc.call("remoteDelete", { ...to(at.route), targetTimestamp: Number(at.platformId) }, signal);
    },

    react: (at, emoji, signal) => reaction(at, { emoji }, signal),
    unreact: (at, emoji, signal) => reaction(at, { emoji, remove: true }, signal),

    async typing(route, signal) {
      await rpc.call("sendTyping", to(route), signal, true);
    },
  };
}

/** Group ids are base64 of 32 bytes; people are known by service id or number. */
function to({ chat }: ReplyRoute): Record<string, unknown> {
  return isPerson(chat) ? { recipient: [chat] } : { groupId: chat };
}

function isPerson(id: string): boolean {
  return /^\+\d+$/.test(id) || /^(PNI:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}
