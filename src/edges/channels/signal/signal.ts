/**
 * Signal, through a signal-cli daemon.
 *
 * In: signal-cli confirms to Signal by itself, before we have committed. With `--receive-mode=on-connection` messages wait at
 * Signal while nobody listens, so a restart loses nothing, and what is read from its stream is written down at once (spool.ts).
 * But what is between its socket and that write when the power goes is lost, and there is nobody to ask for it again.
 * Out: `send` takes no key and is never repeated when its outcome is unknown.
 */
import { type Channel, type Door, type Outgoing, SendUncertain } from "../../../core/contracts/index.ts";
import type { Json, ReplyRoute } from "../../../core/domain/index.ts";
import type { AdapterParts } from "../account.ts";
import { listOf, numberOf, objectOf, textOf } from "../api.ts";
import { Lines } from "../lines.ts";
import { refused } from "../sending.ts";
import { Spool, type Spooled } from "../spool.ts";
import type { SignalAccount } from "./config.ts";
import { mapEnvelope, type SignalFile } from "./events.ts";
import { SignalRpc } from "./rpc.ts";

/** A quiet stream is not a dead one: the daemon itself is asked this often. */
const ASK_MS = 30_000;

export function create({ account, config }: AdapterParts<SignalAccount>): Channel {
  const rpc = new SignalRpc(config.url, config.number);

  async function run(door: Door, signal: AbortSignal): Promise<void> {
    await rpc.call("version", {}, signal, true);
    door.known(config.number);
    const broken = new AbortController();
    const lines = new Lines((error) => broken.abort(error));
    const take = (one: Spooled & { written?: Promise<void> }) => {
      const mapped = mapEnvelope(one.value, config.number);
      if (!mapped) return;
      const { event, files } = mapped;
      if (event.kind === "message" && files.length) event.files = files.map((file) => remote(file, event.chat));
      void lines.push(event.chat.id, async () => {
        await one.written;
        await door.hear([event]);
        await one.done();
      });
    };
    const ask = setInterval(() => {
      rpc.call("version", {}, signal, true).then(
        () => door.alive(),
        (error: unknown) => broken.abort(error),
      );
    }, ASK_MS);
    try {
      const { spool, left } = await Spool.open(door);
      for (const one of left) take(one);
      for await (const params of rpc.events(() => door.alive(), AbortSignal.any([signal, broken.signal]))) {
        // A daemon may serve several numbers, and tells of much that is nothing to us.
        const isOurs = params.account === undefined || params.account === config.number;
        if (isOurs && mapEnvelope(params.envelope, config.number))
          take(await spool.put(objectOf(params.envelope) as Json));
      }
    } finally {
      lines.end();
      clearInterval(ask);
    }
  }

  function remote({ id, ...about }: SignalFile, chat: { id: string; kind: "direct" | "group" }) {
    const from = chat.kind === "group" ? { groupId: chat.id } : { recipient: chat.id };
    const open = async (signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
      const data = textOf((await rpc.call("getAttachment", { id, ...from }, signal, true)).data);
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
    const styles = listOf(message.styles).map(objectOf);
    const textStyle = styles.map((s) => `${numberOf(s.start)}:${numberOf(s.length)}:${textOf(s.style)}`);
    const params = { ...to(message.route), message: message.text, ...(textStyle.length ? { textStyle } : {}), ...more };
    const timestamp = numberOf((await rpc.call("send", params, signal)).timestamp);
    return timestamp === undefined ? null : String(timestamp);
  }

  return {
    name: "signal",
    account,
    run,
    async check(signal) {
      const { version } = await rpc.call("version", {}, signal, true);
      return { id: config.number, name: config.number, note: `signal-cli ${textOf(version) ?? ""}`.trim() };
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
      // The same edit again changes nothing people see, so an unknown outcome is only a failed one.
      await deliver(message, { editTimestamp: Number(at.platformId) }, signal).catch((error) => {
        throw error instanceof SendUncertain ? refused(error.message, "later", error) : error;
      });
    },

    async remove(at, signal) {
      await rpc.call("remoteDelete", { ...to(at.route), targetTimestamp: Number(at.platformId) }, signal);
    },

    async react(at, emoji, signal) {
      const [author, timestamp] = at.platformId.includes(":")
        ? at.platformId.split(":")
        : [config.number, at.platformId];
      const target = { targetAuthor: author, targetTimestamp: Number(timestamp) };
      await rpc.call("sendReaction", { ...to(at.route), emoji, ...target }, signal);
    },

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
