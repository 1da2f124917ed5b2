/**
 * A FAKE of `signal-cli daemon --http` for tests (Debian has no signal-cli, and Signal has no test network). It speaks
 * JSON-RPC at POST /api/v1/rpc and server-sent events at GET /api/v1/events over real HTTP, and keeps what matters:
 * - signal-cli confirms a message to Signal itself. What was written to an event stream is gone: it is not written again to
 *   the next stream, whether the reader had stored it or not.
 * - it does not read from the stream's connection, so it notices that a reader is gone only when it writes: the first thing it
 *   writes after that (a message, or the sign of life every 15 s) goes nowhere.
 * - with `remembers` it is a signal-cli of late 2026: events have ids, the last 1,000 are kept while it runs, and a reader that
 *   names the last one it has (`Last-Event-ID`) is given what came after it; an unknown one, all of them.
 * - with `--receive-mode=on-connection` (kept here) nothing is fetched while nobody listens: it waits on Signal's side.
 * - a sent message is known by its timestamp; `send` takes no idempotency key: the same call twice is two messages.
 *
 * Acknowledgement: none towards us; signal-cli confirms to Signal itself before the message is handed over.
 *
 * Documentation: https://raw.githubusercontent.com/AsamK/signal-cli/master/man/signal-cli-jsonrpc.5.adoc
 * Documentation: https://raw.githubusercontent.com/AsamK/signal-cli/master/man/signal-cli.1.adoc
 */
import { type Answer, type Call, type Faults, startWire } from "../wire/index.ts";

export interface SignalShown {
  timestamp: number;
  /** A number, a service id, or a group id. */
  to: string;
  text: string;
  attachments: { name: string; type: string; data: Buffer }[];
  quote?: number;
  styles?: string[];
}

export interface SignalFake {
  url: string;
  account: string;
  faults: Faults;
  calls: string[];
  /** Messages as the other side sees them now: edits applied, deleted ones gone. */
  sent: SignalShown[];
  reactions: { to: string; emoji: string; target: number; remove?: boolean }[];
  typing: string[];
  /** How many streams listen. */
  listening: number;
  /** Messages waiting on Signal's side because nobody listens. */
  waiting: number;
  say(chat: string, from: string, text: string, more?: SayMore): number;
  react(chat: string, from: string, target: number, emoji: string): void;
  edit(chat: string, from: string, target: number, text: string): void;
  remove(chat: string, from: string, target: number): void;
  file(chat: string, from: string, file: { name: string; type: string; data: Buffer }, text?: string): number;
  /** The next message with a file arrives and nothing comes of it. Tells whether it arrived. */
  holdFile(): () => boolean;
  /** Cuts every event stream. */
  cut(): void;
  down(): Promise<void>;
  up(): Promise<void>;
}

interface SayMore {
  name?: string;
  group?: string;
  data?: Record<string, unknown>;
}

const ACCOUNT = "+15550000001";
/** As signal-cli writes one to every stream. */
const SIGN_OF_LIFE_MS = 15_000;

export async function startSignalFake({ remembers = false } = {}): Promise<SignalFake> {
  const sent: SignalShown[] = [];
  const reactions: SignalFake["reactions"] = [];
  const typing: string[] = [];
  const files = new Map<string, Buffer>();
  /** Who reads, and who did: a reader that is gone stays until it was written to. */
  const streams = new Map<Call["res"], "there" | "gone">();
  const waiting: object[] = [];
  const kept: { id: string; params: object }[] = [];
  const born = `${Date.now()}-`;
  let count = 0;
  let lastAt = 0;
  const tick = () => {
    lastAt = Math.max(Date.now(), lastAt + 1);
    return lastAt;
  };

  const wire = await startWire({
    handle(call) {
      if (call.path === "/api/v1/check") return { status: 200, body: "" };
      if (call.path === "/api/v1/events") return void listen(call);
      if (call.path !== "/api/v1/rpc") return { status: 404, body: "" };
      return rpc(call);
    },
    limited: () => ({
      json: { jsonrpc: "2.0", error: { code: -5, message: "Failed to send message due to rate limiting" }, id: null },
    }),
  });

  function listen(call: Call): void {
    call.res.writeHead(200, { "content-type": "text/event-stream" });
    call.res.write(":\n");
    const last = call.headers["last-event-id"];
    if (remembers && typeof last === "string") {
      const from = kept.findIndex(({ id }) => id === last) + 1;
      for (const { id, params } of kept.slice(from)) call.res.write(eventText(params, id));
    }
    streams.set(call.res, "there");
    call.gone.addEventListener("abort", () => {
      if (!streams.has(call.res)) return;
      streams.set(call.res, "gone");
      setTimeout(() => streams.delete(call.res), SIGN_OF_LIFE_MS).unref();
    });
    for (const params of waiting.splice(0)) hand(params);
  }

  /** Hands a message to whoever listens. From here on nobody but the reader has it. */
  function hand(params: object): void {
    if (!streams.size) return void waiting.push(params);
    const id = remembers ? `${born}${++count}` : undefined;
    if (id) kept.push({ id, params });
    if (kept.length > 1000) kept.shift();
    for (const [res, state] of streams) {
      if (state === "there") res.write(eventText(params, id));
      else streams.delete(res);
    }
  }

  function envelope(chat: string, from: string, more: SayMore, body: Record<string, unknown>): number {
    const timestamp = tick();
    const group = chat.startsWith("group.") ? { groupInfo: { groupId: chat, type: "DELIVER" } } : {};
    const inner = body.editMessage as { dataMessage: object } | undefined;
    const data = body.dataMessage as object | undefined;
    const isNumber = from.startsWith("+");
    hand({
      account: ACCOUNT,
      envelope: {
        source: from,
        sourceNumber: isNumber ? from : null,
        sourceUuid: isNumber ? uuidOf(from) : from,
        sourceName: more.name ?? from,
        sourceDevice: 1,
        timestamp,
        ...(data ? { dataMessage: { timestamp, message: null, ...group, ...data } } : {}),
        ...(inner ? { editMessage: { ...inner, dataMessage: { timestamp, ...group, ...inner.dataMessage } } } : {}),
        ...(body.typingMessage ? { typingMessage: body.typingMessage } : {}),
      },
    });
    return timestamp;
  }

  let holding = false;
  function rpc(call: Call): Answer | undefined {
    const { id, method, params = {} } = call.json as { id: string; method: string; params?: Record<string, unknown> };
    const to = String(params.groupId ?? (params.recipient as string[] | undefined)?.[0] ?? "");
    const ok = (result: unknown): Answer => ({ json: { jsonrpc: "2.0", result, id } });
    const bad = (code: number, message: string): Answer => ({ json: { jsonrpc: "2.0", error: { code, message }, id } });
    if (params.account !== undefined && params.account !== ACCOUNT)
      return bad(-32602, "Specified account does not exist");
    switch (method) {
      case "version":
        return ok({ version: "0.13.fake" });
      case "listGroups":
        return ok([]);
      case "send": {
        if (!to) return bad(-32602, "No recipients given");
        if (holding && (params.attachments as string[] | undefined)?.length) {
          holding = false;
          return undefined;
        }
        const timestamp = tick();
        const target = sent.find((m) => m.timestamp === params.editTimestamp);
        if (target) {
          target.text = String(params.message ?? "");
          return ok({ timestamp });
        }
        sent.push({
          timestamp,
          to,
          text: String(params.message ?? ""),
          attachments: ((params.attachments ?? []) as string[]).map(fromDataUri),
          ...(params.quoteTimestamp ? { quote: Number(params.quoteTimestamp) } : {}),
          ...(params.textStyle ? { styles: params.textStyle as string[] } : {}),
        });
        return ok({ timestamp, results: [{ recipientAddress: { uuid: to }, type: "SUCCESS" }] });
      }
      case "sendReaction":
        reactions.push({
          ...{ to, emoji: String(params.emoji), target: Number(params.targetTimestamp) },
          ...(params.remove ? { remove: true } : {}),
        });
        return ok({ timestamp: tick() });
      case "remoteDelete": {
        const at = sent.findIndex((m) => m.timestamp === params.targetTimestamp);
        if (at >= 0) sent.splice(at, 1);
        return ok({ timestamp: tick() });
      }
      case "sendTyping":
        if (!params.stop) typing.push(to);
        return ok({});
      case "getAttachment": {
        const data = files.get(String(params.id));
        return data ? ok({ data: data.toString("base64") }) : bad(-1, "No such attachment");
      }
      default:
        return bad(-32601, "Method not implemented");
    }
  }

  return {
    ...wire,
    account: ACCOUNT,
    sent,
    reactions,
    typing,
    get listening() {
      return [...streams.values()].filter((state) => state === "there").length;
    },
    get waiting() {
      return waiting.length;
    },
    say: (chat, from, text, more = {}) =>
      envelope(chat, from, more, { dataMessage: { message: text, attachments: [], ...more.data } }),
    react: (chat, from, target, emoji) =>
      void envelope(
        chat,
        from,
        {},
        {
          dataMessage: {
            reaction: {
              emoji,
              targetAuthor: ACCOUNT,
              targetAuthorNumber: ACCOUNT,
              targetSentTimestamp: target,
              isRemove: false,
            },
          },
        },
      ),
    edit: (chat, from, target, text) =>
      void envelope(chat, from, {}, { editMessage: { targetSentTimestamp: target, dataMessage: { message: text } } }),
    remove: (chat, from, target) =>
      void envelope(chat, from, {}, { dataMessage: { remoteDelete: { timestamp: target } } }),
    file(chat, from, file, text) {
      const id = `att${tick()}.bin`;
      files.set(id, file.data);
      const attachments = [{ contentType: file.type, filename: file.name, id, size: file.data.length }];
      return envelope(chat, from, {}, { dataMessage: { attachments, ...(text ? { message: text } : {}) } });
    },
    holdFile() {
      holding = true;
      return () => !holding;
    },
    cut() {
      for (const res of streams.keys()) res.destroy();
      streams.clear();
    },
  };
}

/** `data:<type>;filename=<name>;base64,<data>`, as signal-cli takes files without a path. */
function fromDataUri(uri: string): { name: string; type: string; data: Buffer } {
  const match = /^data:([^;]+);filename=([^;]+);base64,(.*)$/s.exec(uri);
  if (!match) return { name: uri, type: "path", data: Buffer.alloc(0) };
  return { type: match[1]!, name: decodeURIComponent(match[2]!), data: Buffer.from(match[3]!, "base64") };
}

function eventText(params: object, id?: string): string {
  return `${id ? `id:${id}\n` : ""}event:receive\ndata:${JSON.stringify(params)}\n\n`;
}

function uuidOf(number: string): string {
  return `00000000-0000-4000-8000-${number.slice(1).padStart(12, "0")}`;
}
