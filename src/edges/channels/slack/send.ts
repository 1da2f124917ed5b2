/** What leaves for Slack: text as its mrkdwn, buttons as blocks, files, reactions. One call each, never repeated here (CHANNEL-2). */
import type { Outgoing, Placed } from "../../../core/contracts/index.ts";
import type { JsonObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { asList, asObject, asText } from "../api.ts";
import { refused } from "../sending.ts";
import { type SlackApi, SlackRefusal } from "./api.ts";

/** A section's text in Slack. */
const MOST_SECTION = 3000;
const EVENT_TYPE = "lares_message";

export class SlackMessages {
  private readonly api: SlackApi;

  constructor(api: SlackApi) {
    this.api = api;
  }

  async send(message: Outgoing, signal: AbortSignal): Promise<{ platformId: string | null }> {
    if (message.files?.length) return this.sendFiles(message, signal);
    const sent = await this.api.call(
      "chat.postMessage",
      {
        ...placing(message),
        text: message.text,
        ...makeBlocks(message),
        unfurl_links: false,
        metadata: { event_type: EVENT_TYPE, event_payload: { key: message.key } },
      },
      signal,
    );
    return { platformId: asText(sent.ts) ?? null };
  }

  /** Whether a message is there, by the key it carries. Files carry none: of those nobody can tell. */
  async find(message: Outgoing, signal: AbortSignal): Promise<string | null | undefined> {
    if (message.files?.length) return undefined;
    const { chat, thread } = message.route;
    const asked = { channel: chat, limit: 100, include_all_metadata: true, ...truthy({ ts: thread }) };
    const found = await this.api.call(thread ? "conversations.replies" : "conversations.history", asked, signal, true);
    for (const one of asList(found.messages).map(asObject)) {
      const payload = asObject(asObject(one.metadata).event_payload);
      if (payload.key === message.key) return asText(one.ts) ?? null;
    }
    // A page that is not the whole is no proof that it is not there; but it would be among the newest.
    return null;
  }

  async edit(at: Placed, message: Outgoing, signal: AbortSignal): Promise<void> {
    // Left out, the old buttons would stay.
    const blocks = makeBlocks(message).blocks ?? [];
    const params = { channel: at.route.chat, ts: at.platformId, text: message.text, blocks };
    await this.api.call("chat.update", params, signal);
  }

  async remove(at: Placed, signal: AbortSignal): Promise<void> {
    await this.api.call("chat.delete", { channel: at.route.chat, ts: at.platformId }, signal);
  }

  async react(at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
    await this.reaction("reactions.add", at, emoji, signal);
  }

  async unreact(at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
    await this.reaction("reactions.remove", at, emoji, signal);
  }

  private async reaction(method: string, at: Placed, emoji: string, signal: AbortSignal): Promise<void> {
    const name = EMOJI[emoji.replace("\ufe0f", "")] ?? /^:?([\w+-]+):?$/.exec(emoji)?.[1];
    if (!name) throw refused(`Slack knows no name for ${emoji}.`, "never");
    try {
      await this.api.call(method, { channel: at.route.chat, timestamp: at.platformId, name }, signal);
    } catch (error) {
      if (!(error instanceof SlackRefusal) || !/^(already_reacted|no_reaction)$/.test(error.word)) throw error;
    }
  }

  /** A word only the presser sees. */
  async whisper(channel: string, user: string, text: string, thread: string | undefined, signal: AbortSignal) {
    const place = { channel, user, ...truthy({ thread_ts: thread }) };
    await this.api.call("chat.postEphemeral", { ...place, text }, signal);
  }

  /** Bytes first, then one call that puts them into the chat together with the text. */
  private async sendFiles(message: Outgoing, signal: AbortSignal): Promise<{ platformId: string | null }> {
    const files: JsonObject[] = [];
    for (const file of message.files ?? []) {
      const bytes = await file.read();
      const asked = { filename: file.name, length: bytes.byteLength };
      const { upload_url, file_id } = await this.api.call("files.getUploadURLExternal", asked, signal, true);
      await this.api.upload(String(upload_url), bytes, signal);
      files.push({ id: String(file_id), title: file.name });
    }
    const { chat, thread } = message.route;
    const place = { channel_id: chat, ...truthy({ thread_ts: thread }) };
    const comment: JsonObject = message.text ? { initial_comment: message.text } : {};
    await this.api.call("files.completeUploadExternal", { files, ...place, ...comment }, signal);
    return { platformId: null };
  }
}

function placing({ route }: Outgoing): JsonObject {
  return { channel: route.chat, ...truthy({ thread_ts: route.thread }) };
}

function makeBlocks({ text, buttons }: Outgoing): { blocks?: JsonObject[] } {
  if (!buttons?.length) return {};
  const sections = cut(text, MOST_SECTION).map((piece) => ({
    type: "section",
    text: { type: "mrkdwn", text: piece },
  }));
  const elements = buttons.map(({ id, label, kind }, i) => ({
    type: "button",
    action_id: `lares_${i}`,
    value: id,
    text: { type: "plain_text", text: label },
    ...(kind === "plain" ? {} : { style: kind === "yes" ? "primary" : "danger" }),
  }));
  return { blocks: [...sections, { type: "actions", elements }] };
}

/** At line ends where there are some. */
function cut(text: string, most: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const line = rest.lastIndexOf("\n", most);
    const at = line > 0 ? line : most;
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at).replace(/^\n/, "");
  }
  return [...pieces, rest].filter(Boolean);
}

const EMOJI: Readonly<Record<string, string>> = {
  "👍": "thumbsup",
  "👎": "thumbsdown",
  "👀": "eyes",
  "✅": "white_check_mark",
  "❌": "x",
  "❤": "heart",
  "🎉": "tada",
  "🔥": "fire",
  "🙏": "pray",
  "🤔": "thinking_face",
  "😂": "joy",
  "⏳": "hourglass_flowing_sand",
};
