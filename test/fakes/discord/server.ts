/**
 * A FAKE of Discord over real HTTP and WebSocket. It is not Discord; it keeps these of its semantics:
 *
 * - Gateway: HELLO, IDENTIFY → READY, heartbeats acknowledged, a sequence number on every dispatch. RESUME replays what came
 *   after the given number and ends with RESUMED, or INVALID_SESSION when the session is gone. RECONNECT (op 7), close codes
 *   (4004 bad token, 4007 bad sequence, 4014 intents), a zombie that takes heartbeats and says nothing.
 * - REST: create message with `nonce` and `enforce_nonce` answers the first message again for the same nonce; without it what is
 *   sent twice is shown twice. 2000 characters, edit, delete, typing, reactions, attachments, messages after an id.
 * - Interactions (button presses) must be called back within 3 s, once.
 * - Rate limits: headers of a bucket per channel, 429 with retry_after in seconds.
 * - Text of a message is empty for a bot without the MESSAGE_CONTENT intent, unless it is direct or mentions the bot.
 *
 * Acknowledgement: none of single events; a session resumed at a sequence number gets everything after it again.
 *
 * Documentation: https://discord.com/developers/docs/events/gateway
 * Documentation: https://discord.com/developers/docs/events/gateway-events#message-delete
 * Documentation: https://discord.com/developers/docs/resources/message
 * Documentation: https://discord.com/developers/docs/topics/rate-limits
 */

import { WebSocketServer } from "ws";
import { pretend } from "../../support/pretend.ts";
import { type Answer, asked, type Call, startWire, type Upload, type Wire } from "../wire/index.ts";
import { Gateway } from "./gateway.ts";
import type { DiscordFake, DiscordMessage, DiscordPerson, Loose } from "./types.ts";

const GUILD = "900000000000000001";
const MESSAGE_CONTENT = 1 << 15;
const REQUIRED_FOR_MESSAGES = (1 << 9) | (1 << 12);

export async function startDiscord(): Promise<DiscordFake> {
  const bot = { id: "800000000000000001", username: "lares", bot: true };
  const history: DiscordMessage[] = [];
  const files = new Map<string, Buffer>();
  const interactions = new Map<string, string>();
  const recent = new Map<string, number[]>();
  let server: Wire;
  let last = 0n;
  const snowflake = () => {
    // Ids rise with time; 1420070400000 is Discord's epoch.
    const now = BigInt(Date.now() - 1_420_070_400_000) << 22n;
    last = now > last ? now : last + 1n;
    return String(last);
  };

  // ── REST ────────────────────────────────────────────────────────────────────────────────────────────────────────
  type Run = (ids: string[], p: Loose, files: Map<string, Upload>) => unknown;
  const routes: [name: string, method: string, path: RegExp, run: Run][] = [
    [
      "gateway",
      "GET",
      /^\/gateway\/bot$/,
      () => ({
        url: server.url.replace("http", "ws"),
        shards: 1,
        session_start_limit: { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 },
      }),
    ],
    ["me", "GET", /^\/users\/@me$/, () => bot],
    ["dm", "POST", /^\/users\/@me\/channels$/, (_, p) => ({ id: String(p.recipient_id), type: 1 })],
    [
      "channel",
      "GET",
      /^\/channels\/(\d+)$/,
      ([id]) => ({
        id,
        type: fake.direct.has(id!) ? 1 : fake.threads.has(id!) ? 11 : 0,
        ...(fake.threads.has(id!) ? { parent_id: fake.threads.get(id!) } : {}),
      }),
    ],
    ["create", "POST", /^\/channels\/(\d+)\/messages$/, ([channel], p, sent) => create(channel!, p, sent)],
    ["list", "GET", /^\/channels\/(\d+)\/messages$/, ([channel], p) => list(channel!, p)],
    [
      "edit",
      "PATCH",
      /^\/channels\/(\d+)\/messages\/(\d+)$/,
      ([channel, id], p) => {
        const message = find(channel!, id!);
        if (p.content !== undefined) message.content = textOf(p, true);
        if (p.components !== undefined) message.components = p.components as Loose[];
        message.edits++;
        return bodyOf(message);
      },
    ],
    [
      "delete",
      "DELETE",
      /^\/channels\/(\d+)\/messages\/(\d+)$/,
      ([channel, id]) => {
        find(channel!, id!).deleted = true;
        return undefined;
      },
    ],
    ["typing", "POST", /^\/channels\/(\d+)\/typing$/, () => undefined],
    [
      "react",
      "PUT",
      /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/,
      ([channel, message, emoji]) => {
        const one = { channel: channel!, message: message!, emoji: decodeURIComponent(emoji!) };
        fake.reactions.push(one);
        fake.reacted.push(one);
        return undefined;
      },
    ],
    [
      "unreact",
      "DELETE",
      /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/,
      ([channel, message, emoji]) => {
        const isIt = (r: DiscordFake["reactions"][number]) =>
          r.channel === channel && r.message === message && r.emoji === decodeURIComponent(emoji!);
        fake.reactions = fake.reactions.filter((r) => !isIt(r));
        return undefined;
      },
    ],
    [
      "callback",
      "POST",
      /^\/interactions\/(\d+)\/([\w-]+)\/callback$/,
      ([id, token], p) => {
        if (interactions.get(id!) !== token) throw new Refused(404, 10062, "Unknown interaction");
        interactions.delete(id!);
        fake.callbacks.push({ id: id!, type: Number(p.type), ...(p.data ? { data: p.data as Loose } : {}) });
        return undefined;
      },
    ],
  ];

  function handle(call: Call): Answer {
    if (call.path.startsWith("/attachments/")) return download(call.path);
    const path = call.path.replace(/^\/api\/v10/, "");
    const found = routes.find(([, method, pattern]) => method === call.method && pattern.test(path));
    if (!found) return { status: 404, json: { message: "404: Not Found", code: 0 } };
    const [name, , pattern, run] = found;
    const ids = pattern.exec(path)!.slice(1);
    const { fields, files: sent } = asked(call);
    const { payload_json, ...rest } = fields;
    const params = typeof payload_json === "string" ? (JSON.parse(payload_json) as Loose) : rest;
    const done = (answer: Answer) => {
      fake.calls.push({ route: name, params, at: Date.now(), status: answer.status ?? 200 });
      return answer;
    };
    try {
      if (name !== "callback" && call.headers.authorization !== `Bot ${fake.token}`) {
        throw new Refused(401, 0, "401: Unauthorized");
      }
      const headers = name === "create" ? useBucket(ids[0]!) : {};
      const json = run(ids, params, sent);
      return done({ status: json === undefined ? 204 : 200, json, headers });
    } catch (error) {
      if (error instanceof TooMany) return done(tooMany(error.seconds));
      if (!(error instanceof Refused)) throw error;
      return done({ status: error.status, json: { message: error.message, code: error.code } });
    }
  }

  function useBucket(channel: string): Record<string, string> {
    const { perChannel, perMs } = fake.limits;
    if (!perChannel) return {};
    const now = Date.now();
    const used = (recent.get(channel) ?? []).filter((at) => at > now - perMs);
    const resetS = used.length ? (used[0]! + perMs - now) / 1000 : perMs / 1000;
    if (used.length >= perChannel) throw new TooMany(resetS);
    recent.set(channel, [...used, now]);
    return {
      "x-ratelimit-limit": String(perChannel),
      "x-ratelimit-remaining": String(perChannel - used.length - 1),
      "x-ratelimit-reset-after": String(resetS),
      "x-ratelimit-bucket": `messages-${channel}`,
    };
  }

  function create(channel: string, p: Loose, sent: Map<string, Upload>): Loose {
    const nonce = p.nonce === undefined ? undefined : String(p.nonce);
    if (nonce !== undefined && nonce.length > 25) throw new Refused(400, 50035, "Invalid Form Body");
    // Discord looks a few minutes back; here for ever.
    const before =
      nonce && p.enforce_nonce ? fake.sent.find((m) => m.nonce === nonce && m.channel === channel) : undefined;
    if (before) return bodyOf(before);
    const uploaded = [...sent.values()].map(({ filename = "", data }) => ({ name: filename, bytes: data }));
    const content = textOf(p, uploaded.length > 0);
    const reply = (p.message_reference as { message_id?: string } | undefined)?.message_id;
    const message = keep(channel, bot, content, {}, uploaded);
    if (nonce) message.nonce = nonce;
    if (reply) message.replyTo = reply;
    message.components = (p.components as Loose[] | undefined) ?? [];
    fake.sent.push(message);
    // A bot hears its own messages.
    emit(message);
    return bodyOf(message);
  }

  function list(channel: string, p: Loose): Loose[] {
    const after = BigInt(String(p.after ?? "0"));
    const found = history.filter((m) => m.channel === channel && !m.deleted && BigInt(m.id) > after);
    // The oldest after `after`, given newest first, as Discord does.
    return found
      .slice(0, Math.min(Number(p.limit ?? 50), 100))
      .reverse()
      .map(bodyOf);
  }

  function find(channel: string, id: string): DiscordMessage {
    const message = history.find((m) => m.channel === channel && m.id === id && !m.deleted);
    if (!message) throw new Refused(404, 10008, "Unknown Message");
    return message;
  }

  function download(path: string): Answer {
    const bytes = files.get(path);
    if (bytes) fake.downloads.push(path);
    return { status: bytes ? 200 : 404, body: bytes ?? "" };
  }

  // ── messages ────────────────────────────────────────────────────────────────────────────────────────────────────
  function emit(message: DiscordMessage, t = "MESSAGE_CREATE"): void {
    const body = bodyOf(message);
    const readable =
      fake.direct.has(message.channel) || message.author.id === bot.id || message.content.includes(`<@${bot.id}>`);
    gateway.dispatch(t, (intents) => {
      if (!(intents & REQUIRED_FOR_MESSAGES)) return undefined;
      return intents & MESSAGE_CONTENT || readable ? body : { ...body, content: "", attachments: [], components: [] };
    });
  }

  function keep(
    channel: string,
    author: DiscordPerson,
    content: string,
    more: Loose,
    uploaded: DiscordMessage["files"] = [],
  ): DiscordMessage {
    const id = snowflake();
    const message: DiscordMessage = {
      id,
      channel,
      author,
      content,
      components: [],
      edits: 0,
      deleted: false,
      files: uploaded,
      body: more,
    };
    history.push(message);
    return message;
  }

  function bodyOf(m: DiscordMessage): Loose {
    const mentions = [...m.content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => ({ id, username: `p${id}` }));
    return {
      id: m.id,
      type: 0,
      channel_id: m.channel,
      author: m.author,
      content: m.content,
      timestamp: new Date().toISOString(),
      edited_timestamp: m.edits ? new Date().toISOString() : null,
      mentions,
      attachments: [],
      components: m.components,
      ...(fake.direct.has(m.channel) ? {} : { guild_id: GUILD }),
      ...(m.nonce ? { nonce: m.nonce } : {}),
      ...m.body,
    };
  }

  // ── what a test does ────────────────────────────────────────────────────────────────────────────────────────────
  const fake: DiscordFake = {
    url: "",
    token: "fake-discord-token-for-tests",
    bot,
    sent: [],
    calls: [],
    faults: pretend(undefined),
    retryAfter: 1,
    limits: { perChannel: 0, perMs: 5000 },
    reactions: [],
    reacted: [],
    callbacks: [],
    downloads: [],
    heartbeatMs: 41_250,
    identifies: 0,
    resumes: 0,
    zombie: false,
    direct: new Set(),
    threads: new Map(),
    connections: () => gateway.sockets.size,
    listening: () => gateway.listening(),
    dispatch: (type, body) => gateway.dispatch(type, body),
    say(channel, from, text, more = {}) {
      const message = keep(channel, personOf(from), text, more);
      emit(message);
      return message.id;
    },
    edit(id, text) {
      const message = history.find((m) => m.id === id)!;
      message.content = text;
      message.edits++;
      emit(message, "MESSAGE_UPDATE");
    },
    remove(id) {
      const message = history.find((m) => m.id === id)!;
      message.deleted = true;
      const place = fake.direct.has(message.channel) ? {} : { guild_id: GUILD };
      gateway.dispatch("MESSAGE_DELETE", { id, channel_id: message.channel, ...place });
    },
    press(from, label, messageId) {
      const button = (m: DiscordMessage) =>
        m.components
          .flatMap((row) => (row.components as { label: string; custom_id: string }[]) ?? [])
          .find((b) => b.label === label || b.custom_id === label);
      const message = fake.sent.findLast(
        (m) => !m.deleted && (messageId === undefined || m.id === messageId) && button(m),
      );
      if (!message) throw new Error(`no message has the button ${label}`);
      const id = snowflake();
      const token = `interaction-token-${id}`;
      interactions.set(id, token);
      const isDirect = fake.direct.has(message.channel);
      gateway.dispatch("INTERACTION_CREATE", {
        id,
        token,
        type: 3,
        version: 1,
        application_id: "700000000000000001",
        channel_id: message.channel,
        ...(isDirect ? { user: personOf(from) } : { guild_id: GUILD, member: { user: personOf(from) } }),
        message: bodyOf(message),
        data: { component_type: 2, custom_id: button(message)!.custom_id },
      });
      return id;
    },
    react: (channel, from, messageId, emoji) =>
      gateway.dispatch("MESSAGE_REACTION_ADD", {
        user_id: from,
        channel_id: channel,
        message_id: messageId,
        emoji: { id: null, name: emoji },
        ...(fake.direct.has(channel) ? {} : { guild_id: GUILD }),
      }),
    sendFile(channel, from, { name, type, bytes, claims, text = "" }) {
      const path = `/attachments/${channel}/${files.size + 1}/${name}`;
      files.set(path, bytes);
      const attachment = {
        id: String(files.size),
        filename: name,
        content_type: type,
        size: claims ?? bytes.length,
        url: server.url + path,
        proxy_url: server.url + path,
      };
      return fake.say(channel, from, text, { attachments: [attachment] });
    },
    askReconnect() {
      for (const socket of gateway.sockets) socket.send(JSON.stringify({ op: 7, d: null, s: null, t: null }));
    },
    closeWith(code) {
      for (const socket of gateway.sockets) socket.close(code, "");
    },
    cutSockets() {
      for (const socket of gateway.sockets) socket.terminate();
    },
    forgetSessions: () => gateway.forget(),
    down: () => server.down(),
    up: () => server.up(),
    close: () => server.down(),
  };
  const gateway = new Gateway(fake);
  const sockets = new WebSocketServer({ noServer: true });
  server = await startWire({
    handle,
    limited: () => tooMany(fake.retryAfter),
    upgrade: (req, socket, head) => sockets.handleUpgrade(req, socket, head, (client) => gateway.connect(client)),
  });
  fake.url = server.url;
  fake.faults = server.faults;
  return fake;
}

class Refused extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

class TooMany extends Error {
  readonly seconds: number;
  constructor(seconds: number) {
    super("rate limited");
    this.seconds = seconds;
  }
}

function tooMany(seconds: number): Answer {
  return {
    status: 429,
    json: { message: "You are being rate limited.", retry_after: seconds, global: false },
    headers: {
      "retry-after": String(Math.ceil(seconds)),
      "x-ratelimit-reset-after": String(seconds),
      "x-ratelimit-remaining": "0",
    },
  };
}

function textOf(p: Loose, mayBeEmpty: boolean): string {
  const content = String(p.content ?? "");
  if (!content && !mayBeEmpty) throw new Refused(400, 50006, "Cannot send an empty message");
  if (content.length > 2000) throw new Refused(400, 50035, "Invalid Form Body");
  return content;
}

function personOf(from: string | DiscordPerson): DiscordPerson {
  return typeof from === "string" ? { id: from, username: `p${from}` } : { username: `p${from.id}`, ...from };
}
