/**
 * Discord: its gateway for what happens, its REST API for what is said.
 *
 * DISCORD-1: the session and the number up to which everything is durable are committed with the messages. After a crash the session is
 *     resumed from there and Discord replays the rest.
 * DISCORD-2: when Discord has forgotten the session, each chat that was talked in is read from where it was left.
 * DISCORD-3: a nonce makes a send one message for a few minutes; later the chat is looked at before anything is sent again.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import type { DiscordAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { edit, find, react, remove, send, typing, unreact } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<DiscordAccount>): Channel {
  const state = makeState(parts);
  return {
    name: "discord",
    account: parts.account,
    run: (door, signal) => listen(state, door, signal),
    async check(signal) {
      const { id, name } = await state.self.refresh(signal);
      return { id, name: `@${name}` };
    },
    send: (message, signal) => send(state, message, signal),
    find: (message, signal) => find(state, message, signal),
    edit: (at, message, signal) => edit(state, at, message, signal),
    remove: (at, signal) => remove(state, at, signal),
    react: (at, emoji, signal) => react(state, at, emoji, signal),
    unreact: (at, emoji, signal) => unreact(state, at, emoji, signal),
    typing: (route, signal) => typing(state, route, signal),
  };
}
