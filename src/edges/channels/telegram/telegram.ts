/**
 * Telegram, by our own loop over getUpdates or by its webhook.
 *
 * TELEGRAM-1: Telegram drops an update when a higher offset is asked for. We ask only after the batch and its offset are committed,
 *     so after a crash at any point the batch is still at Telegram or already here.
 * TELEGRAM-2: Telegram takes no idempotency key. A send whose answer is lost is uncertain, and never repeated here.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import type { TelegramAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { knock, receive } from "./receive.ts";
import { edit, react, remove, send, typing, unreact } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<TelegramAccount>): Channel {
  const state = makeState(parts);
  return {
    name: "telegram",
    account: parts.account,
    run: (door, signal) => listen(state, door, signal),
    knock: (head) => knock(parts.config, head),
    receive: (request, door) => receive(state, request, door),
    async check(signal) {
      const { id, username } = await state.self.refresh(signal);
      return { id: String(id), name: `@${username}` };
    },
    send: (message, signal) => send(state, message, signal),
    edit: (at, message, signal) => edit(state, at, message, signal),
    remove: (at, signal) => remove(state, at, signal),
    react: (at, emoji, signal) => react(state, at, emoji, signal),
    unreact: (at, _emoji, signal) => unreact(state, at, signal),
    typing: (route, signal) => typing(state, route, signal),
  };
}
