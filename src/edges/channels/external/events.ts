/** The frames a program sends, and the event an `inbound_message` becomes. */
import { Readable } from "node:stream";
import { z } from "zod";
import type { PlatformEvent, RemoteFile } from "../../../core/contracts/index.ts";
import { truthy } from "../../../core/kit/index.ts";

const id = z.string().min(1).max(256);
const media = z.object({
  name: z.string().max(256).optional(),
  mediaType: z.string().max(128).optional(),
  data: z.base64(),
});

export const inboundFrame = z.object({
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
  media: z.array(media).max(8).optional(),
  timestamp: z.union([z.number(), z.string()]).optional(),
});
export const ackFrame = z.object({ type: z.literal("ack"), id });

export type InboundFrame = z.output<typeof inboundFrame>;

export function toEvent(frame: InboundFrame, now: number): PlatformEvent {
  const { userId, userName, chatId, threadId, group, forwarded } = frame;
  const at = typeof frame.timestamp === "string" ? Date.parse(frame.timestamp) : frame.timestamp;
  const files = (frame.media ?? []).map(toRemoteFile);
  return {
    kind: "message",
    id: frame.id,
    at: at !== undefined && Number.isFinite(at) ? at : now,
    chat: { id: chatId ?? userId, kind: group ? "group" : "direct", ...truthy({ thread: threadId }) },
    sender: { id: userId, ...truthy({ name: userName, isBot: frame.isBot }) },
    text: frame.content,
    addressed: !group || frame.addressed === true,
    ...truthy({ forwarded }),
    ...(forwarded ? truthy({ forwardedFrom: frame.forwardedFrom }) : {}),
    ...(frame.voice ? { voice: frame.content.trim() ? "transcribed" : "recorded" } : {}),
    ...(files.length ? { files } : {}),
  };
}

function toRemoteFile({ name, mediaType, data }: z.output<typeof media>): RemoteFile {
  return {
    ...truthy({ name, mediaType }),
    // Base64 has four characters for three bytes.
    bytes: Math.floor(data.length * 0.75),
    open: async () => Readable.from([Buffer.from(data, "base64")]),
  };
}
