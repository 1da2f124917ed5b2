/**
 * Slack, by socket mode or by signed posts of the Events API.
 *
 * SLACK-1: an event is acknowledged after it is committed. Slack says one again that was not, three times within minutes, then never:
 *     after a stop that was longer, each chat that was talked in is read from where it was left.
 * SLACK-2: each message carries its key as metadata, so that one whose answer is lost can be looked for.
 */
import { createHmac } from "node:crypto";
import type {
  Channel,
  ChannelAnswer,
  ChannelRequest,
  Door,
  Heard,
  PlatformEvent,
} from "../../../core/contracts/index.ts";
import { AppError, type JsonObject } from "../../../core/domain/index.ts";
import { isSameSecret, parseJson, truthy } from "../../../core/kit/index.ts";
import { type AdapterParts, toPolicy } from "../account.ts";
import { asList, asObject, asText } from "../api.ts";
import { isWorthReadingBack, readRaw } from "../incoming.ts";
import { Lines } from "../lines.ts";
import { Positions } from "../positions.ts";
import { SlackApi } from "./api.ts";
import type { SlackAccount } from "./config.ts";
import { listen } from "./connection.ts";
import { type SlackMe, toEvent, toPress } from "./events.ts";
import { SlackMessages } from "./send.ts";

/** Slack's own advice: a request older than this is a replay. */
const SKEW_S = 300;
/** Reading a chat back costs a call each; the ones last talked in are enough. */
const MOST_READ_BACK = 30;
const MOST_PAGES = 10;

export function create({ account, config, clock, log }: AdapterParts<SlackAccount>): Channel {
  const api = new SlackApi(config.apiUrl, config.botToken);
  const messages = new SlackMessages(api);
  const policy = toPolicy(config);
  let positions: Positions | undefined;
  let me: (SlackMe & { name: string; team: string }) | undefined;

  const self = async (signal: AbortSignal) => {
    if (me) return me;
    const told = await api.call("auth.test", {}, signal, true);
    const [user, bot, name, team] = [told.user_id, told.bot_id, told.user, told.team].map((one) => asText(one) ?? "");
    me = { user: user!, bot: bot!, name: name!, team: team! };
    return me;
  };

  const readPositions = async (door: Door) => {
    positions ??= new Positions(await door.cursor());
    return positions;
  };

  async function hear(door: Door, event: PlatformEvent): Promise<Heard> {
    const seen = await readPositions(door);
    const key = event.chat.thread ? `${event.chat.id}/${event.chat.thread}` : event.chat.id;
    const moves = isWorthReadingBack(event, policy);
    const [heard] = await door.hear([event], moves ? seen.with(key, event.id) : undefined);
    if (moves) seen.moved(key, event.id);
    if (event.kind === "button" && heard?.say) tellPresser(event, heard.say);
    return heard!;
  }

  function tellPresser(event: PlatformEvent, say: string): void {
    const { id, thread } = event.chat;
    messages.whisper(id, event.sender.id, say, thread, AbortSignal.timeout(10_000)).catch((error: unknown) => {
      log.debug("a button press could not be answered", { error: String(error) });
    });
  }

  const readEnvelope = (door: Door, type: string, payload: JsonObject, who: SlackMe) => {
    if (type === "interactive") return readable(door, payload, () => toPress(payload));
    return type === "events_api" ? readable(door, payload.event, () => toEvent(payload.event, who, api)) : undefined;
  };
  const readable = (door: Door, given: unknown, read: () => PlatformEvent | "unreadable" | undefined) => {
    const { type, event_ts, ts, trigger_id } = asObject(given);
    const [kind, id] = [String(type), asText(event_ts) ?? asText(ts) ?? asText(trigger_id)];
    return readRaw(door, { kind, id, value: given }, read);
  };

  /** What was said in a chat, or in a thread of it, since it was left. */
  async function missed(
    door: Door,
    key: string,
    since: string,
    who: SlackMe,
    signal: AbortSignal,
  ): Promise<PlatformEvent[]> {
    const [channel, thread] = key.split("/") as [string, string?];
    const found: { ts: string }[] = [];
    for (let latest: string | undefined, pages = 0; pages < MOST_PAGES; pages++) {
      const span = { channel, oldest: since, limit: 100, ...truthy({ latest }) };
      const asked = thread ? { ...span, ts: thread } : span;
      const page = await api.call(thread ? "conversations.replies" : "conversations.history", asked, signal, true);
      const batch = asList(page.messages).map((one) => ({ ts: "", ...asObject(one), type: "message", channel }));
      found.push(...batch.filter((one) => one.ts > since));
      if (page.has_more !== true || !batch.length) break;
      latest = batch.map((one) => one.ts).sort()[0];
    }
    found.sort((a, b) => (a.ts < b.ts ? -1 : 1));
    return found.flatMap((one) => readable(door, one, () => toEvent(one, who, api)) ?? []);
  }

  async function readBack(door: Door, key: string, since: string, who: SlackMe, signal: AbortSignal): Promise<void> {
    const events = await missed(door, key, since, who, signal).catch((error: unknown) => {
      log.warn("a chat could not be read back", { chat: key, error: String(error) });
      return [];
    });
    for (const event of events) await hear(door, event);
  }

  return {
    name: "slack",
    account,

    async run(door, signal) {
      const who = await self(signal);
      door.known(`@${who.name} in ${who.team}`);
      const seen = await readPositions(door);
      let fail = (_: unknown): void => {};
      const lines = new Lines((error) => fail(error));
      // First in each chat's line: what came meanwhile is taken before what comes now.
      for (const [key, since] of seen.chats().slice(0, MOST_READ_BACK)) {
        lines.push(key.split("/")[0]!, () => readBack(door, key, since, who, signal));
      }
      if (!config.appToken) {
        // Events come by themselves; nothing is held open.
        door.alive();
        return new Promise<void>((resolve, reject) => {
          fail = reject;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      const app = new SlackApi(config.apiUrl, config.appToken);
      const line = listen(
        {
          clock,
          alive: () => door.alive(),
          open: async (on) => String((await app.call("apps.connections.open", {}, on, true)).url),
          take: ({ type, payload }, done) => {
            const event = readEnvelope(door, type, payload, who);
            if (!event) return done();
            lines.push(event.chat.id, async () => {
              await hear(door, event);
              done();
            });
          },
        },
        signal,
      );
      fail = line.fail;
      await line.done;
    },

    knock: ({ method, headers }) => void (method === "POST" && config.signingSecret && look(headers, clock.now())),

    async receive(request: ChannelRequest, door: Door): Promise<ChannelAnswer> {
      const { signingSecret } = config;
      if (!signingSecret) throw new AppError("NOT_FOUND", { message: "This Slack account uses socket mode." });
      if (request.method !== "POST") return { status: 405 };
      verify(signingSecret, request, clock.now());
      const isForm = request.headers["content-type"]?.includes("urlencoded");
      const text = request.body.toString("utf8");
      const payload = parseObject(isForm ? (new URLSearchParams(text).get("payload") ?? "") : text);
      if (payload.type === "url_verification") return { status: 200, body: { challenge: String(payload.challenge) } };
      const who = await self(AbortSignal.timeout(10_000));
      const event = readEnvelope(door, isForm ? "interactive" : "events_api", payload, who);
      if (event) await hear(door, event);
      return { status: 200 };
    },

    async check(signal) {
      // Asked anew: whether it answers now is the question.
      me = undefined;
      const who = await self(signal);
      if (config.appToken)
        await new SlackApi(config.apiUrl, config.appToken).call("apps.connections.open", {}, signal, true);
      return { id: who.user, name: `@${who.name} in ${who.team}` };
    },

    send: (message, signal) => messages.send(message, signal),
    find: (message, signal) => messages.find(message, signal),
    edit: (at, message, signal) => messages.edit(at, message, signal),
    remove: (at, signal) => messages.remove(at, signal),
    react: (at, emoji, signal) => messages.react(at, emoji, signal),
    unreact: (at, emoji, signal) => messages.unreact(at, emoji, signal),
  };
}

/** What the headers alone can prove: there is a signature, and its time is now. */
function look(headers: ChannelRequest["headers"], now: number): { timestamp: string; signature: string } {
  const { "x-slack-request-timestamp": timestamp = "", "x-slack-signature": signature = "" } = headers;
  const isFresh = /^\d+$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= SKEW_S;
  if (!signature || !isFresh) throw unproven();
  return { timestamp, signature };
}

/** Over the raw body; the time in it is signed too, so an old request cannot be sent again (WH-03). */
function verify(secret: string, { headers, body }: ChannelRequest, now: number): void {
  const { timestamp, signature } = look(headers, now);
  const expected = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex");
  if (!isSameSecret(signature, `v0=${expected}`)) throw unproven();
}

function unproven(): AppError {
  return new AppError("UNAUTHORIZED", { message: "The signature is missing, wrong or too old." });
}

function parseObject(text: string): JsonObject {
  try {
    return asObject(parseJson(text)) as JsonObject;
  } catch {
    throw new AppError("BAD_JSON", { message: "The body is not JSON." });
  }
}
