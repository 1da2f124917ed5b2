/**
 * WhatsApp by Meta's Cloud API: events come to a webhook, messages go to the Graph API.
 *
 * In: Meta repeats an event until it is answered with 200, and that answer is sent after the commit. Events are signed over the
 * raw body with the app's secret; nothing is parsed before the signature is checked.
 * Out: there is no idempotency key, so a send whose outcome is unknown isn't repeated. Every message carries its key as
 * `biz_opaque_callback_data`, which Meta repeats in the message's status events. They show that an unknown send was taken after all,
 * or that a message that was taken has failed after all.
 * There are no edits, and at most three buttons.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import type { WhatsAppAccount } from "./config.ts";
import { knock, receive } from "./receive.ts";
import { find, react, send, typing } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<WhatsAppAccount>): Channel {
  const { account, config } = parts;
  const state = makeState(parts);
  return {
    name: "whatsapp",
    account,
    knock,
    receive: (request, door) => receive(state, request, door),
    async check(signal) {
      const { number, name } = await state.graph.number(signal);
      return { id: config.phoneNumberId, name: `${name} (${number})`, note: `Events: /channels/whatsapp/${account}` };
    },
    send: (message, signal) => send(state, message, signal),
    find: (message, signal) => find(state, message, signal),
    react: (at, emoji, signal) => react(state, at, emoji, signal),
    unreact: (at, _emoji, signal) => react(state, at, "", signal),
    typing: (route, signal) => typing(state, route, signal),
  };
}
