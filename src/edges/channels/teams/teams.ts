/**
 * Microsoft Teams, over the Bot Framework's REST interface by our own client.
 *
 * In: activities are posted to us, each with a signed token, and answered 200 after the commit. Microsoft doesn't promise that Teams
 * tries again after any other answer: what is written while Lares is away may be lost.
 * Out: the interface takes no idempotency key; a send whose answer is lost is uncertain. Answers go to the address the conversation
 * came from, which must be on the account's list: a forged one would get the bot's token.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import { untilAborted } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import type { TeamsAccount } from "./config.ts";
import { knock, receive } from "./receive.ts";
import { edit, remove, send, typing } from "./send.ts";
import { makeState, recallService } from "./state.ts";

export function create(parts: AdapterParts<TeamsAccount>): Channel {
  const { account, config } = parts;
  const state = makeState(parts);
  return {
    name: "teams",
    account,
    /** There is nothing to connect to. */
    async run(door, signal) {
      await recallService(state, door);
      door.alive();
      await untilAborted(signal);
    },
    knock,
    receive: (request, door) => receive(state, request, door),
    async check(signal) {
      await state.api.logIn(signal);
      const note = `Messaging endpoint of the bot: https://YOUR-HOST/channels/teams/${account}`;
      return { id: config.appId, name: config.appId, note };
    },
    send: (message, signal) => send(state, message, signal),
    edit: (at, message, signal) => edit(state, at, message, signal),
    remove: (at, signal) => remove(state, at, signal),
    typing: (route, signal) => typing(state, route, signal),
  };
}
