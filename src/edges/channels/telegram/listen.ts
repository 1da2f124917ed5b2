/** Listening: Telegram is asked for updates in our own loop, or posts them to our webhook, which is then kept registered. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { AppError, asNumber, asObject } from "../../../core/domain/index.ts";
import { pause } from "../../../core/kit/index.ts";
import { findAlbum, SETTLE_MS } from "./albums.ts";
import { TelegramRefusal } from "./api.ts";
import type { TelegramAccount } from "./config.ts";
import { ALLOWED_UPDATES } from "./events.ts";
import { hearAlbum, hearUpdates } from "./hear.ts";
import type { TelegramState } from "./state.ts";

/** How long Telegram holds a poll open when nothing happens. */
const POLL_S = 50;
/** How much later than that its answer may come. */
const GRACE_S = 20;
/** How often the webhook's registration is checked. */
const LOOK_MS = 60_000;
/** Telegram's limit for one batch. */
const MOST_UPDATES = 100;

export async function listen(state: TelegramState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const { username } = await state.self.get(signal);
  door.known(`@${username}`);
  door.alive();
  const { webhook } = state.config;
  await (webhook ? keepWebhook(state, door, webhook, signal) : pollWithoutWebhook(state, door, signal));
}

/** Telegram answers polls only where no webhook is set. One that is left over is removed, once; updates that wait there stay. */
async function pollWithoutWebhook(state: TelegramState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  for (let isRemoved = false; ; isRemoved = true) {
    try {
      return await poll(state, door, signal);
    } catch (error) {
      if (!(error instanceof TelegramRefusal) || !/conflict/i.test(error.said)) throw error;
      if (isRemoved || !/webhook is active/.test(error.said)) throw otherPoller();
      await state.api.call("deleteWebhook", {}, signal, { reads: true });
    }
  }
}

type Update = { update_id: number };
type Asked = { offset: number; timeout: number; allowed_updates: string[] };

/** The next offset acknowledges the batch before it, so it is asked for only after that batch is committed (TELEGRAM-1). */
async function poll(state: TelegramState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  let offset = asNumber(asObject(await door.cursor()).offset) ?? 0;
  while (!signal.aborted) {
    const asked = { offset, timeout: POLL_S, allowed_updates: [...ALLOWED_UPDATES] };
    const first = await getUpdates(state, asked, signal);
    door.alive(first.length);
    const updates = await completeAlbum(state, first, asked, signal);
    const last = updates.at(-1);
    if (!last) continue;
    offset = last.update_id + 1;
    await hearUpdates(state, door, { updates, cursor: { offset } }, signal);
  }
}

/** A batch may end in the middle of an album. Asked again from the same offset, Telegram gives it again with what has come since. */
async function completeAlbum(
  state: TelegramState,
  first: Update[],
  asked: Asked,
  signal: AbortSignal,
): Promise<Update[]> {
  let known = first;
  while (known.length && known.length < MOST_UPDATES && findAlbum(known.at(-1)) !== undefined) {
    await pause(state.clock, SETTLE_MS, signal);
    const again = await getUpdates(state, { ...asked, timeout: 0 }, signal);
    if (again.length <= known.length) break;
    known = again;
  }
  return known;
}

function getUpdates({ api }: TelegramState, asked: Asked, signal: AbortSignal): Promise<Update[]> {
  const patience = asked.timeout > 0 ? { patienceMs: (asked.timeout + GRACE_S) * 1000 } : {};
  return api.call<Update[]>("getUpdates", asked, signal, { reads: true, ...patience });
}

/** Tells Telegram our address, and checks now and then that it still has it and how many updates wait there. */
async function keepWebhook(
  state: TelegramState,
  door: ChannelHost,
  { url, secret }: NonNullable<TelegramAccount["webhook"]>,
  signal: AbortSignal,
): Promise<void> {
  const { api, albums, clock } = state;
  while (!signal.aborted) {
    const now = await api.call<{ url: string; pending_update_count?: number }>("getWebhookInfo", {}, signal, {
      reads: true,
    });
    if (now.url !== url) {
      const wanted = { url, secret_token: secret, allowed_updates: [...ALLOWED_UPDATES] };
      await api.call("setWebhook", wanted, signal, { reads: true });
    }
    door.alive(now.pending_update_count ?? 0);
    await albums.resume(door, (parts) => hearAlbum(state, door, parts));
    await pause(clock, LOOK_MS, signal);
  }
}

function otherPoller(): AppError {
  return new AppError("CONFLICT", {
    message: "Another program is fetching this bot's messages from Telegram.",
    hint: "Stop that program, or create a separate bot for Lares with BotFather.",
    retry: "after-change",
  });
}
