/**
 * A channel outside the process: a program connects to /ws with the role `channel` and passes messages both ways.
 *
 * EXTERNAL-1: an `inbound_message` is acknowledged after it is committed; the same id again is the same message.
 * EXTERNAL-2: an `outbound_message` is sent until it is acknowledged, one after another in each chat; it keeps its id, so that the
 *     program can leave out what it has seen. What isn't acknowledged when a side dies is sent again.
 * EXTERNAL-4: a plugin can be that program. It gets and sends the same frames, by two requests over its own connection (`carry.ts`), so
 *     it needs neither the network nor a token.
 * EXTERNAL-3: one program speaks for an account. A second one takes the first one's place.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import { carry } from "./carry.ts";
import type { ExternalAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { send } from "./send.ts";
import { speak } from "./speak.ts";
import { makeState } from "./state.ts";

const HOW_TO_CONNECT =
  'Connect to /ws and send {"type":"req","id":"1","method":"connect","params":{"role":"channel","channelId":…,"token":…}}';

const PLUGIN_CARRIES = "Its plugin is started with the account and passes the messages on.";

export function create(parts: AdapterParts<ExternalAccount>): Channel {
  const { account, config } = parts;
  const state = makeState(parts);
  return {
    name: "external",
    account,
    run: (door, signal) => (config.plugin === undefined ? listen(state, door, signal) : carry(state, door, signal)),
    speak: (token, peer, door) => speak(state, token, peer, door),
    check: async () => ({
      id: account,
      name: account,
      note: config.plugin === undefined ? HOW_TO_CONNECT : PLUGIN_CARRIES,
    }),
    send: (message, signal) => send(state, message, signal),
  };
}
