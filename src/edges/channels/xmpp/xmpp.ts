/**
 * XMPP.
 *
 * In: no server waits for us to acknowledge a stanza, so the live ones are only the fast way. The truth is the server's archive
 * (XEP-0313): the cursor holds the last archive id taken, of our own archive and of each room's, and after every start what came
 * since is read from there. A server without an archive keeps direct messages while we are away and nothing else.
 * Out: a message's id is made from its key. A ping behind it says that the server took it; after a crash the archive is asked.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import { check } from "./check.ts";
import type { XmppAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { edit, find, react, send, typing } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<XmppAccount>): Channel {
  const state = makeState(parts);
  return {
    name: "xmpp",
    account: parts.account,
    run: (door, signal) => listen(state, door, signal),
    check: (signal) => check(state, signal),
    send: (message) => send(state, message),
    find: (message) => find(state, message),
    edit: (at, message) => edit(state, at, message),
    react: (at, emoji) => react(state, at, [emoji]),
    unreact: (at) => react(state, at, []),
    typing: (route) => typing(state, route),
  };
}
