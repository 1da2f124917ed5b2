/**
 * A channel outside the process: a program connects to /ws with the role `channel` and passes messages both ways.
 *
 * EXTERNAL-1: an `inbound_message` is acknowledged after it is committed; the same id again is the same message.
 * EXTERNAL-2: an `outbound_message` is sent until it is acknowledged, one after another in each chat; it keeps its id, so that the
 *     program can leave out what it has seen. What is not acknowledged when a side dies is sent again.
 * EXTERNAL-3: one program speaks for an account. A second one takes the first one's place.
 */
import { z } from "zod";
import {
  type Channel,
  type Door,
  type Peer,
  type PlatformEvent,
  SendUncertain,
} from "../../../core/contracts/index.ts";
import { AppError, type JsonObject } from "../../../core/domain/index.ts";
import { isSameSecret, truthy } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { refused } from "../sending.ts";
import type { ExternalAccount } from "./config.ts";

/** A program that comes back within this time gets the message at once. Below the outbox's own patience. */
const PEER_MS = 20_000;
const ACK_MS = 20_000;
/** Messages that came and are not committed yet; more is a program that does not wait for anything. */
const MOST_WAITING = 1000;

const id = z.string().min(1).max(256);
const inbound = z.object({
  type: z.literal("inbound_message"),
  id,
  channelId: z.string().optional(),
  userId: id,
  userName: z.string().max(256).optional(),
  /** Where the answer goes; without it, to the person. */
  chatId: id.optional(),
  threadId: id.optional(),
  /** True: more people read there, and the rules of groups hold. */
  group: z.boolean().optional(),
  addressed: z.boolean().optional(),
  /** True: the person passes on what somebody else wrote. */
  forwarded: z.boolean().optional(),
  /** Whose words they were. */
  forwardedFrom: z.string().max(256).optional(),
  /** True: `content` is what the person said aloud, transcribed; empty, the recording is in `media`. */
  voice: z.boolean().optional(),
  isBot: z.boolean().optional(),
  content: z.string().max(500_000),
  media: z
    .array(
      z.object({ name: z.string().max(256).optional(), mediaType: z.string().max(128).optional(), data: z.base64() }),
    )
    .max(8)
    .optional(),
  timestamp: z.union([z.number(), z.string()]).optional(),
});
const ack = z.object({ type: z.literal("ack"), id });

export function create({ account, config, clock, log }: AdapterParts<ExternalAccount>): Channel {
  let peer: Peer | undefined;
  /** What was sent and not acknowledged: `lost` when the program goes. */
  const acks = new Map<string, { heard(): void; lost(): void }>();
  const arrivals = new Set<() => void>();
  let left: (error: Error) => void = () => {};
  const letGo = () => {
    for (const { lost } of [...acks.values()]) lost();
  };

  async function present(signal: AbortSignal): Promise<Peer> {
    if (peer) return peer;
    await new Promise<void>((resolve, reject) => {
      const done = (act: () => void) => {
        cancel();
        arrivals.delete(came);
        signal.removeEventListener("abort", late);
        act();
      };
      const came = () => done(resolve);
      const late = () => done(() => reject(refused("No program speaks for this account now.", "later")));
      const cancel = clock.after(PEER_MS, late);
      signal.addEventListener("abort", late, { once: true });
      arrivals.add(came);
    });
    return present(signal);
  }

  return {
    name: "external",
    account,

    /** Only to be seen in the status: connected while a program is. */
    async run(door, signal) {
      if (peer) door.alive();
      await new Promise<void>((resolve, reject) => {
        left = reject;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      peer?.close("the account is stopped or changed");
    },

    speak(token: string, other: Peer, door: Door) {
      if (!isSameSecret(token, config.token)) throw new AppError("UNAUTHORIZED", { message: "The token is wrong." });
      peer?.close("another program took its place");
      letGo();
      peer = other;
      door.alive();
      door.known(account);
      for (const came of [...arrivals]) came();
      let line = Promise.resolve();
      let waiting = 0;
      const hear = async (frame: z.output<typeof inbound>) => {
        try {
          const [heard] = await door.hear([toEvent(frame, clock.now())]);
          other.send({
            type: "ack",
            id: frame.id,
            outcome: heard!.outcome,
            ...truthy({ turn: heard!.turn }),
          });
        } catch (error) {
          log.warn("a message could not be taken", { error: String(error) });
          other.close("try again later");
        } finally {
          waiting--;
        }
      };
      return {
        take(frame: JsonObject) {
          const acked = ack.safeParse(frame);
          if (acked.success) return acks.get(acked.data.id)?.heard();
          const read = inbound.safeParse(frame);
          if (!read.success || (read.data.channelId !== undefined && read.data.channelId !== account)) {
            const issue = read.error?.issues[0];
            const why = issue
              ? `${issue.path.join(".") || "type"}: ${issue.message}`
              : `channelId: this socket speaks for ${account}`;
            const named: JsonObject = typeof frame.id === "string" ? { id: frame.id } : {};
            return other.send({ type: "error", ...named, error: { code: "BAD_REQUEST", message: why } });
          }
          if (++waiting > MOST_WAITING) return other.close("too many messages wait for their ack");
          line = line.then(() => hear(read.data));
        },
        gone() {
          if (peer !== other) return;
          peer = undefined;
          letGo();
          left(refused("No program speaks for this account now.", "later"));
        },
      };
    },

    async check() {
      const note =
        'Connect to /ws and send {"type":"req","id":"1","method":"connect","params":{"role":"channel","channelId":…,"token":…}}';
      return { id: account, name: account, note };
    },

    async send(message, signal) {
      const to = await present(signal);
      const { chat, thread } = message.route;
      await new Promise<void>((resolve, reject) => {
        const done = (act: () => void) => {
          cancel();
          acks.delete(message.key);
          signal.removeEventListener("abort", late);
          act();
        };
        const late = () => done(() => reject(new SendUncertain("The program did not acknowledge the message.")));
        const cancel = clock.after(ACK_MS, late);
        acks.set(message.key, { heard: () => done(resolve), lost: late });
        signal.addEventListener("abort", late, { once: true });
        to.send({
          type: "outbound_message",
          id: message.key,
          channelId: account,
          target: chat,
          ...truthy({ threadId: thread }),
          content: message.text,
        });
      });
      return { platformId: message.key };
    },
  };
}

function toEvent(frame: z.output<typeof inbound>, now: number): PlatformEvent {
  const { userId, userName, chatId, threadId, group, media } = frame;
  const at = typeof frame.timestamp === "string" ? Date.parse(frame.timestamp) : frame.timestamp;
  return {
    kind: "message",
    id: frame.id,
    at: at !== undefined && Number.isFinite(at) ? at : now,
    chat: { id: chatId ?? userId, kind: group ? "group" : "direct", ...truthy({ thread: threadId }) },
    sender: { id: userId, ...truthy({ name: userName, isBot: frame.isBot }) },
    text: frame.content,
    addressed: !group || frame.addressed === true,
    ...truthy({ forwarded: frame.forwarded }),
    ...(frame.forwarded && frame.forwardedFrom ? { forwardedFrom: frame.forwardedFrom } : {}),
    ...(frame.voice ? { voice: frame.content.trim() ? "transcribed" : "recorded" } : {}),
    ...(media?.length
      ? {
          files: media.map(({ data, ...about }) => ({
            ...truthy({ name: about.name, mediaType: about.mediaType }),
            bytes: Math.floor(data.length * 0.75),
            open: async () => [Buffer.from(data, "base64")] as unknown as AsyncIterable<Uint8Array>,
          })),
        }
      : {}),
  };
}
