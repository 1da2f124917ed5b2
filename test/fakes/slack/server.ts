/**
 * A FAKE of Slack over real HTTP and WebSocket. It is not Slack; it keeps these of its semantics:
 *
 * - Socket mode: `apps.connections.open` gives a one-time address; `hello`; every event in an envelope that must be acked within
 *   `ackMs`, else it comes again with `retry_attempt`, at most three times, then it is gone for ever. What was not acked on a
 *   broken connection comes again on the next. `disconnect` frames ask for a new connection. While nobody is connected events
 *   are kept (a short stop) or lost (`holdsWhileAway = false`: a stop longer than Slack's retries, about six minutes).
 * - Events API: signed posts with the same three retries and their headers; interactive payloads as a form.
 * - chat.postMessage has no idempotency key: what is sent twice is shown twice. Message metadata can be read back from history.
 * - 429 with Retry-After; per-channel limit by `limits`. `ok: false` with an error word for the rest, on status 200.
 * - Files: upload in three calls; a download without the token answers 200 with a login page.
 * - Threads by thread_ts, reactions, ephemeral messages, history with `oldest`.
 *
 * Acknowledgement: an envelope by its id, a post by a 2xx; what is not acknowledged comes again three times, then never.
 *
 * Documentation: https://docs.slack.dev/apis/events-api/using-socket-mode/
 * Documentation: https://docs.slack.dev/apis/events-api/ (retries, signatures)
 * Documentation: https://docs.slack.dev/reference/events/message/message_deleted/
 * Documentation: https://docs.slack.dev/reference/methods/files.completeUploadExternal/
 * Documentation: https://docs.slack.dev/reference/methods/reactions.remove/
 */

import { WebSocketServer } from "ws";
import { pretend } from "../../support/pretend.ts";
import { type Answer, asked, type Call, startWire, type Wire } from "../wire/index.ts";
import { Delivery } from "./delivery.ts";
import type { Loose, SlackFake, SlackMessage } from "./types.ts";

export async function startSlack(): Promise<SlackFake> {
  const team = "T0TEST";
  const botUser = "U0BOT";
  const history: SlackMessage[] = [];
  const files = new Map<string, { name: string; bytes: Buffer; mimetype: string; size: number }>();
  const uploads = new Map<string, { name: string; bytes?: Buffer }>();
  const tickets = new Set<string>();
  const lastTo = new Map<string, number>();
  let clock = Date.now() * 1000;
  let ids = 0;
  let server: Wire;
  const nextTs = () => {
    // Microseconds, strictly rising: a ts is the message's id in its channel.
    clock = Math.max(clock + 100, Date.now() * 1000);
    return `${Math.floor(clock / 1e6)}.${String(clock % 1e6).padStart(6, "0")}`;
  };

  // ── what an app may ask ─────────────────────────────────────────────────────────────────────────────────────────
  const methods: Record<string, (p: Loose) => Loose> = {
    "auth.test": () => ({
      url: "https://test.slack.com/",
      team: "Test",
      user: "lares",
      team_id: team,
      user_id: botUser,
      bot_id: fake.botId,
    }),
    "apps.connections.open"() {
      const ticket = `ticket-${++ids}`;
      tickets.add(ticket);
      return { url: `${server.url.replace("http", "ws")}/link?ticket=${ticket}&app_id=A0TEST` };
    },
    "chat.postMessage"(p) {
      const message = post(p);
      return { channel: message.channel, ts: message.ts, message: publicOf(message) };
    },
    "chat.postEphemeral"(p) {
      const message = post(p, { ephemeral: String(p.user) });
      return { message_ts: message.ts };
    },
    "chat.update"(p) {
      const message = find(p);
      limit(message.channel);
      message.text = textOf(p);
      if (p.blocks !== undefined) message.blocks = p.blocks as Loose[];
      message.edits++;
      return { channel: message.channel, ts: message.ts, text: message.text };
    },
    "chat.delete"(p) {
      find(p).deleted = true;
      return { channel: p.channel, ts: p.ts };
    },
    "reactions.add"(p) {
      const one = { channel: String(p.channel), ts: String(p.timestamp), name: String(p.name) };
      if (fake.reactions.some((r) => JSON.stringify(r) === JSON.stringify(one))) throw new Refused("already_reacted");
      fake.reactions.push(one);
      return {};
    },
    "reactions.remove"(p) {
      const one = { channel: String(p.channel), ts: String(p.timestamp), name: String(p.name) };
      const at = fake.reactions.findIndex((r) => JSON.stringify(r) === JSON.stringify(one));
      if (at < 0) throw new Refused("no_reaction");
      fake.reactions.splice(at, 1);
      return {};
    },
    "conversations.info": (p) => ({
      channel: { id: p.channel, is_im: String(p.channel).startsWith("D"), name: "general" },
    }),
    "conversations.open": (p) => ({ channel: { id: `D${String(p.users).slice(1)}` } }),
    "conversations.history"(p) {
      return page(
        p,
        history.filter((m) => m.channel === p.channel && (!m.thread_ts || m.thread_ts === m.ts)).reverse(),
      );
    },
    "conversations.replies"(p) {
      return page(
        p,
        history.filter((m) => m.channel === p.channel && (m.thread_ts === p.ts || m.ts === p.ts)),
      );
    },
    "users.info": (p) => ({
      user: { id: p.user, name: String(p.user).toLowerCase(), is_bot: false, real_name: `Person ${p.user}` },
    }),
    "files.getUploadURLExternal"(p) {
      if (!p.filename || !Number(p.length)) throw new Refused("invalid_arguments");
      const file_id = `F${++ids}`;
      uploads.set(file_id, { name: String(p.filename) });
      return { upload_url: `${server.url}/upload/${file_id}`, file_id };
    },
    "files.completeUploadExternal"(p) {
      const list = (typeof p.files === "string" ? JSON.parse(p.files) : p.files) as { id: string; title?: string }[];
      const done = list.map(({ id }) => {
        const upload = uploads.get(id);
        if (!upload?.bytes) throw new Refused("file_not_found");
        return { id, name: upload.name, bytes: upload.bytes };
      });
      post({ channel: p.channel_id, text: p.initial_comment ?? "", thread_ts: p.thread_ts }, { files: done });
      return { files: done.map(({ id, name }) => ({ id, title: name })) };
    },
  };

  function handle(call: Call): Answer {
    if (call.path.startsWith("/files/")) return download(call);
    const { fields, files: sent } = asked(call);
    if (call.path.startsWith("/upload/")) {
      const upload = uploads.get(call.path.slice("/upload/".length));
      if (upload) upload.bytes = [...sent.values()][0]?.data ?? call.body;
      return { status: upload ? 200 : 404, body: "OK" };
    }
    const method = call.path.replace("/api/", "");
    const expected = method === "apps.connections.open" ? fake.appToken : fake.botToken;
    const done = (answer: Answer, error?: string) => {
      fake.calls.push({ method, params: fields, at: Date.now(), ...(error ? { error } : {}) });
      return answer;
    };
    try {
      const run = methods[method];
      if (!run) throw new Refused("unknown_method");
      const { authorization } = call.headers;
      if (authorization !== `Bearer ${expected}`) throw new Refused(authorization ? "invalid_auth" : "not_authed");
      return done({ json: { ok: true, ...run(fields) } });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return done(refusal(error), error.message);
    }
  }

  function post(p: Loose, more: Partial<SlackMessage> = {}): SlackMessage {
    const channel = String(p.channel ?? "");
    if (!/^[CDG]\w+$/.test(channel)) throw new Refused("channel_not_found");
    limit(channel);
    const message: SlackMessage = {
      channel,
      ts: nextTs(),
      user: botUser,
      bot_id: fake.botId,
      text: more.files ? String(p.text ?? "") : textOf(p),
      edits: 0,
      deleted: false,
      ...(p.thread_ts ? { thread_ts: String(p.thread_ts) } : {}),
      ...(p.blocks ? { blocks: blocksOf(p.blocks as Loose[]) } : {}),
      ...(p.metadata ? { metadata: p.metadata as Loose } : {}),
      ...more,
    };
    fake.sent.push(message);
    if (!message.ephemeral) {
      history.push(message);
      // An app hears its own messages; not answering itself is the app's affair.
      const { ts, thread_ts, text } = message;
      event({
        type: "message",
        channel,
        channel_type: kindOf(channel),
        user: botUser,
        bot_id: fake.botId,
        text,
        ts,
        ...(thread_ts ? { thread_ts } : {}),
      });
    }
    return message;
  }

  function find(p: Loose): SlackMessage {
    const message = fake.sent.find((m) => m.channel === p.channel && m.ts === p.ts && !m.deleted);
    if (!message) throw new Refused("message_not_found");
    return message;
  }

  function limit(channel: string): void {
    const { perChannelMs } = fake.limits;
    const wait = perChannelMs - (Date.now() - (lastTo.get(channel) ?? 0));
    if (perChannelMs && wait > 0) throw new Refused("ratelimited", Math.ceil(wait / 1000));
    lastTo.set(channel, Date.now());
  }

  function page(p: Loose, all: SlackMessage[]): Loose {
    const oldest = String(p.oldest ?? "0");
    const latest = p.latest ? String(p.latest) : undefined;
    const wanted = all.filter((m) => !m.deleted && m.ts > oldest && (!latest || m.ts < latest));
    const most = Number(p.limit ?? 100);
    return { messages: wanted.slice(0, most).map(publicOf), has_more: wanted.length > most };
  }

  const publicOf = (m: SlackMessage): Loose => ({
    type: "message",
    user: m.user,
    text: m.text,
    ts: m.ts,
    ...(m.thread_ts ? { thread_ts: m.thread_ts } : {}),
    ...(m.bot_id ? { bot_id: m.bot_id } : {}),
    ...(m.metadata ? { metadata: m.metadata } : {}),
    ...(m.blocks ? { blocks: m.blocks } : {}),
    ...(m.files ? { files: m.files.map(({ id, name }) => ({ id, name })) } : {}),
  });

  function download(call: Call): Answer {
    const file = files.get(call.path.split("/")[2]!);
    if (call.headers.authorization !== `Bearer ${fake.botToken}` || !file) {
      return { headers: { "content-type": "text/html" }, body: "<!DOCTYPE html><title>Sign in to Slack</title>" };
    }
    fake.downloads.push(file.name);
    return { headers: { "content-type": file.mimetype }, body: file.bytes };
  }

  function event(body: Loose, id = `Ev${++ids}`): string {
    const payload = {
      token: "x",
      team_id: team,
      api_app_id: "A0TEST",
      event: body,
      type: "event_callback",
      event_id: id,
      event_time: Math.floor(Date.now() / 1000),
    };
    delivery.offer("events_api", payload);
    return id;
  }

  // ── what a test does ────────────────────────────────────────────────────────────────────────────────────────────
  const fake: SlackFake = {
    url: "",
    appToken: "xapp-1-fake-app-token-for-tests",
    botToken: "xoxb-fake-bot-token-for-tests",
    signingSecret: "fake-signing-secret-0123456789",
    botUser,
    botId: "B0BOT",
    team,
    sent: [],
    calls: [],
    faults: pretend(undefined),
    retryAfter: 1,
    limits: { perChannelMs: 0 },
    ackMs: 3000,
    holdsWhileAway: true,
    reactions: [],
    downloads: [],
    acked: [],
    lost: [],
    connections: () => delivery.sockets.size,
    eventsUrl: undefined,
    interactiveUrl: undefined,
    say(channel, user, text, more = {}) {
      const ts = nextTs();
      const thread_ts = more.thread_ts as string | undefined;
      history.push({ channel, ts, user, text, edits: 0, deleted: false, ...(thread_ts ? { thread_ts } : {}) });
      event({ type: "message", channel, channel_type: kindOf(channel), user, text, ts, team, ...more });
      return ts;
    },
    event,
    edit(ts, text) {
      const message = history.find((m) => m.ts === ts)!;
      message.text = text;
      const { channel, user, thread_ts } = message;
      const now = {
        type: "message",
        user,
        text,
        ts,
        edited: { user, ts: nextTs() },
        ...(thread_ts ? { thread_ts } : {}),
      };
      event({
        type: "message",
        subtype: "message_changed",
        channel,
        channel_type: kindOf(channel),
        ts: nextTs(),
        message: now,
      });
    },
    remove(ts) {
      const message = history.find((m) => m.ts === ts)!;
      message.deleted = true;
      const { channel, user, text, thread_ts } = message;
      const previous_message = { type: "message", user, text, ts, ...(thread_ts ? { thread_ts } : {}) };
      const place = { channel, channel_type: kindOf(channel), ts: nextTs(), hidden: true };
      event({ type: "message", subtype: "message_deleted", ...place, deleted_ts: ts, previous_message });
    },
    react(user, channel, ts, reaction) {
      const item = { type: "message", channel, ts };
      event({ type: "reaction_added", user, reaction, item, item_user: botUser, event_ts: nextTs() });
    },
    press(user, button, ts) {
      const holds = (m: SlackMessage) =>
        (ts === undefined || m.ts === ts) && buttonsOf(m).find((b) => b.text === button || b.value === button);
      const message = fake.sent.findLast((m) => !m.deleted && holds(m));
      if (!message) throw new Error(`no message has the button ${button}`);
      const { action_id, block_id, value } = holds(message) as ReturnType<typeof buttonsOf>[number];
      const payload = {
        type: "block_actions",
        user: { id: user, team_id: team },
        api_app_id: "A0TEST",
        trigger_id: `trigger-${++ids}`,
        container: {
          type: "message",
          message_ts: message.ts,
          channel_id: message.channel,
          is_ephemeral: Boolean(message.ephemeral),
        },
        channel: { id: message.channel },
        message: publicOf(message),
        response_url: `${server.url}/respond`,
        actions: [{ type: "button", action_id, block_id, value, action_ts: nextTs() }],
      };
      delivery.offer("interactive", payload);
    },
    sendFile(channel, user, { name, type, bytes, claims, text = "" }) {
      const id = `F${++ids}`;
      files.set(id, { name, bytes, mimetype: type, size: bytes.length });
      const url = `${server.url}/files/${id}/${name}`;
      const file = {
        id,
        name,
        mimetype: type,
        size: claims ?? bytes.length,
        url_private: url,
        url_private_download: url,
      };
      return fake.say(channel, user, text, { subtype: "file_share", files: [file] });
    },
    disconnect(reason) {
      for (const socket of delivery.sockets)
        socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "fake" } }));
    },
    cutSockets() {
      for (const socket of delivery.sockets) socket.terminate();
    },
    down: () => server.down(),
    up: () => server.up(),
    async close() {
      delivery.stop();
      await server.down();
    },
  };
  const delivery = new Delivery(fake);
  const sockets = new WebSocketServer({ noServer: true });
  server = await startWire({
    handle,
    limited: () => refusal(new Refused("ratelimited", fake.retryAfter)),
    upgrade(req, socket, head) {
      const ticket = new URL(req.url ?? "/", "http://fake").searchParams.get("ticket") ?? "";
      // An address is good for one connection.
      if (!tickets.delete(ticket)) socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      else sockets.handleUpgrade(req, socket, head, (client) => delivery.connect(client));
    },
  });
  fake.url = server.url;
  fake.faults = server.faults;
  return fake;
}

class Refused extends Error {
  readonly retryAfter?: number;
  constructor(error: string, retryAfter?: number) {
    super(error);
    if (retryAfter !== undefined) this.retryAfter = retryAfter;
  }
}

function refusal({ message, retryAfter }: Refused): Answer {
  const json = { ok: false, error: message };
  return retryAfter === undefined ? { json } : { status: 429, json, headers: { "retry-after": String(retryAfter) } };
}

const kindOf = (channel: string) => (channel.startsWith("D") ? "im" : channel.startsWith("G") ? "group" : "channel");

function textOf(p: Loose): string {
  const text = String(p.text ?? "");
  if (!text && !(p.blocks as Loose[] | undefined)?.length) throw new Refused("no_text");
  if (text.length > 40_000) throw new Refused("msg_too_long");
  return text;
}

/** A section's text is at most 3000 characters, a button's value 2000; Slack gives each action an id when the app does not. */
function blocksOf(given: Loose[] | string): Loose[] {
  const blocks = (typeof given === "string" ? JSON.parse(given) : given) as Loose[];
  if (blocks.length > 50) throw new Refused("invalid_blocks");
  for (const block of blocks) {
    const text = (block.text as { text?: string } | undefined)?.text ?? "";
    if (text.length > 3000) throw new Refused("invalid_blocks");
    for (const element of (block.elements as { value?: string }[] | undefined) ?? []) {
      if ((element.value ?? "").length > 2000) throw new Refused("invalid_blocks");
    }
  }
  return blocks;
}

function buttonsOf(message: SlackMessage): { text: string; value: string; action_id: string; block_id: string }[] {
  return (message.blocks ?? [])
    .filter((block) => block.type === "actions")
    .flatMap((block) =>
      (block.elements as { text: { text: string }; value: string; action_id: string }[]).map((element) => ({
        text: element.text.text,
        value: element.value,
        action_id: element.action_id,
        block_id: String(block.block_id ?? "b1"),
      })),
    );
}
