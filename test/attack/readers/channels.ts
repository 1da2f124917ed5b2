/** What people and platforms send: messages, mails, names, files. */
import { quotedName, visible, visibleLine, withoutHidden } from "../../../src/core/kit/index.ts";
import { DiscordApi } from "../../../src/edges/channels/discord/api.ts";
import { toEvent as discordEvent } from "../../../src/edges/channels/discord/events.ts";
import {
  automatic,
  findThread,
  parseHeaders,
  parseResults,
  unproven,
} from "../../../src/edges/channels/email/headers.ts";
import { readHtml, writtenText } from "../../../src/edges/channels/email/reply.ts";
import { parseLine, readPerson, saidIn } from "../../../src/edges/channels/irc/line.ts";
import { mapEvent, roomEvent } from "../../../src/edges/channels/matrix/events.ts";
import { addressedIn } from "../../../src/edges/channels/named.ts";
import { mapEnvelope } from "../../../src/edges/channels/signal/events.ts";
import { SlackApi } from "../../../src/edges/channels/slack/api.ts";
import { toEvent as slackEvent } from "../../../src/edges/channels/slack/events.ts";
import { toEvents as teamsEvents } from "../../../src/edges/channels/teams/events.ts";
import { TelegramApi } from "../../../src/edges/channels/telegram/api.ts";
import { toEvent as telegramEvent } from "../../../src/edges/channels/telegram/events.ts";
import { mapBody } from "../../../src/edges/channels/whatsapp/events.ts";
import { mapMessage, pickPerson as personOfJid } from "../../../src/edges/channels/whatsapp-web/events.ts";
import { cleanName } from "../../../src/flow/attachments/name.ts";
import { Sniffer } from "../../../src/flow/attachments/sniff.ts";
import { envelope } from "../../../src/flow/inbox/envelope.ts";
import type { Rows } from "./reader.ts";

const slack = new SlackApi("http://127.0.0.1:1", "token");
const discord = new DiscordApi("http://127.0.0.1:1", "token");
const telegram = new TelegramApi("http://127.0.0.1:1", "token");
const user = { id: 7, is_bot: false, first_name: "A" };
const room = { me: { id: "@l:x", name: "lares" }, room: { id: "!r:x", isDirect: false }, replied: undefined };

function matrixEvent(text: string): unknown {
  const content = { msgtype: "m.text", body: text, "m.relates_to": { "m.in_reply_to": { event_id: "$b" } } };
  const event = roomEvent({ event_id: "$a", type: "m.room.message", sender: "@a:x", content });
  return mapEvent(event!, { ...room, names: new Map([["@a:x", text]]) });
}

function telegramUpdate(text: string): unknown {
  const chat = { id: 1, type: "group", title: text };
  const message = { message_id: 2, date: 3, chat, from: { ...user, first_name: text }, text };
  return telegramEvent({ update_id: 1, message }, { id: 9, username: "lares" }, telegram);
}

function teamsActivity(text: string): unknown {
  const recipient = { id: "l" };
  const mention = { type: "mention", text: text.slice(0, 1000), mentioned: recipient };
  const [from, conversation] = [{ id: "a", name: text }, { id: text }];
  return teamsEvents({ type: "message", id: "1", from, conversation, recipient, text, entities: [mention] });
}

function whatsappBody(text: string): unknown {
  const contacts = [{ wa_id: "1", profile: { name: text } }];
  const messages = [{ id: "a", from: "1", type: "text", text: { body: text } }];
  return mapBody(
    { entry: [{ changes: [{ value: { metadata: { phone_number_id: "9" }, contacts, messages } }] }] },
    "9",
  );
}

export const CHANNELS: Rows = {
  "a Slack message": (text) =>
    slackEvent({ type: "message", channel: "C1", user: "U1", ts: "1.2", text }, { user: "U9", bot: "B9" }, slack),
  "a Discord message": (text) =>
    discordEvent(
      "MESSAGE_CREATE",
      { id: "1", channel_id: "2", author: { id: text }, content: text },
      "n",
      "9",
      discord,
    ),
  "a Matrix message": matrixEvent,
  "a Telegram message": telegramUpdate,
  "a Teams activity": teamsActivity,
  "a Signal envelope": (text) =>
    mapEnvelope({ sourceUuid: "u", sourceName: text, timestamp: 1, dataMessage: { message: text } }, "+1"),
  "a WhatsApp message": whatsappBody,
  "a message of WhatsApp on the web": (text) =>
    mapMessage(
      { key: { id: "1", remoteJid: "1@s.whatsapp.net" }, message: { conversation: text } },
      { id: "9@s.whatsapp.net", lid: undefined },
    ),
  "a WhatsApp sender": (text) => personOfJid(text),
  "an IRC line": (text) => {
    const line = parseLine(text);
    return line && readPerson(line);
  },
  "an IRC line with tags": (text) => parseLine(`@${text}`),
  "an IRC sender": (text) => readPerson({ tags: {}, from: text, command: "PRIVMSG", params: [] }),
  "words on IRC": (text) => [saidIn(text), saidIn(`\x01ACTION ${text}`)],
  "an address by name": (text) => addressedIn(text, "lares"),
  "a mail that answers": (text) => writtenText(text, true),
  "a mail in HTML": readHtml,
  "a mail's headers": (text) => {
    const headers = parseHeaders(text);
    return [automatic(headers), findThread(headers, "a")];
  },
  "a mail server's verdict": parseResults,
  "a mail server's verdict behind its name": (text) => parseResults(`mx.example.org; dkim=pass ${text}`),
  "a mail's proof": (text) => {
    const headers = parseHeaders(`From: a@b.example\nAuthentication-Results: mx.example.org; ${text}`);
    return unproven(headers, text, { authserv: ["mx.example.org"], authenticate: true });
  },
  "a sender's name": (text) => quotedName(text),
  "an envelope": (text) =>
    envelope({
      ...{ at: 2, saidAt: 1, zone: "UTC", channel: "c", label: text, files: [text], forwardedFrom: text },
      ...{ speaker: { name: text, standing: "guest" }, answers: { name: text, text } },
    }),
  "an attachment's name": cleanName,
  "an attachment's bytes": (text) => {
    const sniffer = new Sniffer();
    sniffer.take(Buffer.from(text));
    return sniffer.end(text);
  },
  "text made visible": (text) => [visible(text), visibleLine(text)],
  "text without hidden characters": withoutHidden,
};
