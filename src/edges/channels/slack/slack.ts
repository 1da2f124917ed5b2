/**
 * Slack, by socket mode or by signed requests of the Events API.
 *
 * SLACK-1: an event is acknowledged after it is committed. Slack repeats one that wasn't, three times within minutes, then never.
 *     After a longer stop, each chat that was talked in is read from where it was left.
 * SLACK-2: each message carries its key as metadata, so that one whose answer is lost can be looked for.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import type { SlackAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { knock, receive } from "./receive.ts";
import { edit, find, react, remove, send, unreact } from "./send.ts";
import { askForSocket, makeState } from "./state.ts";

export function create(parts: AdapterParts<SlackAccount>): Channel {
  const state = makeState(parts);
  return {
    name: "slack",
    account: parts.account,
    run: (door, signal) => listen(state, door, signal),
    knock: (head) => knock(state, head),
    receive: (request, door) => receive(state, request, door),
    async check(signal) {
      const { user, name, team } = await state.self.refresh(signal);
      if (parts.config.appToken) await askForSocket(state, parts.config.appToken, signal);
      return { id: user, name: `@${name} in ${team}` };
    },
    send: (message, signal) => send(state, message, signal),
    find: (message, signal) => find(state, message, signal),
    edit: (at, message, signal) => edit(state, at, message, signal),
    remove: (at, signal) => remove(state, at, signal),
    react: (at, emoji, signal) => react(state, at, emoji, signal),
    unreact: (at, emoji, signal) => unreact(state, at, emoji, signal),
  };
}
