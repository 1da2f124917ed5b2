/**
 * Telegram, by our own loop over getUpdates or by its webhook.
 *
 * TELEGRAM-1: an update is gone at Telegram when a higher offset is asked for. We ask only after the batch and its offset are committed,
 *     so a crash at any point leaves the batch either there or here.
 * TELEGRAM-2: Telegram takes no idempotency key. A send whose answer is lost is uncertain, never repeated here.
 */
import type {
  Channel,
  ChannelAnswer,
  ChannelRequest,
  Door,
  Heard,
  Outgoing,
  PlatformEvent,
} from "../../../core/contracts/index.ts";
import { AppError, type Json } from "../../../core/domain/index.ts";
import { isSameSecret, pause } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { asObject } from "../api.ts";
import { parseBody, readRaw } from "../incoming.ts";
import { byChat } from "../lines.ts";
import { AlbumShelf, findAlbum, joinAlbums, SETTLE_MS } from "./albums.ts";
import { TelegramApi, TelegramRefusal } from "./api.ts";
import type { TelegramAccount } from "./config.ts";
import { ALLOWED_UPDATES, readKind, type TelegramMe, toEvent } from "./events.ts";
import { TelegramMessages } from "./send.ts";

/** Telegram holds a poll this long when nothing happens. */
const POLL_S = 50;
const LOOK_MS = 60_000;
/** Most updates of one batch, by Telegram. */
const MOST_UPDATES = 100;

type Update = { update_id: number };

export function create({ account, config, clock, log }: AdapterParts<TelegramAccount>): Channel {
  const api = new TelegramApi(config.apiUrl, config.token);
  const messages = new TelegramMessages(api);
  const albums = new AlbumShelf(clock);
  let me: TelegramMe | undefined;
  const self = async (signal: AbortSignal): Promise<TelegramMe> => {
    me ??= await api.call<TelegramMe>("getMe", {}, signal, { reads: true });
    return me;
  };

  async function poll(door: Door, signal: AbortSignal): Promise<void> {
    const kept = asObject(await door.cursor()).offset;
    let offset = typeof kept === "number" ? kept : 0;
    while (!signal.aborted) {
      const asked = { offset, timeout: POLL_S, allowed_updates: [...ALLOWED_UPDATES] };
      const patienceMs = (POLL_S + 20) * 1000;
      const first = await api.call<Update[]>("getUpdates", asked, signal, { reads: true, patienceMs });
      door.alive(first.length);
      const updates = await wholeAlbums(first, asked, signal);
      const last = updates.at(-1);
      if (!last) continue;
      await hear(door, updates, { offset: last.update_id + 1 }, signal);
      offset = last.update_id + 1;
    }
  }

  /** A batch may end in the middle of an album. Asked again from the same place, Telegram gives the same and what has come since. */
  async function wholeAlbums(
    updates: Update[],
    asked: { offset: number; allowed_updates: string[] },
    signal: AbortSignal,
  ): Promise<Update[]> {
    let known = updates;
    while (known.length && known.length < MOST_UPDATES && findAlbum(known.at(-1)) !== undefined) {
      await pause(clock, SETTLE_MS, signal);
      const again = await api.call<Update[]>("getUpdates", { ...asked, timeout: 0 }, signal, { reads: true });
      if (again.length <= known.length) break;
      known = again;
    }
    return known;
  }

  /** Tells Telegram where we are, and looks now and then whether that still stands and how much waits. */
  async function serve(
    door: Door,
    signal: AbortSignal,
    { url, secret }: { url: string; secret: string },
  ): Promise<void> {
    while (!signal.aborted) {
      const now = await api.call<Webhook>("getWebhookInfo", {}, signal, { reads: true });
      if (now.url !== url) {
        const wanted = { url, secret_token: secret, allowed_updates: [...ALLOWED_UPDATES] };
        await api.call("setWebhook", wanted, signal, { reads: true });
      }
      door.alive(now.pending_update_count ?? 0);
      await albums.resume(door, (parts) => hear(door, parts, undefined, AbortSignal.timeout(60_000)));
      await pause(clock, LOOK_MS, signal);
    }
  }

  /** One batch, its chats side by side, so that a slow file holds up its own chat only; then its position. */
  async function hear(
    door: Door,
    updates: readonly unknown[],
    cursor: { offset: number } | undefined,
    signal: AbortSignal,
  ): Promise<{ event: PlatformEvent; heard: Heard }[]> {
    const who = await self(signal);
    const parts = updates.flatMap((one) => {
      const event = readRaw(door, { kind: readKind(one), id: readId(one), value: one }, () => toEvent(one, who, api));
      return event ? { event, album: findAlbum(one) } : [];
    });
    const lines = byChat(joinAlbums(parts));
    // With one chat the position goes into the transaction of its last message.
    const isOne = lines.length === 1;
    const all = await Promise.all(
      lines.map(async (line) => {
        const heard = await door.hear(line, isOne ? cursor : undefined);
        return line.map((event, i) => ({ event, heard: heard[i]! }));
      }),
    );
    if (!isOne && cursor) await door.hear([], cursor);
    const done = all.flat();
    if (cursor) for (const one of done) if (one.event.kind === "button") tellPresser(one.event, one.heard);
    return done;
  }

  /** Telegram shows a spinner on a button until it hears from us. Too late is no harm. */
  function tellPresser(event: PlatformEvent, heard: Heard): void {
    api.call("answerCallbackQuery", pressAnswer(event, heard), AbortSignal.timeout(10_000)).catch((error: unknown) => {
      log.debug("a button press could not be answered", { error: String(error) });
    });
  }

  /** The secret is a header: nothing of the body is needed to refuse. */
  const knock: Channel["knock"] = ({ method, headers }) => {
    if (!config.webhook) throw new AppError("NOT_FOUND", { message: "This Telegram account has no webhook." });
    if (method !== "POST" || isSameSecret(headers["x-telegram-bot-api-secret-token"] ?? "", config.webhook.secret))
      return;
    throw new AppError("UNAUTHORIZED", { message: "The secret token is missing or wrong." });
  };

  return {
    name: "telegram",
    account,

    async run(door, signal) {
      const who = await self(signal);
      door.known(`@${who.username}`);
      door.alive();
      if (config.webhook) return serve(door, signal, config.webhook);
      for (let cleared = false; ; cleared = true) {
        try {
          return await poll(door, signal);
        } catch (error) {
          if (!(error instanceof TelegramRefusal) || !/conflict/i.test(error.said)) throw error;
          if (cleared || !/webhook is active/.test(error.said)) throw otherPoller();
          // A webhook somebody set stands in the way of asking; what waits there stays there.
          await api.call("deleteWebhook", {}, signal, { reads: true });
        }
      }
    },

    knock,

    async receive(request: ChannelRequest, door: Door): Promise<ChannelAnswer> {
      if (request.method !== "POST") return { status: 405 };
      knock(request);
      const update = parseBody(request.body);
      const album = findAlbum(update);
      if (album !== undefined) {
        const whole = (parts: Json[]) => hear(door, parts, undefined, AbortSignal.timeout(60_000));
        await albums.add(door, album, update as Json, whole);
        return { status: 200, body: {} };
      }
      const [done] = await hear(door, [update], undefined, AbortSignal.timeout(60_000));
      if (done?.event.kind !== "button") return { status: 200, body: {} };
      return { status: 200, body: { method: "answerCallbackQuery", ...pressAnswer(done.event, done.heard) } };
    },

    async check(signal) {
      // Asked anew: whether it answers now is the question.
      me = undefined;
      const who = await self(signal);
      return { id: String(who.id), name: `@${who.username}` };
    },

    send: (message: Outgoing, signal) => messages.send(message, signal),
    edit: (at, message, signal) => messages.edit(at, message, signal),
    remove: (at, signal) => messages.remove(at, signal),
    react: (at, emoji, signal) => messages.react(at, emoji, signal),
    unreact: (at, emoji, signal) => messages.unreact(at, emoji, signal),
    typing: (route, signal) => messages.typing(route, signal),
  };
}

function readId(update: unknown): string {
  return String(asObject(update).update_id ?? "");
}

interface Webhook {
  url: string;
  pending_update_count?: number;
}

function pressAnswer(event: PlatformEvent, heard: Heard): { callback_query_id: string; text?: string } {
  // Telegram shows at most 200 characters.
  return { callback_query_id: event.id.slice(1), ...(heard.say ? { text: heard.say.slice(0, 200) } : {}) };
}

function otherPoller(): AppError {
  return new AppError("CONFLICT", {
    message: "Another program asks Telegram for this bot's messages.",
    hint: "Stop the other one, or make a bot of its own with BotFather.",
    retry: "after-change",
  });
}
