/** Requests that Telegram makes to the webhook. */
import type { Channel, ChannelAnswer, ChannelHost, ChannelRequest } from "../../../core/contracts/index.ts";
import { AppError, type Json } from "../../../core/domain/index.ts";
import { isSameSecret } from "../../../core/kit/index.ts";
import { parseBody } from "../incoming.ts";
import { findAlbum } from "./albums.ts";
import type { TelegramAccount } from "./config.ts";
import { hearAlbum, hearUpdates, toPressAnswer } from "./hear.ts";
import type { TelegramState } from "./state.ts";

/** How long one update may take, files included. */
const PATIENCE_MS = 60_000;

/** The secret is in a header, so a wrong one is refused before the body is read. */
export function knock({ webhook }: TelegramAccount, head: Parameters<NonNullable<Channel["knock"]>>[0]): void {
  if (!webhook) throw new AppError("NOT_FOUND", { message: "This Telegram account has no webhook." });
  if (head.method !== "POST") return;
  if (isSameSecret(head.headers["x-telegram-bot-api-secret-token"] ?? "", webhook.secret)) return;
  throw new AppError("UNAUTHORIZED", { message: "The secret token is missing or wrong." });
}

export async function receive(
  state: TelegramState,
  request: ChannelRequest,
  door: ChannelHost,
): Promise<ChannelAnswer> {
  if (request.method !== "POST") return { status: 405 };
  knock(state.config, request);
  const update = parseBody(request.body);
  const album = findAlbum(update);
  if (album !== undefined) {
    await state.albums.add(door, album, update as Json, (parts) => hearAlbum(state, door, parts));
    return { status: 200, body: {} };
  }
  const [taken] = await hearUpdates(state, door, { updates: [update] }, AbortSignal.timeout(PATIENCE_MS));
  if (taken?.event.kind !== "button") return { status: 200, body: {} };
  return { status: 200, body: { method: "answerCallbackQuery", ...toPressAnswer(taken) } };
}
