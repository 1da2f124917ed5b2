/**
 * WhatsApp as a linked device, by Baileys. EXPERIMENTAL: the library is unofficial, and Meta may block the number.
 *
 * In: Baileys sends the delivery receipt before it hands a message on (its messages-recv.js). What it hands on is written down at
 * once (spool.ts), but a message between that receipt and the write is lost when the power goes. What came while we were away is
 * delivered when we are back.
 * Out: the message id is made from the key, so a repeated message has the same id; a send whose outcome is unknown still isn't repeated.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import type { WhatsAppWebAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { edit, react, remove, send, typing } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<WhatsAppWebAccount>): Channel {
  const { account, config } = parts;
  const state = makeState(parts);
  return {
    name: "whatsapp-web",
    account,
    run: (door, signal) => listen(state, door, signal),
    async check() {
      await state.loadLibrary();
      const note =
        "EXPERIMENTAL and unofficial: Meta may block the number. The code to link it is in the account's status.";
      return { id: config.number, name: config.number, note };
    },
    send: (message) => send(state, message),
    edit: (at, message) => edit(state, at, message),
    remove: (at) => remove(state, at),
    react: (at, emoji) => react(state, at, emoji),
    unreact: (at) => react(state, at, ""),
    typing: (route) => typing(state, route),
  };
}
