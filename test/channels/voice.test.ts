/** A voice message is marked as one by every adapter that can hear one: the model is told that nobody put it into words. */
import { expect, test } from "vitest";
import type { PlatformEvent } from "../../src/core/contracts/index.ts";
import { toEvent as discord } from "../../src/edges/channels/discord/events.ts";
import { mapEvent as matrix, roomEvent } from "../../src/edges/channels/matrix/events.ts";
import { mapEnvelope as signal } from "../../src/edges/channels/signal/events.ts";
import { toEvent as slack } from "../../src/edges/channels/slack/events.ts";
import { toEvent as telegram } from "../../src/edges/channels/telegram/events.ts";
import { mapBody as whatsapp } from "../../src/edges/channels/whatsapp/events.ts";
import { mapMessage as whatsappWeb } from "../../src/edges/channels/whatsapp-web/events.ts";

type Heard = PlatformEvent | "unreadable" | undefined;

const HEARS: Readonly<Record<string, (isVoice: boolean) => Heard>> = {
  telegram: (isVoice) => {
    const from = { id: 1, first_name: "Ann" };
    const said = { message_id: 1, date: 1, chat: { id: 1, type: "private" }, from };
    const sound = { file_id: "f", mime_type: "audio/ogg" };
    const message = { ...said, ...(isVoice ? { voice: sound } : { audio: sound }) };
    return telegram({ update_id: 1, message }, { id: 9, username: "bot" }, {} as Parameters<typeof telegram>[2]);
  },
  whatsapp: (isVoice) => {
    const audio = { id: "m1", mime_type: "audio/ogg", ...(isVoice ? { voice: true } : {}) };
    const messages = [{ id: "w1", from: "49", type: "audio", timestamp: "1", audio }];
    const value = { metadata: { phone_number_id: "100" }, messages };
    return whatsapp({ entry: [{ changes: [{ value }] }] }, "100").events[0]?.event;
  },
  "whatsapp-web": (isVoice) =>
    whatsappWeb(
      {
        key: { id: "1", remoteJid: "49@s.whatsapp.net", fromMe: false },
        message: { audioMessage: { mimetype: "audio/ogg", ptt: isVoice } },
      } as Parameters<typeof whatsappWeb>[0],
      { id: "50@s.whatsapp.net", lid: undefined },
    ),
  signal: (isVoice) => {
    const file = { contentType: "audio/aac", id: "a1", size: 5, ...(isVoice ? {} : { filename: "song.aac" }) };
    return signal({ sourceUuid: "u", timestamp: 1, dataMessage: { attachments: [file] } }, "+49")?.event;
  },
  matrix: (isVoice) => {
    const mark = isVoice ? { "org.matrix.msc3245.voice": {} } : {};
    const content = { msgtype: "m.audio", body: "sound.ogg", url: "mxc://x/y", ...mark };
    const event = roomEvent({ event_id: "$1", type: "m.room.message", sender: "@a:x", content })!;
    const me = { id: "@b:x", name: undefined };
    return matrix(event, { me, room: { id: "!r", isDirect: true }, replied: undefined, names: new Map() })?.event;
  },
  slack: (isVoice) => {
    const file = { id: "F1", mimetype: "audio/mp4", ...(isVoice ? { subtype: "slack_audio" } : {}) };
    const said = { type: "message", channel: "D1", user: "U1", text: "", ts: "1.0", files: [file] };
    return slack(said, { user: "U9", bot: "B9" }, {} as Parameters<typeof slack>[2]);
  },
  discord: (isVoice) => {
    const attachments = [{ filename: "voice-message.ogg", content_type: "audio/ogg", size: 5, url: "https://x/y" }];
    const said = { id: "1", channel_id: "2", author: { id: "3" }, content: "", attachments, flags: isVoice ? 8192 : 0 };
    return discord("MESSAGE_CREATE", said, "n", "9", {} as Parameters<typeof discord>[4]);
  },
};

test.each(Object.entries(HEARS))("%s", (_, hear) => {
  expect(hear(true)).toMatchObject({ kind: "message", voice: "recorded" });
  expect(hear(false)).toMatchObject({ kind: "message" });
  expect(hear(false)).not.toHaveProperty("voice");
});
