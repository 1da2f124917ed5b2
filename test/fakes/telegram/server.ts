/**
 * A FAKE of Telegram's Bot API over real HTTP. It is not Telegram; it keeps these of its semantics:
 *
 * - getUpdates: an update is gone only when a higher offset is asked for; until then it comes again, also after a crash. Long
 *   poll; a second poller ends the first with 409; 409 while a webhook is set.
 * - setWebhook with a secret token: updates are posted in order, each again until a 2xx.
 * - sendMessage has no idempotency key: what is sent twice is shown twice. 4096 characters after parsing, HTML refused in Telegram's
 *   words ("can't parse entities"), "message is not modified", callback data of 1–64 bytes.
 * - 429 with retry_after: ordered by `faults`, or by `limits` (messages per chat).
 * - Topics (message_thread_id), reactions, files with 20 MB for a download, callback queries answered once.
 *
 * Numbers stand for people and private chats when positive, for groups when negative, as at Telegram.
 *
 * Acknowledgement: an update is confirmed by asking for a higher offset, or by a 2xx to the webhook; until then it comes again.
 *
 * Documentation: https://core.telegram.org/bots/api
 * Documentation: https://core.telegram.org/bots/faq (limits: messages a second and a minute)
 */

import { Buffer } from "node:buffer";
import { pretend } from "../../support/pretend.ts";
import { type Answer, asked, type Call, startWire, type Upload, type Wire } from "../wire/index.ts";
import { parseHtml } from "./html.ts";
import type { Loose, Person, Shown, TelegramFake } from "./types.ts";

class Refused extends Error {
  readonly code: number;
  readonly parameters?: Loose;
  constructor(code: number, description: string, parameters?: Loose) {
    super(description);
    this.code = code;
    if (parameters) this.parameters = parameters;
  }
}

/** Telegram keeps trying a webhook; the real waits are seconds and more. */
const WEBHOOK_RETRY_MS = 50;
const MAX_TEXT = 4096;
const MAX_DOWNLOAD = 20 * 1024 * 1024;

export async function startTelegram(options: { token?: string; username?: string } = {}): Promise<TelegramFake> {
  const token = options.token ?? "7000001:fake-telegram-token-for-tests";
  const bot = { id: Number(token.split(":")[0]), username: options.username ?? "lares_test_bot" };
  const updates: (Loose & { update_id: number })[] = [];
  const files = new Map<string, { path: string; bytes: Buffer; size: number }>();
  const openQueries = new Set<string>();
  const lastTo = new Map<number, number>();
  const recent: number[] = [];
  let nextUpdate = 100;
  let nextMessage = 1;
  let poller: { end(result: Loose[] | Refused): void } | undefined;
  let delivering = false;
  let server: Wire;

  // ── what a bot may ask ──────────────────────────────────────────────────────────────────────────────────────────
  const methods: Record<string, (p: Loose, files: Map<string, Upload>, gone: AbortSignal) => unknown> = {
    getMe: () => ({
      ...bot,
      is_bot: true,
      first_name: "Lares",
      can_join_groups: true,
      can_read_all_group_messages: false,
    }),
    getUpdates: (p, _, gone) => poll(p, gone),
    setWebhook(p) {
      const secret = p.secret_token as string | undefined;
      if (secret !== undefined && !/^[A-Za-z0-9_-]{1,256}$/.test(secret)) {
        throw new Refused(400, "Bad Request: secret token contains unallowed characters");
      }
      fake.webhook = p.url ? { url: p.url as string, ...(secret ? { secret } : {}) } : undefined;
      void deliver();
      return true;
    },
    deleteWebhook(p) {
      fake.webhook = undefined;
      if (p.drop_pending_updates) updates.length = 0;
      return true;
    },
    getWebhookInfo: () => ({ url: fake.webhook?.url ?? "", pending_update_count: updates.length }),
    sendMessage(p) {
      const chat = chatOf(p);
      respectLimits(chat);
      const { text, source } = textOf(p, p.text);
      return messageOf(show({ chat, text, source, ...placing(p), buttons: buttonsOf(p) }));
    },
    editMessageText(p) {
      const message = find(p, "edit");
      respectLimits(message.chat);
      const { text, source } = textOf(p, p.text);
      const buttons = buttonsOf(p);
      if (text === message.text && JSON.stringify(buttons) === JSON.stringify(message.buttons)) {
        throw new Refused(
          400,
          "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
        );
      }
      Object.assign(message, { text, source, buttons, edits: message.edits + 1 });
      return messageOf(message);
    },
    deleteMessage(p) {
      const message = find(p, "delete");
      message.deleted = true;
      return true;
    },
    sendChatAction: (p) => chatOf(p) !== 0,
    setMessageReaction(p) {
      const reactions = (p.reaction as { emoji: string }[] | undefined) ?? [];
      fake.reactions.push({ chat: chatOf(p), message: Number(p.message_id), emoji: reactions.map((r) => r.emoji) });
      return true;
    },
    answerCallbackQuery(p) {
      const id = String(p.callback_query_id);
      if (!openQueries.delete(id)) {
        throw new Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid");
      }
      fake.answered.push({ id, ...(p.text ? { text: String(p.text) } : {}) });
      return true;
    },
    sendDocument: (p, files) => upload("document", p, files),
    sendPhoto: (p, files) => upload("photo", p, files),
    getFile(p) {
      const file = files.get(String(p.file_id));
      if (!file) throw new Refused(400, "Bad Request: invalid file_id");
      if (file.size > MAX_DOWNLOAD) throw new Refused(400, "Bad Request: file is too big");
      return { file_id: p.file_id, file_unique_id: `u${p.file_id}`, file_size: file.size, file_path: file.path };
    },
    setMyCommands: () => true,
  };

  async function handle(call: Call): Promise<Answer> {
    const [, isFile, given, rest] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(call.path) ?? [];
    if (!rest) return refusal(new Refused(404, "Not Found"));
    if (given !== token) return refusal(new Refused(401, "Unauthorized"));
    if (isFile) return download(rest);
    const { fields, files } = asked(call);
    const params = unpack(fields);
    const done = (status: number, answer: Answer) => {
      if (rest !== "getUpdates") fake.calls.push({ method: rest, params, at: Date.now(), status });
      return answer;
    };
    try {
      const run = methods[rest];
      if (!run) throw new Refused(404, "Not Found");
      const result = await run(params, files, call.gone);
      return done(200, { json: { ok: true, result } });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return done(error.code, refusal(error));
    }
  }

  // ── updates ─────────────────────────────────────────────────────────────────────────────────────────────────────
  function poll(p: Loose, gone: AbortSignal): Promise<Loose[]> {
    fake.polls++;
    if (fake.webhook) {
      throw new Refused(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    }
    if (poller) {
      fake.conflicts++;
      poller.end(
        new Refused(
          409,
          "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        ),
      );
    }
    const offset = Number(p.offset ?? 0);
    if (offset > 0) while (updates[0] && updates[0].update_id < offset) updates.shift();
    const limit = Math.min(Number(p.limit ?? 100), 100);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => mine.end([]), Number(p.timeout ?? 0) * 1000);
      const mine = {
        end(result: Loose[] | Refused) {
          clearTimeout(timer);
          if (poller === mine) poller = undefined;
          if (result instanceof Refused) reject(result);
          else resolve(result.slice(0, limit));
        },
      };
      // A client that went away is no poller any more.
      gone.addEventListener("abort", () => poller === mine && mine.end([]));
      poller = mine;
      if (updates.length) mine.end(updates);
    });
  }

  async function deliver(): Promise<void> {
    if (delivering) return;
    delivering = true;
    while (fake.webhook && updates[0]) {
      const { url, secret } = fake.webhook;
      const ok = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(secret ? { "x-telegram-bot-api-secret-token": secret } : {}),
        },
        body: JSON.stringify(updates[0]),
      }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.ok;
        },
        () => false,
      );
      if (ok) updates.shift();
      else await new Promise((resolve) => setTimeout(resolve, WEBHOOK_RETRY_MS));
    }
    delivering = false;
  }

  function update(body: Loose): number {
    const update_id = nextUpdate++;
    updates.push({ update_id, ...body });
    if (fake.webhook) void deliver();
    else poller?.end(updates);
    return update_id;
  }

  // ── messages ────────────────────────────────────────────────────────────────────────────────────────────────────
  function show(m: Omit<Shown, "message_id" | "edits" | "deleted">): Shown {
    const shown = { ...m, message_id: nextMessage++, edits: 0, deleted: false };
    fake.sent.push(shown);
    return shown;
  }

  function upload(kind: string, p: Loose, sent: Map<string, Upload>): unknown {
    const chat = chatOf(p);
    respectLimits(chat);
    const file = sent.get(kind) ?? [...sent.values()][0];
    if (!file) throw new Refused(400, `Bad Request: there is no ${kind} in the request`);
    const { text, source } = p.caption ? textOf(p, p.caption, 1024) : { text: "", source: "" };
    return messageOf(
      show({
        chat,
        text,
        source,
        ...placing(p),
        buttons: buttonsOf(p),
        file: { kind, name: file.filename ?? "", bytes: file.data },
      }),
    );
  }

  function respectLimits(chat: number): void {
    const moved = fake.moved.get(chat);
    if (moved !== undefined) {
      throw new Refused(400, "Bad Request: group chat was upgraded to a supergroup chat", {
        migrate_to_chat_id: moved,
      });
    }
    if (fake.blocked.has(chat)) throw new Refused(403, "Forbidden: bot was blocked by the user");
    const { perChatMs, perSecond } = fake.limits;
    const now = Date.now();
    while (recent[0] !== undefined && recent[0] <= now - 1000) recent.shift();
    if (perSecond && recent.length >= perSecond) throw tooMany(1);
    const wait = perChatMs - (now - (lastTo.get(chat) ?? 0));
    if (perChatMs && wait > 0) throw tooMany(Math.ceil(wait / 1000));
    lastTo.set(chat, now);
    recent.push(now);
  }

  function textOf(p: Loose, value: unknown, most = MAX_TEXT): { text: string; source: string } {
    const source = String(value ?? "");
    let text = source;
    if (p.parse_mode === "HTML") {
      const parsed = parseHtml(source);
      if ("error" in parsed) throw new Refused(400, parsed.error);
      text = parsed.text;
    }
    if (!text.trim()) throw new Refused(400, "Bad Request: message text is empty");
    if (text.length > most) throw new Refused(400, "Bad Request: message is too long");
    return { text, source };
  }

  function find(p: Loose, verb: string): Shown {
    const message = fake.sent.find((m) => m.chat === chatOf(p) && m.message_id === Number(p.message_id) && !m.deleted);
    if (!message) throw new Refused(400, `Bad Request: message to ${verb} not found`);
    return message;
  }

  function messageOf(m: Shown): Loose {
    return {
      message_id: m.message_id,
      from: { ...bot, is_bot: true, first_name: "Lares" },
      chat: chatObject(m.chat),
      date: Math.floor(Date.now() / 1000),
      ...(m.thread ? { message_thread_id: m.thread, is_topic_message: true } : {}),
      ...(m.file ? { [m.file.kind]: { file_id: `out${m.message_id}` } } : { text: m.text }),
    };
  }

  function download(path: string): Answer {
    const file = [...files.values()].find((f) => f.path === path);
    if (!file) return refusal(new Refused(404, "Not Found"));
    fake.downloads.push(path);
    return { body: file.bytes };
  }

  // ── what a test does ────────────────────────────────────────────────────────────────────────────────────────────
  const incoming = (chat: number, from: number | Person, more: Loose) => ({
    message_id: nextMessage++,
    date: Math.floor(Date.now() / 1000),
    chat: chatObject(chat),
    from: personOf(from),
    ...more,
  });

  const fake: TelegramFake = {
    url: "",
    token,
    bot,
    sent: [],
    calls: [],
    pending: () => updates.length,
    faults: pretend(undefined),
    retryAfter: 1,
    limits: { perChatMs: 0, perSecond: 0 },
    moved: new Map(),
    blocked: new Set(),
    reactions: [],
    answered: [],
    webhook: undefined,
    downloads: [],
    polls: 0,
    polling: () => poller !== undefined,
    conflicts: 0,
    update,
    say: (chat, from, text, more = {}) => update({ message: incoming(chat, from, { text, ...more }) }),
    edit: (chat, from, messageId, text) =>
      update({ edited_message: { ...incoming(chat, from, { text, edit_date: 1 }), message_id: messageId } }),
    press(from, button, messageId) {
      const message = fake.sent.findLast(
        (m) =>
          (messageId === undefined || m.message_id === messageId) &&
          m.buttons.some((b) => b.text === button || b.data === button),
      );
      if (!message) throw new Error(`no message has the button ${button}`);
      const id = `q${nextUpdate}`;
      openQueries.add(id);
      const data = message.buttons.find((b) => b.text === button || b.data === button)!.data;
      update({ callback_query: { id, from: personOf(from), message: messageOf(message), chat_instance: "1", data } });
      return id;
    },
    react: (chat, from, messageId, emoji) =>
      update({
        message_reaction: {
          chat: chatObject(chat),
          message_id: messageId,
          user: personOf(from),
          date: 1,
          old_reaction: [],
          new_reaction: [{ type: "emoji", emoji }],
        },
      }),
    sendFile(chat, from, { name, type, bytes, kind = "document", claims, caption }) {
      const file_id = `f${files.size + 1}`;
      const size = claims ?? bytes.length;
      files.set(file_id, { path: `${kind}s/${file_id}-${name}`, bytes, size });
      const one = { file_id, file_unique_id: `u${file_id}`, file_size: size };
      const body =
        kind === "photo"
          ? {
              photo: [
                { ...one, file_id: "small", width: 9, height: 9 },
                { ...one, width: 90, height: 90 },
              ],
            }
          : { [kind]: { ...one, file_name: name, mime_type: type } };
      update({ message: incoming(chat, from, { ...body, ...(caption ? { caption } : {}) }) });
      return file_id;
    },
    down: () => server.down(),
    up: () => server.up(),
    close: () => server.down(),
  };
  server = await startWire({ handle, limited: () => refusal(tooMany(fake.retryAfter)) });
  fake.faults = server.faults;
  fake.url = server.url;
  return fake;
}

function chatObject(id: number): Loose {
  return id > 0 ? { id, type: "private", first_name: `P${id}` } : { id, type: "supergroup", title: `Group ${-id}` };
}

function personOf(from: number | Person): Loose {
  const person = typeof from === "number" ? { id: from } : from;
  return { is_bot: false, first_name: `P${person.id}`, ...person };
}

function chatOf(p: Loose): number {
  const id = Number(p.chat_id);
  if (!Number.isInteger(id) || id === 0) throw new Refused(400, "Bad Request: chat not found");
  return id;
}

function placing(p: Loose): { thread?: number; replyTo?: number } {
  const reply = (p.reply_parameters as { message_id?: number } | undefined)?.message_id;
  return {
    ...(p.message_thread_id ? { thread: Number(p.message_thread_id) } : {}),
    ...(reply ? { replyTo: Number(reply) } : {}),
  };
}

function buttonsOf(p: Loose): { text: string; data: string }[] {
  const rows = (p.reply_markup as { inline_keyboard?: { text: string; callback_data: string }[][] } | undefined)
    ?.inline_keyboard;
  return (rows ?? []).flat().map(({ text, callback_data }) => {
    const size = Buffer.byteLength(callback_data ?? "");
    if (size < 1 || size > 64) throw new Refused(400, "Bad Request: BUTTON_DATA_INVALID");
    return { text, data: callback_data };
  });
}

function refusal({ code, message, parameters }: Refused): Answer {
  const json = { ok: false, error_code: code, description: message, ...(parameters ? { parameters } : {}) };
  return { status: code, json };
}

const tooMany = (seconds: number) =>
  new Refused(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });

/** In forms, objects come as JSON in a field. */
function unpack(fields: Loose): Loose {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value !== "string" || !/^[[{]/.test(value) || name === "text" || name === "caption")
        return [name, value];
      try {
        return [name, JSON.parse(value) as unknown];
      } catch {
        return [name, value];
      }
    }),
  );
}
